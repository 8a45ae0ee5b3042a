import { clock } from "../clock.ts";
import { type ConfigProblem, mayHideServers } from "../config/candidate.ts";
import type { AgentToolResult, ErrorCode } from "../contract.ts";
import { defined } from "../defined.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Target } from "../runtime/target.ts";
import { failureOf } from "./failure.ts";
import { inTurns } from "./in-turns.ts";
import { loadConfig } from "./servers.ts";
import type { Session } from "./session.ts";

/** One server, as it was found. */
export interface Surveyed {
  readonly server: string;
  readonly transport: string;
  /** The file it comes from; absent for a `--url`. */
  readonly configPath?: string;
  readonly origin?: string;
  readonly enabled: boolean;
  readonly state: "ok" | "failed" | "disabled";
  readonly serverInfo?: unknown;
  readonly protocolVersion?: string;
  /** Absent where the server offers no tools. */
  readonly tools?: number;
  /** From the start to the list of tools. */
  readonly milliseconds?: number;
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

export interface Survey {
  readonly servers: readonly Surveyed[];
  /** Files that cannot be used as a whole, and warnings. */
  readonly problems: readonly SurveyedProblem[];
}

export interface SurveyedProblem {
  readonly configPath: string;
  /** Whether it may hide servers. */
  readonly serious: boolean;
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** Servers that are started at the same time; fewer than there may be connections. */
const AT_ONCE = 32;

/** Starts every enabled server, many at the same time, and lists its tools; one that fails spoils nothing. */
export async function survey(session: Session, update: (text: string) => void): Promise<Survey> {
  const found = await session.call({ tool: "mcp_list", params: { ...session.target() } });
  const named = found.details?.["protocolVersion"];
  if (named !== undefined) return { servers: [ofUrl(found)], problems: [] };
  const { configPath } = session;
  const { problems } = await loadConfig({ cwd: session.cwd, configPath });
  const entries = Array.isArray(found.details?.["servers"]) ? found.details["servers"].filter(isObject) : [];
  let left = entries.length;
  const servers = await inTurns(entries, AT_ONCE, async (entry) => {
    const surveyed = await examine(entry, session);
    left--;
    if (left > 0) update(`${left} of ${entries.length} left`);
    return surveyed;
  });
  return { servers, problems: problems.map(problemOf) };
}

async function examine(entry: Readonly<Record<string, unknown>>, session: Session): Promise<Surveyed> {
  const { server, transport, configPath, origin, enabled, error } = entry as {
    server: string;
    transport: string;
    configPath: string;
    origin?: string;
    enabled: boolean;
    error?: string;
  };
  const known = { server, transport, configPath, ...defined({ origin }), enabled };
  if (!enabled && error === undefined) return { ...known, state: "disabled" };
  const target = session.target(server);
  const started = clock.now();
  const took = (): number => Math.round(clock.now() - started);
  try {
    const { details } = await session.call({ tool: "mcp_list", params: { ...target } });
    return { ...known, ...identity(details), tools: countOf(details), milliseconds: took(), state: "ok" };
  } catch (thrown) {
    if (session.isEnding) throw thrown;
    const milliseconds = took();
    const failure = failureOf(thrown);
    // It runs and speaks, but has something else to offer.
    if (failure.code === "capability_missing")
      return { ...known, ...(await status(target, session)), milliseconds, state: "ok" };
    const { code, message, details } = failure;
    if (!enabled) return { ...known, state: "disabled", error: { code, message, details } };
    return { ...known, milliseconds, state: "failed", error: { code, message, details } };
  } finally {
    // Many servers must not use up the connections one session may have.
    await session.call({ tool: "mcp_list", params: { ...target, action: "close" } }).catch(() => undefined);
  }
}

async function status(target: Target, session: Session): Promise<Partial<Surveyed>> {
  const { details } = await session.call({ tool: "mcp_list", params: { ...target, action: "status" } });
  const connections = Array.isArray(details?.["connections"]) ? details["connections"].filter(isObject) : [];
  return identity(connections[0]);
}

function identity(details: Readonly<Record<string, unknown>> | undefined): Partial<Surveyed> {
  const { serverInfo, protocolVersion } = details ?? {};
  return {
    ...defined({ serverInfo }),
    ...(typeof protocolVersion === "string" ? { protocolVersion } : {}),
  };
}

function countOf(details: AgentToolResult["details"]): number {
  return Array.isArray(details?.["tools"]) ? details["tools"].length : 0;
}

/** `--url` is a list of its tools already. */
function ofUrl({ details }: AgentToolResult): Surveyed {
  const server = String(details?.["server"]);
  return { server, transport: "http", enabled: true, ...identity(details), tools: countOf(details), state: "ok" };
}

function problemOf(problem: ConfigProblem): SurveyedProblem {
  const { configPath, error } = problem;
  return { configPath, serious: mayHideServers(problem), error: { code: error.code, message: error.message } };
}
