// biome-ignore-all lint/style/noExcessiveLinesPerFile: one table of all situations, so that all words stand in one place.
import type { ErrorCode } from "./contract.ts";
import { cut } from "./cut.ts";
import { LIMITS } from "./limits.ts";
import { listeningAt } from "./listening-at.ts";
import { stderrEnding } from "./stderr-ending.ts";

/** Facts of a stdio server's end, as they were when it was noticed. */
export interface ExitFacts {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** The newest bytes of its stderr. */
  readonly stderr?: string;
  /** Lines on stdout that were no messages: the first few, cut. */
  readonly skippedLines?: readonly string[];
}

/** What is known about each situation. The facts become the error's `details`; nothing else does. */
export interface Facts {
  internal: { reason: string };
  destroyed: Record<never, never>;
  cancelled: { server?: string };
  shutdown: { outcomeUnknown?: boolean };

  "cwd.gone": { reason?: string };
  "params.invalid": { tool: string; path: string; reason: string; hint?: string };

  "host.tool": { tool: string; tools: readonly string[] };

  "cli.usage": { reason: string; hint?: string };
  "cli.file": { path: string; reason: string };
  "cli.signIn": { server: string; reason: string };

  "config.missing": { configPath: string };
  "config.unreadable": { configPath: string; reason: string };
  "config.syntax": { configPath: string; reason: string; line: number; column: number; format?: "TOML" };
  "config.shape": { configPath: string; reason: string };
  "config.ignored": { configPath: string; reason: string };
  "config.entry": { server: string; configPath: string; field: string; reason: string };
  "config.variable": { server: string; configPath: string; field: string; variable: string };
  "config.url": { reason: string };
  "config.writable": { configPath: string; demoted: boolean };
  "server.unknown": { server: string; configured: readonly string[]; problems?: readonly string[] };
  "server.disabled": { server: string; configPath: string };

  "denied.start": {
    server: string;
    configPath?: string;
    reason: "refused" | "untrusted" | "changed";
    enabledBy?: string;
  };
  "denied.call": { server: string; tool: string };

  /** `isThere`: the program was found, and the reason says what is wrong with it. */
  "spawn.failed": { server: string; command: string; reason: string; isThere?: true };
  "spawn.cwd": { server: string; cwd: string };
  "connect.exited": { server: string } & ExitFacts;
  "connect.failed": { server: string; url?: string; reason: string; hint?: string } & ExitFacts;
  "connect.legacy": { server: string };
  "connect.refused": {
    server: string;
    reason: string;
    rpcError: { message: string; data?: unknown };
    /** The one revision that its entry names. */
    pinned?: string;
  };
  "version.unsupported": { server: string; offered: string; answered: string | null; supported: readonly string[] };
  "capability.missing": { server: string; capability: string; method: string; advertised: readonly string[] };
  "method.missing": { server: string; method: string; protocolVersion: string };
  "method.refused": { method: string; reason: string };

  "tool.unknown": { server: string; kind: keyof typeof NOUNS; tool: string; near: readonly string[]; count: number };
  "tool.hidden": { server: string; tool: string };
  /** `signIn`: what a person can run, where the result asks for a sign-in. */
  "tool.failed": { server: string; tool: string; text: string; takes?: string; signIn?: string; mcpResult: unknown };
  "tool.task": { server: string; tool: string; capability: string };
  "tool.badHeader": { server: string; tool: string; reason: string };

  "rpc.error": {
    server: string;
    method: string;
    rpcError: { code: number; message: string; data?: unknown };
    /** Of the HTTP refusal that carried it. */
    status?: number;
    /** The parameters of the tool whose arguments it refuses. */
    takes?: string;
  };

  closed: { server: string; method?: string; reason: string; outcomeUnknown: boolean } & ExitFacts;
  "closed.stopped": { server: string; method?: string; outcomeUnknown: boolean };

  "protocol.noAnswer": { server: string; method: string; outcomeUnknown: boolean; body?: string };
  "protocol.unreadable": {
    server: string;
    method: string;
    reason: string;
    contentType?: string;
    body?: string;
    outcomeUnknown: boolean;
  };
  "protocol.result": { server: string; method: string; reason: string; outcomeUnknown?: boolean };
  "protocol.cursor": { server: string; method: string; cursor: string };

  "limit.message": { server: string; method?: string; limitBytes: number; outcomeUnknown: boolean };
  "limit.outgoing": { server: string; method: string; bytes: number; limitBytes: number };
  "limit.stream": { server: string; method?: string; limitBytes: number; outcomeUnknown: boolean };
  "limit.pages": { server: string; method: string; limit: number };
  "limit.items": { server: string; method: string; limit: number };
  "limit.list": { server: string; method: string; limitBytes: number };
  "limit.connections": { limit: number; open: readonly string[] };
  "limit.rounds": { server: string; method: string; limit: number };

  timeout: {
    server: string;
    method: string;
    phase: "connect" | "discovery" | "call";
    seconds: number;
    outcomeUnknown: boolean;
  } & ExitFacts;

  "header.entry": { server: string; header: string; reason: string };
  "header.message": { server: string; header: string; reason: string };
  "http.status": {
    server: string;
    method: string;
    status: number;
    statusText?: string;
    body?: string;
    retryAfter?: string;
    outcomeUnknown: boolean;
    hint?: string;
  };
  "http.redirect": { server: string; method: string; status: number; location: string };
  "session.expired": { server: string; method: string; status: number };
  "auth.required": {
    server: string;
    method?: string;
    status: number;
    wwwAuthenticate: string;
    body?: string;
    hint: string;
    outcomeUnknown?: boolean;
  };
  "auth.failed": {
    server: string;
    status?: number;
    wwwAuthenticate?: string;
    body?: string;
    reason: string;
    hint?: string;
    /** The OAuth error code of the authorization server, if it gave one. */
    oauthError?: string;
    /** A person was asked to sign in. */
    asked?: true;
    outcomeUnknown?: boolean;
  };
  "auth.unasked": { server: string; reason: string; outcomeUnknown?: boolean };
  "auth.store": { path: string; reason: string; outcomeUnknown?: boolean };
}

export type Situation = keyof Facts;

/** One of each list. */
const NOUNS = {
  tools: "tool",
  resources: "resource",
  resource_templates: "resource template",
  prompts: "prompt",
} as const;
/** Of a name. */
const QUOTED_CHARACTERS = 200;
const A_PATH = "write the path of that folder";
/** What editors and extensions of other programs fill in, and what to write here. */
const FILLED_IN_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["workspaceFolder", "a server without cwd starts in that folder: write a path relative to it"],
  ["workspaceFolderBasename", "write that name"],
  ["workspaceRoot", "a server without cwd starts in that folder: write a path relative to it"],
  ["userHome", `write \${HOME}`],
  ["extensionPath", A_PATH],
  ["__dirname", A_PATH],
  ["CLAUDE_PLUGIN_ROOT", A_PATH],
]);
/** Of a list without an end. */
const SHOWN_NAMES = 64;
/** Such a challenge says all there is to say. */
const OAUTH = /\bresource_metadata=/i;
/** A target that was named by its url is called by it in answers; models then name it as a server. */
const ADDRESS = /^https?:/i;
const SHOWN_PROBLEMS = 8;
const PROBLEM_CHARACTERS = 400;
/** Of an error's data: it may be a whole stack trace. */
const DATA_CHARACTERS = 400;

/** The words in the sentences that are for a model; whoever tells a person has other words for them, or none. */
export const MODEL_WORDS = {
  anotherFile: "or name another with configPath.",
  refused: "cannot be sent through mcp_request: ",
  address: ' An address belongs in "url".',
  find: ' mcp_list with "query" finds what it has.',
  places: " mcp_list says where to configure one.",
  problems: ", which mcp_list names",
  trust: ` If you trust your projects' files, set "trust": "always" in ~/.config/mcp/mcp.json.`,
  longer: ' A larger "timeoutSeconds" gives it longer.',
  handshake:
    "A raw request makes no handshake, which this server may want first: configure the server and give its name instead.",
  close: ' Free one with mcp_list {"action":"close","server":…}.',
} as const;

/** A hint beside a refusal that speaks of the session. */
export const SESSION_OVER = "The session seems to be over: the next call starts a new one.";

/** A hint where no event stream of the first revision's transport is. */
export const NO_EVENT_STREAM = 'Check its url, often /sse; a server at /mcp wants "type": "http" in its entry.';

/** A hint where that transport's own endpoint refuses messages. */
export const REFUSED_AT_ENDPOINT =
  "It speaks the HTTP+SSE transport of the first revision, but refuses what is sent to the endpoint that it names.";

/** What is told of a config entry, and reads otherwise where there is none. */
export const ENTRY_WORDS = {
  command: 'Check "command" in its entry, and PATH.',
  args: '"command" names the program alone: arguments belong in "args".',
} as const;

/** What people write who have a shell in mind. */
function commandHint(command: string): string {
  if (/\$[A-Za-z_]|%\w+%/.test(command)) return ` A variable is written \${VAR}.`;
  if (/^["']/.test(command)) return " No shell is involved: leave the quotes out.";
  if (command !== command.trim()) return " It begins or ends with a space.";
  return /\s/.test(command) ? ` ${ENTRY_WORDS.args}` : "";
}

/** How other tools write a server and its tool in one. */
const JOINED = /^([\w-]+)[./:](.+)$/;

function apart(named: string, configured: readonly string[]): string {
  const [joined, server = "", tool = ""] = JOINED.exec(named) ?? [];
  return joined && configured.includes(server)
    ? ` Give server and tool separately: ${quote(server)}, ${quote(tool)}.`
    : "";
}

interface Row<F> {
  readonly code: ErrorCode;
  readonly say: (facts: F) => string;
}

/** The only words a user reads about a failure: what failed, where, and what to do next. */
export const SENTENCES: { readonly [S in Situation]: Row<Facts[S]> } = {
  internal: {
    code: "internal",
    say: ({ reason }) => `The adapter met an unexpected condition: ${sentence(reason)} Please report it.`,
  },
  destroyed: { code: "destroyed", say: () => "This step was destroyed by the host; its result is gone." },
  cancelled: {
    code: "cancelled",
    say: ({ server }) => `Cancelled${server ? ` (server ${quote(server)})` : ""}. Nothing is sent again.`,
  },
  shutdown: {
    code: "closed",
    say: ({ outcomeUnknown }) =>
      `The session is shutting down; no server is contacted any more.${unknown(outcomeUnknown)}`,
  },

  "cwd.gone": {
    code: "invalid_params",
    say: ({ reason }) =>
      `The working directory of this process ${reason === undefined ? "was removed" : `cannot be read (${reason})`}. Change to another folder, or name one: --cwd for rpi-mcp, "cwd" in a host's context.`,
  },
  "params.invalid": {
    code: "invalid_params",
    say: ({ tool, path, reason, hint }) =>
      `${tool}: ${path === "" ? "parameters" : path} ${sentence(reason)}${hint ? ` ${hint}` : ""}`,
  },

  "host.tool": {
    code: "invalid_params",
    say: ({ tool, tools }) =>
      `No tool ${quote(tool)} is registered. ${tools.length ? `Registered: ${tools.join(", ")}.` : "Load the plugin first."}`,
  },

  "cli.usage": { code: "invalid_params", say: ({ reason, hint }) => `${sentence(reason)}${hint ? ` ${hint}` : ""}` },
  "cli.file": { code: "internal", say: ({ path, reason }) => `Cannot write ${path}: ${sentence(reason)}` },
  "cli.signIn": {
    code: "invalid_params",
    say: ({ server, reason }) => `Server ${quote(server)} has no sign-in: ${sentence(reason)}`,
  },

  "config.missing": {
    code: "config_error",
    say: ({ configPath }) =>
      `There is no config file ${configPath}. Create it with {"mcpServers": {…}}, ${MODEL_WORDS.anotherFile}`,
  },
  "config.unreadable": {
    code: "config_error",
    say: ({ configPath, reason }) => `Cannot read the config file ${configPath}: ${sentence(reason)}`,
  },
  "config.syntax": {
    code: "config_error",
    say: ({ configPath, reason, line, column, format }) =>
      `${configPath}:${line}:${column} is not valid ${format ?? "JSON"}: ${sentence(reason)}`,
  },
  "config.shape": { code: "config_error", say: ({ configPath, reason }) => `${configPath}: ${sentence(reason)}` },
  "config.ignored": {
    code: "config_error",
    say: ({ configPath, reason }) => `${configPath}: ${reason}; it is ignored.`,
  },
  "config.entry": {
    code: "config_error",
    say: ({ server, configPath, field, reason }) =>
      `Server ${quote(server)} in ${configPath}: ${field === "" ? "the entry" : cut(field, QUOTED_CHARACTERS)} ${sentence(reason)}`,
  },
  "config.variable": {
    code: "config_error",
    say: ({ server, configPath, field, variable }) => {
      const [where, name] = [cut(field, QUOTED_CHARACTERS), cut(variable, QUOTED_CHARACTERS)];
      const advice = FILLED_IN_ELSEWHERE.get(variable);
      return `Server ${quote(server)} in ${configPath}: ${where} uses \${${name}}, which is not set${advice === undefined ? `. Set it in the environment or write \${${name}:-default}.` : `: only another program fills it in; ${advice}.`}`;
    },
  },
  "config.url": { code: "invalid_params", say: ({ reason }) => `url ${sentence(reason)}` },
  "config.writable": {
    code: "config_error",
    say: ({ configPath, demoted }) =>
      `Every user of this machine can change ${configPath}${demoted ? ", so its servers are not trusted as yours and need approval" : ""}. Run: chmod o-w ${quote(configPath)}`,
  },
  "server.unknown": {
    code: "server_not_found",
    say: ({ server, configured, problems }) =>
      `No server ${quote(server)} is configured${configured.length ? `. Configured: ${some(configured)}.` : `, nor is any other.${MODEL_WORDS.places}`}${ADDRESS.test(server) ? MODEL_WORDS.address : apart(server, configured)}${problems?.length ? ` Problems: ${first(problems)}` : ""}`,
  },
  "server.disabled": {
    code: "server_disabled",
    say: ({ server, configPath }) =>
      `Server ${quote(server)} is disabled. Set "enabled": true in ${configPath} to use it.`,
  },

  "denied.start": {
    code: "denied",
    say: ({ server, configPath, reason, enabledBy }) => {
      if (reason === "refused") return `Server ${quote(server)} was not approved. Nothing was started.`;
      const from = configPath ? ` (${configPath})` : "";
      if (reason === "changed")
        return `The entry of server ${quote(server)}${from} was changed while its start was being approved. Nothing was started; call again to have it approved as it is now.`;
      return `Server ${quote(server)} ${enabledBy ? `is disabled in your own files; a project's own file (${enabledBy}) enables it,` : `comes from a project's own file${from}`} and nobody approved it, so it was not started.${MODEL_WORDS.trust}`;
    },
  },
  "denied.call": {
    code: "denied",
    say: ({ server, tool }) =>
      `The call of ${quote(tool)} on server ${quote(server)} was not approved. Nothing was sent.`,
  },

  "spawn.failed": {
    code: "spawn_failed",
    say: ({ server, command, reason, isThere }) =>
      `Server ${quote(server)} could not be started: ${command}: ${sentence(reason)}${isThere ? "" : ` ${ENTRY_WORDS.command}${commandHint(command)}`}`,
  },
  "spawn.cwd": {
    code: "spawn_failed",
    say: ({ server, cwd }) =>
      `Server ${quote(server)} could not be started: its working directory ${cwd} does not exist or is not a folder.`,
  },
  "connect.exited": {
    code: "connect_failed",
    say: (facts) =>
      `Server ${quote(facts.server)} ended before it was ready (${exit(facts)}).${facts.stderr ? "" : " Run its command by hand to see why."}${tail(facts)}`,
  },
  "connect.failed": {
    code: "connect_failed",
    say: (facts) =>
      `Cannot connect to server ${quote(facts.server)}${facts.url && facts.url !== facts.server ? ` at ${facts.url}` : ""}: ${sentence(facts.reason)}${facts.hint ? ` ${facts.hint}` : ""}${tail(facts)}`,
  },
  "connect.legacy": {
    code: "connect_failed",
    say: ({ server }) =>
      `Server ${quote(server)} speaks only the HTTP+SSE transport of the first revision. Set "type": "sse" in its entry.`,
  },
  "connect.refused": {
    code: "connect_failed",
    say: ({ server, reason, rpcError, pinned }) =>
      `Server ${quote(server)} refused the handshake: ${sentence(`${reason}${inData(rpcError)}`)}${pinned === undefined ? "" : ` ${unpin(pinned, " if that is why,")}`}`,
  },
  "version.unsupported": {
    code: "unsupported_protocol",
    say: ({ server, offered, answered, supported }) =>
      `Server ${quote(server)} ${answered === null ? "answered without a protocol version" : answered === "" ? "refuses the protocol version and names none that it speaks" : `speaks protocol ${quote(answered)}`}; it was offered ${offered}. ${supported.length === 1 ? unpin(offered) : `Supported: ${supported.join(", ")}.`}`,
  },
  "capability.missing": {
    code: "capability_missing",
    say: ({ server, capability, method, advertised }) =>
      `Server ${quote(server)} does not offer ${capability} (${method}). It offers: ${advertised.length ? advertised.join(", ") : "nothing"}.`,
  },
  "method.missing": {
    code: "capability_missing",
    say: ({ server, method, protocolVersion }) =>
      `Protocol ${protocolVersion}, which server ${quote(server)} speaks, has no method ${quote(method)}.`,
  },
  "method.refused": {
    code: "invalid_params",
    say: ({ method, reason }) => `${quote(method)} ${MODEL_WORDS.refused}${sentence(reason)}`,
  },

  "tool.unknown": {
    code: "tool_not_found",
    say: ({ server, kind, tool, near, count }) =>
      `Server ${quote(server)} has no ${NOUNS[kind]} ${quote(tool)} (it has ${count}).${near.length ? ` Similar: ${near.map(quote).join(", ")}.` : ""}${MODEL_WORDS.find}`,
  },
  "tool.hidden": {
    code: "tool_not_found",
    say: ({ server, tool }) =>
      `Tool ${quote(tool)} of server ${quote(server)} is hidden by includeTools or excludeTools in the server's entry.`,
  },
  "tool.failed": {
    code: "tool_error",
    say: ({ text }) => (text.trim() === "" ? "The tool reported an error without any text." : text),
  },
  "tool.task": {
    code: "capability_missing",
    say: ({ server, tool }) =>
      `Tool ${quote(tool)} of server ${quote(server)} runs only as a task, which this adapter does not support. Nothing was sent; use another of its tools.`,
  },
  "tool.badHeader": {
    code: "tool_not_found",
    say: ({ server, tool, reason }) =>
      `Tool ${quote(tool)} of server ${quote(server)} cannot be called: ${sentence(reason)}`,
  },

  "rpc.error": {
    code: "rpc_error",
    say: ({ server, method, rpcError, takes }) =>
      `Server ${quote(server)} answered ${method} with error ${rpcError.code}: ${withoutCode(rpcError)}${inData(rpcError)}${takes === undefined ? "" : ` [It takes: ${takes}]`}`,
  },

  closed: {
    code: "closed",
    say: (facts) =>
      `Server ${quote(facts.server)} went away${during(facts.method)}: ${facts.reason}${hasExit(facts) ? ` (${exit(facts)})` : ""}.${unknown(facts.outcomeUnknown)}${tail(facts)}`,
  },
  "closed.stopped": {
    code: "closed",
    say: ({ server, method, outcomeUnknown }) =>
      `The connection to server ${quote(server)} was closed${during(method)}.${unknown(outcomeUnknown)} The next call reconnects.`,
  },

  "protocol.noAnswer": {
    code: "protocol_error",
    say: ({ server, method, outcomeUnknown, body }) =>
      `Server ${quote(server)} did not answer ${method}: its response ended without an answer.${outcomeUnknown || body ? unknown(outcomeUnknown) : CHECK_URL}${body ? ` It says: ${body}` : ""}`,
  },
  "protocol.unreadable": {
    code: "protocol_error",
    say: ({ server, method, reason, contentType, body, outcomeUnknown }) =>
      `Server ${quote(server)} answered ${method} with something that is not MCP: ${reason}${contentType === undefined ? "" : ` (content type ${quote(contentType)})`}.${outcomeUnknown ? unknown(true) : CHECK_URL}${body ? ` It begins: ${body}` : ""}`,
  },
  "protocol.result": {
    code: "protocol_error",
    say: ({ server, method, reason, outcomeUnknown }) =>
      `Server ${quote(server)} answered ${method} with an unusable result: ${sentence(reason)}${unknown(outcomeUnknown)}`,
  },
  "protocol.cursor": {
    code: "protocol_error",
    say: ({ server, method, cursor }) =>
      `Server ${quote(server)} gave the cursor ${quote(cursor)} twice in ${method}, so its list would never end.`,
  },

  "limit.message": {
    code: "limit_exceeded",
    say: ({ server, method, limitBytes, outcomeUnknown }) =>
      `Server ${quote(server)} sent a message over the limit of ${mebibytes(limitBytes)}${during(method)}.${unknown(outcomeUnknown)} Ask for less at a time.`,
  },
  "limit.outgoing": {
    code: "limit_exceeded",
    say: ({ server, method, bytes, limitBytes }) =>
      `The ${method} for server ${quote(server)} has ${bytes} bytes; the limit is ${mebibytes(limitBytes)}. Nothing was sent.`,
  },
  "limit.stream": {
    code: "limit_exceeded",
    say: ({ server, method, limitBytes, outcomeUnknown }) =>
      `Server ${quote(server)} sent more than ${mebibytes(limitBytes)} on one stream${during(method)}.${unknown(outcomeUnknown)}`,
  },
  "limit.pages": {
    code: "limit_exceeded",
    say: ({ server, method, limit }) =>
      `Server ${quote(server)} has more than ${limit} pages in ${method}; no more were read.`,
  },
  "limit.items": {
    code: "limit_exceeded",
    say: ({ server, method, limit }) =>
      `Server ${quote(server)} lists more than ${limit} items in ${method}; no more were read.`,
  },
  "limit.list": {
    code: "limit_exceeded",
    say: ({ server, method, limitBytes }) =>
      `Server ${quote(server)} sent more than ${mebibytes(limitBytes)} in ${method}; no more was read.`,
  },
  "limit.connections": {
    code: "limit_exceeded",
    say: ({ limit, open }) =>
      open.length === 0
        ? `All ${limit} connections are in use, all by other sessions. One is freed when such a session closes a server with mcp_list {"action":"close","server":…}, or its host shuts down.`
        : `All ${limit} connections are in use.${MODEL_WORDS.close} Open: ${open.map(quote).join(", ")}.`,
  },
  "limit.rounds": {
    code: "limit_exceeded",
    say: ({ server, method, limit }) =>
      `Server ${quote(server)} asked for input ${limit} times during ${method} without finishing; it was given up.`,
  },

  timeout: {
    code: "timeout",
    say: (facts) =>
      `Server ${quote(facts.server)} did not finish ${facts.method} within ${facts.seconds} s (${facts.phase}).${facts.phase === "call" || facts.seconds >= LIMITS.maxTimeoutSeconds ? unknown(facts.outcomeUnknown) : MODEL_WORDS.longer}${facts.phase === "connect" ? elsewhere(facts) : ""}${tail(facts)}`,
  },

  "header.entry": {
    code: "config_error",
    say: ({ server, header, reason }) =>
      `Server ${quote(server)}: the header ${quote(header)} of its entry ${sentence(reason)} Nothing was sent.`,
  },
  "header.message": {
    code: "invalid_params",
    say: ({ server, header, reason }) =>
      `A message for server ${quote(server)} needs the header ${quote(header)}, which ${sentence(reason)} Nothing was sent.`,
  },
  "http.status": {
    code: "http_error",
    say: ({ server, method, status, statusText, body, retryAfter, outcomeUnknown, hint }) =>
      `Server ${quote(server)} answered ${method} with HTTP ${status}${statusText ? ` ${statusText}` : ""}.${hint ? ` ${hint}` : status === 404 || status === 405 ? PATH_HINT : ""}${unknown(outcomeUnknown)}${retryAfter ? ` Retry-After: ${retryAfter}.` : ""}${body ? ` It says: ${body}` : ""}`,
  },
  "http.redirect": {
    code: "http_error",
    say: ({ server, method, status, location }) =>
      `Server ${quote(server)} answered ${method} with a redirect (HTTP ${status}) to ${location}. Redirects are not followed: configure that URL if you trust it.`,
  },
  "session.expired": {
    code: "session_expired",
    say: ({ server, method, status }) =>
      `The session with server ${quote(server)} has expired (HTTP ${status} to ${method}). The request was not repeated; the next call starts a new session.`,
  },
  "auth.required": {
    code: "auth_required",
    say: ({ server, method, status, wwwAuthenticate, body, hint, outcomeUnknown }) =>
      `Server ${quote(server)} requires authorization (HTTP ${status}${method ? ` to ${method}` : ""}${wwwAuthenticate ? `; it asks for: ${wwwAuthenticate}` : ""}). ${hint}${unknown(outcomeUnknown)}${body && !OAUTH.test(wwwAuthenticate) ? ` It says: ${body}` : ""}`,
  },
  "auth.failed": {
    code: "auth_required",
    say: ({ server, reason, wwwAuthenticate = "", body, hint, outcomeUnknown }) =>
      `Sign-in to server ${quote(server)} failed: ${sentence(reason)}${hint ? ` ${hint}` : ""}${unknown(outcomeUnknown)}${body && !OAUTH.test(wwwAuthenticate) ? ` The server says: ${body}` : ""}`,
  },
  "auth.unasked": {
    code: "auth_required",
    say: ({ server, reason, outcomeUnknown }) =>
      `Server ${quote(server)} does not ask for a sign-in: ${sentence(reason)} Use it as it is; if it wants a key, set that in "headers" of its entry.${unknown(outcomeUnknown)}`,
  },
  "auth.store": {
    code: "auth_required",
    say: ({ path, reason, outcomeUnknown }) =>
      `The sign-in store ${path} cannot be used: ${sentence(reason)} Repair or remove it, then sign in again.${unknown(outcomeUnknown)}`,
  },
};

/** A name in double quotes with control characters escaped, so that a terminal never interprets it. */
export function quote(name: string): string {
  return JSON.stringify(cut(name, QUOTED_CHARACTERS));
}

/** A server's own words may bring their full stop along. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function unpin(revision: string, condition = ""): string {
  return `Its entry pins "protocol" to ${revision}:${condition} name a revision that the server speaks, or "auto".`;
}

/** The SDKs' servers put the code into the message as well. */
function withoutCode({ code, message }: { readonly code: number; readonly message: string }): string {
  const beginning = `MCP error ${code}: `;
  return message.startsWith(beginning) ? message.slice(beginning.length) : message;
}

/** Servers in Ruby and Java say only there what is wrong; of addresses to visit the message has all. */
function inData({ message, data }: { readonly message: string; readonly data?: unknown }): string {
  const said = typeof data === "string" ? data : (JSON.stringify(data, withoutStack) ?? "");
  if (said.length <= 2 || said === "null" || said.startsWith('{"elicitations"') || message.includes(said)) return "";
  return ` (${cut(said, DATA_CHARACTERS)})`;
}

/** Where the server's own code failed helps nobody who calls it. */
function withoutStack(key: string, value: unknown): unknown {
  return key === "stack" ? undefined : value;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map(quote).join(", ");
  return names.length > SHOWN_NAMES ? `${shown} and ${names.length - SHOWN_NAMES} more` : shown;
}

function first(problems: readonly string[]): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((problem) => cut(problem, PROBLEM_CHARACTERS));
  const more = problems.length - shown.length;
  return shown.join(" ") + (more === 0 ? "" : ` And ${more} more${MODEL_WORDS.problems}.`);
}

function during(method: string | undefined): string {
  return method ? ` during ${method}` : "";
}

function unknown(outcomeUnknown: boolean | undefined): string {
  return outcomeUnknown ? " Outcome unknown: it may have run; it was not repeated." : "";
}

function hasExit(facts: ExitFacts): boolean {
  return facts.exitCode !== undefined || facts.signal !== undefined;
}

function exit({ exitCode, signal }: ExitFacts): string {
  if (signal) return `signal ${signal}`;
  return exitCode === undefined || exitCode === null ? "its output ended" : `exit code ${exitCode}`;
}

function elsewhere({ stderr, skippedLines }: ExitFacts): string {
  const address = listeningAt([...(skippedLines ?? []), stderr ?? ""]);
  if (address === undefined) return "";
  return ` Its output names ${address}: if it listens there instead, use that as its url, or start it in stdio mode.`;
}

function tail({ stderr, skippedLines }: ExitFacts): string {
  const lines = skippedLines?.length
    ? ` Lines on its stdout that are not MCP: ${skippedLines.map(quote).join(", ")}.`
    : "";
  if (!stderr) return lines;
  const ending = stderrEnding(stderr);
  return `${lines}${ending === "" ? " Its stderr ends with nothing but a stack trace." : ` Its stderr ends:\n${ending}`}`;
}

const PATH_HINT = " Check the path of its url; it is often /mcp.";

/** Where nothing was done yet, something else than the MCP server answers as a rule. */
const CHECK_URL = " Check its url.";

function mebibytes(bytes: number): string {
  return bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes} bytes`;
}
