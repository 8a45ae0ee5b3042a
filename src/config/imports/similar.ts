import { join } from "node:path";
import type { Json } from "../json.ts";
import type { Place } from "../place.ts";
import type { Dialect, DialectFile } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { editor, ours, type Placeholders, verbatim } from "./placeholders.ts";

/** What differs between the tools whose files have `mcpServers` in nearly our format. */
interface Ways {
  readonly files: (place: Place) => { readonly user: readonly string[]; readonly project?: string };
  readonly placeholders: (place: Place) => Placeholders;
  /** The unit of `timeout`; absent where it means something else. */
  readonly timeoutsPerSecond?: 1 | 1000;
}

/** GitHub Copilot CLI: `mcp-config.json` with `type: "local"`, the tools that may be used, and milliseconds. */
export const copilot: Dialect = similar({
  files: ({ copilotHome, cwd }) => ({
    user: [join(copilotHome, "mcp-config.json")],
    project: join(cwd, ".github", "mcp.json"),
  }),
  placeholders: () => ours,
  timeoutsPerSecond: 1000,
});

/** Kiro, the editor and the command line: `settings/mcp.json` with `disabledTools` and milliseconds. */
export const kiro: Dialect = similar({
  files: ({ home, cwd }) => ({
    user: [join(home, ".kiro", "settings", "mcp.json")],
    project: join(cwd, ".kiro", "settings", "mcp.json"),
  }),
  placeholders: () => ours,
  timeoutsPerSecond: 1000,
});

/** Cline, in VS Code and on the command line: `cline_mcp_settings.json`, which expands nothing. */
export const cline: Dialect = similar({
  files: (place) => ({
    user: [
      ...ofExtension("saoudrizwan.claude-dev", "cline_mcp_settings.json", place),
      join(place.home, ".cline", "data", "settings", "cline_mcp_settings.json"),
    ],
  }),
  placeholders: () => verbatim,
  timeoutsPerSecond: 1,
});

/** Roo Code: `mcp_settings.json` and `.roo/mcp.json` with `${env:X}`, `${workspaceFolder}` and `disabledTools`. */
export const roo: Dialect = similar({
  files: (place) => ({
    user: ofExtension("rooveterinaryinc.roo-cline", "mcp_settings.json", place),
    project: join(place.cwd, ".roo", "mcp.json"),
  }),
  placeholders: editor,
  timeoutsPerSecond: 1,
});

/** LM Studio: `mcp.json`, which expands nothing. */
export const lmStudio: Dialect = similar({
  files: ({ home }) => ({ user: [join(home, ".lmstudio", "mcp.json")] }),
  placeholders: () => verbatim,
});

function similar({ files, placeholders, timeoutsPerSecond }: Ways): Dialect {
  return {
    files: (place) => {
      const { user, project } = files(place);
      const at = (path: string, level: DialectFile["level"]): DialectFile => ({ path, level, format: "json" });
      return [...user.map((path) => at(path, "user")), ...(project === undefined ? [] : [at(project, "project")])];
    },
    *servers({ mcpServers }, place) {
      for (const [name, server] of serversIn(mcpServers)) {
        const draft = new Draft(server, placeholders(place))
          .copy("command", "args", "env", "url", "headers", "disabled")
          .set("type", typeOf(server))
          .put("includeTools", included(server.tools))
          .put("excludeTools", server.disabledTools)
          .folder(place.cwd);
        yield (timeoutsPerSecond === undefined ? draft : draft.time(server.timeout, timeoutsPerSecond)).as(name);
      }
    },
  };
}

function ofExtension(id: string, file: string, { appData }: Place): readonly string[] {
  return ["Code", "Code - Insiders"].map((program) =>
    join(appData, program, "User", "globalStorage", id, "settings", file),
  );
}

/** Copilot says "local"; Cline once had the field under another name. */
function typeOf({ transportType, type: said = transportType }: Json): unknown {
  return said === "local" ? "stdio" : said;
}

/** Copilot's list of tools, in which a star stands for all. */
function included(tools: unknown): unknown {
  return Array.isArray(tools) && !tools.includes("*") ? tools : undefined;
}
