import type { ConfigView } from "../config/store.ts";
import type { AgentToolResult } from "../contract.ts";
import type { Target } from "../runtime/settings.ts";
import { json } from "./list-answer.ts";
import type { ToolContext } from "./tool.ts";

const NONE =
  'No server is configured. Write {"mcpServers": {…}} to ~/.config/mcp/mcp.json (yours), or to .mcp.json (this project; it ' +
  "asks before it starts). Or pass configPath or url.";

/** The configured servers, starting none. */
export function configuredServers(view: ConfigView, { runtime }: ToolContext): AgentToolResult {
  const servers = [...view.servers.values()].map(
    ({ name, transport, enabled, configPath, origin, exposure, summary, error }) => ({
      server: name,
      transport,
      enabled,
      ...(summary === undefined ? {} : { runs: runtime.redactor.text(summary) }),
      configPath,
      ...(origin === "explicit" ? {} : { origin }),
      ...(exposure === undefined ? {} : { exposure }),
      ...(error === undefined ? {} : { error: runtime.redactor.text(error.message) }),
    }),
  );
  const problems = view.problems.map(({ configPath, error }) => ({
    configPath,
    error: runtime.redactor.text(error.message),
  }));
  const hint = servers.length === 0 ? { hint: NONE } : {};
  return json({ servers, ...(problems.length === 0 ? {} : { problems }), ...hint });
}

/** The live connections of the caller's own scope, connecting nothing. */
export function connectionStatus(target: Target, { runtime, scope }: ToolContext): AgentToolResult {
  const connections = runtime.registry
    .status(scope)
    .filter(({ name, spec }) => matches(target, name, spec.endpoint.kind === "http" ? spec.endpoint.url : undefined))
    .map(({ name, spec, connection }) => {
      const tools = connection?.listing("tools").known?.items.size;
      return {
        server: name,
        state: connection === undefined ? "connecting" : "connected",
        transport: connection?.session.transport.kind ?? spec.endpoint.kind,
        ...(spec.configPath === undefined ? {} : { configPath: spec.configPath }),
        ...(connection === undefined
          ? {}
          : {
              protocolVersion: connection.protocolVersion,
              serverInfo: connection.serverInfo,
              pending: connection.session.pendingCount,
            }),
        ...(tools === undefined ? {} : { tools }),
      };
    });
  return json(runtime.redactor.data({ connections }));
}

function matches({ server, url }: Target, name: string, endpoint: string | undefined): boolean {
  if (url !== undefined) return endpoint !== undefined && URL.canParse(url) && new URL(url).href === endpoint;
  return server === undefined || server === name;
}
