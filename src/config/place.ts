import { isAbsolute, join } from "node:path";
import { homeFolder } from "../home-folder.ts";

/** The folders that decide where config files lie; taken anew from the environment at each load. */
export interface Place {
  readonly platform: NodeJS.Platform;
  /** The host's working directory, absolute. */
  readonly cwd: string;
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, else `~/.config`. */
  readonly configHome: string;
  /** `%LOCALAPPDATA%` on Windows, else `$XDG_DATA_HOME`, else `~/.local/share`. */
  readonly dataHome: string;
  /** Where graphical programs keep their settings. */
  readonly appData: string;
  /** `$CODEX_HOME`, else `~/.codex`. */
  readonly codexHome: string;
  /** `$COPILOT_HOME`, else `~/.copilot`. */
  readonly copilotHome: string;
  /** The folder of Claude Code's `.claude.json`: `$CLAUDE_CONFIG_DIR`, else the home folder. */
  readonly claudeHome: string;
  /** Pi's own folder: `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
  readonly piHome: string;
}

export interface PlaceOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** The environment variables that a place depends on. */
const VARIABLES = [
  ...["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "CODEX_HOME"],
  "COPILOT_HOME",
  "CLAUDE_CONFIG_DIR",
  "PI_CODING_AGENT_DIR",
];

/** A cache key for a place, from the variables it depends on; much cheaper than computing the place. */
export function placeKey({ cwd, env, platform }: PlaceOptions): string {
  let key = `${cwd}\0${platform}`;
  for (const name of VARIABLES) key += `\0${env[name] ?? ""}`;
  return key;
}

export function placeOf({ cwd, env, platform }: PlaceOptions): Place {
  const home = homeOf(env, platform);
  const configHome = folder(env.XDG_CONFIG_HOME) ?? join(home, ".config");
  const windows = platform === "win32";
  return {
    platform,
    cwd,
    home,
    configHome,
    dataHome: windows
      ? (folder(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"))
      : (folder(env.XDG_DATA_HOME) ?? join(home, ".local", "share")),
    appData: windows
      ? (folder(env.APPDATA) ?? join(home, "AppData", "Roaming"))
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : configHome,
    codexHome: folder(env.CODEX_HOME) ?? join(home, ".codex"),
    copilotHome: folder(env.COPILOT_HOME) ?? join(home, ".copilot"),
    claudeHome: folder(env.CLAUDE_CONFIG_DIR) ?? home,
    piHome: folder(env.PI_CODING_AGENT_DIR) ?? join(home, ".pi", "agent"),
  };
}

function homeOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return folder(platform === "win32" ? env.USERPROFILE : env.HOME) ?? homeFolder();
}

/** The XDG specification tells to ignore a relative path. */
function folder(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined;
}
