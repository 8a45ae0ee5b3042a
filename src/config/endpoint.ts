import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { OAuthSettings } from "../server-spec.ts";
import { readUrl } from "../web-address.ts";
import type { Json } from "./json.ts";
import type { Refuse } from "./refuse.ts";
import { maskedArguments } from "./written-secrets.ts";

/** How to reach a server, checked; variables are still as written. */
export type CheckedEndpoint = CheckedProgram | CheckedRemote;

export interface CheckedProgram {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyArray<readonly [name: string, value: string]>;
  readonly inheritEnv: true | readonly string[];
  readonly cwd?: string;
}

export interface CheckedRemote {
  readonly kind: "http";
  readonly transport: RemoteTransport;
  readonly url: string;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly oauth?: OAuthSettings | false;
}

/** `auto` where the entry names no transport. */
type RemoteTransport = "auto" | "http" | "sse";
type Kind = "stdio" | RemoteTransport;

const TRANSPORTS: ReadonlyMap<string, Exclude<Kind, "auto">> = new Map([
  ["stdio", "stdio"],
  ["http", "http"],
  ["streamable-http", "http"],
  ["streamablehttp", "http"],
  ["streamable_http", "http"],
  ["sse", "sse"],
]);
/** The words of Copilot, OpenCode and AnythingLLM. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["local", "stdio"],
  ["remote", "http"],
  ["streamable", "http"],
]);
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["serverUrl", "url"],
  ["httpUrl", "url"],
  ["uri", "url"],
  ["endpoint", "url"],
  ["baseUrl", "url"],
  ["cmd", "command"],
]);
const TELLING_KEYS = ["command", "url", "type", "transport", ...SPELLINGS.keys()];
const SHOWN_CHARACTERS = 60;
/** Fields of other tools that name a program whose output would be used. */
const PROGRAM = /^(request_?)?(headers?|env|auth|api_?key|(bearer_?)?token|credentials?)_?(helper|command)$/i;

/** Whether the entry says, or tries to say, how a server is reached. */
export function namesEndpoint(raw: Json): boolean {
  return TELLING_KEYS.some((key) => Object.hasOwn(raw, key));
}

/** Whether it has nothing but servers by name. */
export function holdsServers(raw: Json): boolean {
  const fields = Object.values(raw);
  return fields.length > 0 && fields.every((field) => isObject(field) && namesEndpoint(field));
}

/** The transport an entry asks for, from its own word or from `command` and `url`. @throws AdapterError `config.entry` */
export function kindOf(raw: Json, refuse: Refuse): Kind {
  const { command, url } = raw;
  if (command !== undefined && url !== undefined) throw refuse("", "has both command and url; keep one of them");
  for (const field of ["command", "url"]) {
    const value = raw[field];
    if (typeof value === "string" && value.trim() === "") throw refuse(field, "is empty");
  }
  if (command === undefined && url === undefined) {
    for (const [wrong, right] of SPELLINGS) {
      if (Object.hasOwn(raw, wrong)) throw refuse(wrong, `is not read; write "${right}"`);
    }
    if (holdsServers(raw)) throw refuse("", "holds servers; write them one level up");
    throw refuse("", "needs command (a program) or url (a remote server)");
  }
  const kind = namedTransport(raw, refuse);
  if (kind === undefined) return command === undefined ? "auto" : "stdio";
  const field = raw.type === undefined ? "transport" : "type";
  if (kind === "stdio" && command === undefined)
    throw refuse(field, 'is "stdio", but the entry has a url; remove one of them');
  if (kind !== "stdio" && url === undefined)
    throw refuse(field, `is "${kind}", but the entry has a command; remove ${field}, or write url instead of command`);
  return kind;
}

function namedTransport(raw: Json, refuse: Refuse): Exclude<Kind, "auto"> | undefined {
  const read = (field: "type" | "transport"): Exclude<Kind, "auto"> | undefined => {
    const value = raw[field];
    if (value === undefined) return undefined;
    const known = typeof value === "string" ? TRANSPORTS.get(value.toLowerCase()) : undefined;
    if (known === undefined) {
      const meant = typeof value === "string" ? ELSEWHERE.get(value.toLowerCase()) : undefined;
      throw refuse(field, `is ${shown(value)}; write ${meant === undefined ? "stdio, http or sse" : `"${meant}"`}`);
    }
    return known;
  };
  const [type, transport] = [read("type"), read("transport")];
  if (type !== undefined && transport !== undefined && type !== transport) {
    throw refuse("transport", "contradicts type; keep one of them");
  }
  return type ?? transport;
}

function shown(value: unknown): string {
  return cut(JSON.stringify(value) ?? String(value), SHOWN_CHARACTERS);
}

/** Nothing in a config file is run to learn a value. @throws AdapterError `config.entry` */
export function refusePrograms(raw: Json, refuse: Refuse): void {
  for (const key of Object.keys(raw)) {
    if (PROGRAM.test(key)) throw refuse(key, "names a program, which is not run; put the value into a variable");
  }
  const check = (field: string, value: unknown): void => {
    if (typeof value === "string" && value.startsWith("!")) {
      throw refuse(
        field,
        'begins with "!", which is not run as a command; put the value into a variable, such as ${VAR}',
      );
    }
    if (isObject(value)) for (const [key, item] of Object.entries(value)) check(`${field}.${key}`, item);
  };
  for (const field of ["command", "url", "env", "headers", "bearerToken", "oauth"]) check(field, raw[field]);
}

/** The endpoint of an entry whose shape is right. @throws AdapterError `config.entry` */
export function endpointOf(raw: Json, kind: Kind, refuse: Refuse): CheckedEndpoint {
  return kind === "stdio" ? program(raw, refuse) : remote(raw, kind, refuse);
}

function program(raw: Json, refuse: Refuse): CheckedProgram {
  const {
    command,
    args,
    env,
    cwd,
    inheritEnv = true,
  } = raw as {
    command: string;
    args?: string[];
    env?: Record<string, string | number | boolean>;
    cwd?: string;
    inheritEnv?: boolean | string[];
  };
  for (const name of Object.keys(env ?? {})) {
    if (name === "" || /[=\0]/.test(name))
      throw refuse("env", `has a name that is empty or holds = or NUL: ${shown(maskedArguments([name]).join())}`);
  }
  return {
    kind: "stdio",
    command,
    args: args ?? [],
    env: Object.entries(env ?? {}).map(([name, value]) => [name, String(value)] as const),
    inheritEnv: inheritEnv === false ? [] : inheritEnv,
    ...defined({ cwd }),
  };
}

function remote(raw: Json, transport: RemoteTransport, refuse: Refuse): CheckedRemote {
  const { url, headers, oauth } = raw as { url: string; headers?: Record<string, string>; oauth?: boolean | Json };
  // One with variables is looked at when they are known.
  const read = url.includes("${") ? undefined : readUrl(url);
  if (read !== undefined && "reason" in read) throw refuse("url", read.reason);
  return {
    kind: "http",
    transport,
    url,
    headers: withBearer(Object.entries(headers ?? {}), raw),
    ...(oauth === undefined || oauth === true ? {} : { oauth: oauth === false ? false : oauthOf(oauth) }),
  };
}

/** `bearerToken` and `bearerTokenEnv` of pi-mcp-adapter, which reads the same files, as the header they are. */
function withBearer(
  headers: ReadonlyArray<readonly [string, string]>,
  { bearerToken, bearerTokenEnv }: Json,
): CheckedRemote["headers"] {
  const token = bearerToken ?? (bearerTokenEnv === undefined ? undefined : `\${${bearerTokenEnv}}`);
  if (token === undefined || headers.some(([name]) => name.toLowerCase() === "authorization")) return headers;
  return [...headers, ["Authorization", `Bearer ${token}`]];
}

/** The spellings of other tools become ours. */
function oauthOf({ scopes, redirectPort, callbackPort, ...settings }: Json): OAuthSettings {
  const { scope } = settings;
  return {
    // A registration names the callback to the letter: callbackPort is Claude Code's, whose callback has this name.
    ...(callbackPort === undefined ? {} : { redirectUri: `http://localhost:${callbackPort}/callback` }),
    ...(redirectPort === undefined ? {} : { redirectUri: `http://127.0.0.1:${redirectPort}/callback` }),
    ...settings,
    ...(scope === undefined && scopes !== undefined ? { scope: [scopes].flat().join(" ") } : {}),
  };
}
