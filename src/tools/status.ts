import type { ConfigView } from "../config/store.ts";
import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import type { Connection } from "../runtime/connection.ts";
import type { Target } from "../runtime/target.ts";
import type { ServerSpec } from "../server-spec.ts";
import { briefly, type Shortening, shortJson } from "./json-answer.ts";
import { withoutIcons } from "./list-answer.ts";
import type { ToolContext } from "./tool.ts";

const NONE =
  'No server is configured. Write {"mcpServers": {…}} to ~/.config/mcp/mcp.json (yours), or to .mcp.json (this project; ' +
  "its servers need approval). Or pass configPath or url.";

const NOTED_PROBLEMS = 20;
const RUNS_CHARACTERS = 200;

/** The configured servers, starting none. */
export function configuredServers(view: ConfigView, { runtime, scope }: ToolContext): AgentToolResult {
  const servers = [...view.servers.values()].map((entry) => {
    const { name, transport, enabled, configPath, origin, exposure, summary } = entry;
    const flaw = entry.flaw(scope);
    return {
      server: name,
      transport,
      enabled,
      ...(summary === undefined ? {} : { runs: cut(runtime.redactor.text(summary), RUNS_CHARACTERS) }),
      configPath,
      ...(origin === "explicit" ? {} : { origin }),
      ...defined({ exposure, error: flaw && runtime.redactor.text(flaw.message) }),
    };
  });
  const problems = view.problems.map(({ configPath, error }) => ({
    configPath,
    error: runtime.redactor.text(error.message),
  }));
  const hint = servers.length === 0 ? { hint: NONE } : {};
  const noted = problems
    .slice(0, NOTED_PROBLEMS)
    .map(({ configPath, error }) => ({ configPath, error: briefly(error) }));
  return shortJson({ servers, ...(problems.length === 0 ? {} : { problems }), ...hint }, servers, {
    limit: view.maxResultBytes ?? runtime.limits.resultBytes,
    brief: ({ server, enabled, error }) => ({
      server,
      ...(enabled ? {} : { enabled }),
      ...defined({ error: error && briefly(error) }),
    }),
    name: ({ server }) => server,
    make: (shown, left = 0) => ({
      servers: shown,
      ...(left === 0 ? {} : { more: left }),
      hint: 'Shortened. mcp_list with "server": what one offers; with "query": the best matches of all.',
      ...(noted.length === 0 || left > 0 ? {} : { problems: noted }),
    }),
  });
}

/** The live connections of the caller's own scope, connecting nothing. */
export function connectionStatus(target: Target, { runtime, scope }: ToolContext): AgentToolResult {
  const connections = runtime.registry
    .status(scope)
    .filter(({ spec }) => matches(target, spec))
    .map(({ spec, connection }) => ({
      server: spec.name,
      state: connection === undefined ? "connecting" : "connected",
      transport: connection?.session.transport.kind ?? spec.endpoint.kind,
      ...defined({ configPath: spec.configPath }),
      ...(connection === undefined ? {} : factsOf(connection)),
    }));
  const details = runtime.redactor.data({ connections });
  const shown = details.connections.map((one) => {
    return one.serverInfo === undefined ? one : { ...one, serverInfo: withoutIcons(one.serverInfo) };
  });
  const shortening: Shortening<(typeof shown)[number]> = {
    limit: runtime.limits.resultBytes,
    brief: ({ server, state }) => ({ server, state }),
    name: ({ server }) => server,
    make: (briefs, left = 0) => ({
      connections: briefs,
      ...(left === 0 ? {} : { more: left }),
      hint: 'Shortened. With "server": one in full.',
    }),
  };
  return shortJson({ connections: shown }, shown, shortening, details);
}

interface ConnectionFacts extends Pick<Connection, "protocolVersion" | "serverInfo"> {
  /** Requests without an answer. */
  readonly pending: number;
  /** As many as the latest discovery found. */
  readonly tools?: number;
}

function factsOf(connection: Connection): ConnectionFacts {
  const { protocolVersion, serverInfo, session } = connection;
  const tools = connection.listing("tools").known?.items.size;
  return { protocolVersion, serverInfo, pending: session.pendingCount, ...defined({ tools }) };
}

function matches({ server, url }: Target, { name, endpoint }: ServerSpec): boolean {
  if (url !== undefined) return endpoint.kind === "http" && URL.canParse(url) && new URL(url).href === endpoint.url;
  return server === undefined || server === name;
}
