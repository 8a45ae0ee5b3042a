import { isAbsolute, join } from "node:path";
import { homeFolder } from "../../home-folder.ts";

/** The folder for what the adapter remembers about a user, by the custom of the platform. */
export function dataFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const name = "rpi-mcp";
  const named = env.XDG_DATA_HOME;
  // The XDG rule: a relative path is invalid and ignored.
  if (named && isAbsolute(named)) return join(named, name);
  if (platform === "darwin") return join(homeFolder(), "Library", "Application Support", name);
  if (platform === "win32") return join(env.LOCALAPPDATA || join(homeFolder(), "AppData", "Local"), name);
  return join(homeFolder(), ".local", "share", name);
}
