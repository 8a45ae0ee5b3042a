import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import { isSituation, toFailure } from "../errors.ts";
import type { Target } from "../runtime/target.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type Catalog, LIST_KINDS, type ListKind } from "../session/catalog.ts";
import { guardError, guardOptions } from "./guard.ts";
import { silence } from "./invoke.ts";
import { briefly, json, shortJson } from "./json-answer.ts";
import { type ListHead, listAnswer } from "./list-answer.ts";
import { ParamReader } from "./params.ts";
import { rank } from "./search.ts";
import { briefs } from "./signature.ts";
import { configuredServers, connectionStatus } from "./status.ts";
import type { ToolContext } from "./tool.ts";
import { unknownTool, visible } from "./visibility.ts";

const BEST = 8;
/** What the matches of a query may cost, as far as names and required parameters leave room. */
const QUERY_BYTES = 1500;

interface Request {
  readonly kind: ListKind;
  readonly query: string | undefined;
  readonly tool: string | undefined;
  readonly timeoutMs: number | undefined;
}

/** What `mcp_list` does. @throws AdapterError */
export async function mcpList(
  params: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<AgentToolResult> {
  const { runtime, scope } = context;
  const read = new ParamReader("mcp_list", params, runtime.limits);
  const target = read.target();
  const action = read.choice("action", ["close", "status"]);
  const kind = read.choice("kind", LIST_KINDS) ?? "tools";
  const request: Request = { kind, query: read.text("query"), tool: read.name("tool"), timeoutMs: read.timeoutMs() };
  const hasTarget = target.server !== undefined || target.url !== undefined;

  if (action === "status") return connectionStatus(target, context);
  if (action === "close") {
    read.requireTarget(target);
    return close(target, context);
  }
  if (hasTarget) return listOne(target, request, context);
  if (request.tool !== undefined) read.requireTarget(target);
  if (request.query !== undefined) return searchAll({ ...request, query: request.query }, target.configPath, context);
  return configuredServers(await runtime.settings.view(scope, target.configPath), context);
}

async function close(target: Target, { runtime, scope }: ToolContext): Promise<AgentToolResult> {
  const { server: name = "", configPath, url } = target;
  if (url !== undefined) {
    const spec = await runtime.settings.resolve(scope, target);
    await runtime.registry.close(scope, spec);
    return json({ server: spec.name, closed: true });
  }
  // A server whose entry or file is gone or broken meanwhile can still be released; the look at the files may do so itself.
  const named = runtime.registry.status(scope).filter(({ spec }) => spec.name === name);
  const view = await runtime.settings.view(scope, configPath).catch(() => undefined);
  const entry = view?.servers.get(name);
  const files = entry !== undefined ? [entry.configPath] : configPath !== undefined ? view?.files : undefined;
  const open = named.filter(({ spec }) => files?.includes(spec.configPath ?? "") !== false);
  if (open.length === 0 && entry === undefined) await runtime.settings.resolve(scope, target);
  await Promise.all(open.map(({ spec }) => runtime.registry.close(scope, spec)));
  return json({ server: name, closed: true });
}

interface Found {
  readonly spec: ServerSpec;
  readonly head: ListHead;
  readonly catalog: Catalog;
}

async function discover(
  target: Target,
  { kind, timeoutMs }: Pick<Request, "kind" | "timeoutMs">,
  context: ToolContext,
): Promise<Found> {
  const { runtime, scope, cancellation } = context;
  const spec = await runtime.settings.resolve(scope, target);
  const options = { target, timeoutMs: silence(spec, timeoutMs, context), cancellation };
  const waiting = runtime.tellOfSignIn(scope, spec, context);
  try {
    const { connection, catalog } = await runtime.discover(scope, spec, kind, options);
    connection.release();
    const { serverInfo, protocolVersion, instructions } = connection;
    const head = { server: spec.name, serverInfo, protocolVersion, ...defined({ instructions }) };
    return { spec, head, catalog };
  } catch (error) {
    throw await guardError(error, spec, context);
  } finally {
    waiting?.end();
  }
}

async function listOne(target: Target, request: Request, context: ToolContext): Promise<AgentToolResult> {
  const { kind, query, tool } = request;
  const { spec, head, catalog } = await discover(target, request, context);
  const items = visible(spec, catalog);
  if (tool !== undefined) {
    const item = items.get(tool);
    if (item === undefined) throw unknownTool(spec, tool, catalog);
    return listAnswer({ head, items: new Map([[tool, item]]), catalog, spec, context, single: true });
  }
  if (query === undefined) return listAnswer({ head, items, catalog, spec, context, single: false });
  const found = rank(
    query,
    [...items].map(([name, item]) => ({ name, item })),
  );
  const answer = { server: spec.name, [kind]: [], more: Math.max(0, found.length - BEST) };
  const bytes = Math.min(QUERY_BYTES, guardOptions(spec, context).maxBytes) - JSON.stringify(answer).length;
  return json({ ...answer, [kind]: briefs(found.slice(0, BEST), bytes) });
}

/** All enabled servers at once, each started if need be, with one deadline; one that fails is named and spoils nothing. */
async function searchAll(
  request: Request & { query: string },
  configPath: string | undefined,
  context: ToolContext,
): Promise<AgentToolResult> {
  const { runtime, scope } = context;
  const { query } = request;
  const view = await runtime.settings.view(scope, configPath);
  const failed: { server: string; error: string }[] = [];
  const searched = [...view.servers.values()].filter((entry) => entry.enabled || entry.error !== undefined);
  const found = await Promise.all(
    searched.map(async ({ name: server }) => {
      try {
        const { spec, catalog } = await discover({ server, configPath }, request, context);
        return [...visible(spec, catalog)].map(([name, item]) => ({ server, name, item }));
      } catch (error) {
        if (context.cancellation.cancelled) throw error;
        // A server that does not offer this kind of list has no match, which is no failure.
        if (isSituation(error, "capability.missing")) return [];
        failed.push({ server, error: problem(error, context) });
        return [];
      }
    }),
  );
  const ranked = rank(query, found.flat());
  const best = ranked.slice(0, BEST);
  const more = Math.max(0, ranked.length - BEST);
  const around = JSON.stringify({ matches: best.map(({ server }) => ({ server })), more, failed: [] }).length;
  const limit = view.maxResultBytes ?? runtime.limits.resultBytes;
  const shown = briefs(best, Math.min(QUERY_BYTES, limit) - around);
  const matches = best.map(({ server }, at) => ({ server, ...shown[at] }));
  return shortJson({ matches, more, failed }, failed, {
    limit,
    brief: ({ server, error }) => ({ server, error: briefly(error) }),
    name: ({ server }) => server,
    make: (servers, left = 0) => ({ matches, more, failed: servers, ...(left === 0 ? {} : { moreFailed: left }) }),
  });
}

const PROBLEM_CHARACTERS = 300;

function problem(error: unknown, { runtime }: ToolContext): string {
  const { code, message } = toFailure(error);
  // Cut before it is masked, a secret would show its beginning.
  const text = runtime.redactor.text(`${code}: ${message}`);
  return cut(text, PROBLEM_CHARACTERS);
}
