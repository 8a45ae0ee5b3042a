import { dirname, isAbsolute, join, resolve } from "node:path";
import { headerFlaw } from "../protocol/header-syntax.ts";
import type { Endpoint, HttpEndpoint, OAuthSettings, ServerSpec, StdioEndpoint } from "../server-spec.ts";
import { readUrl } from "../web-address.ts";
import type { CheckedEntry } from "./check.ts";
import type { CheckedProgram, CheckedRemote } from "./endpoint.ts";
import { Expansion, literal, type Owner } from "./expand.ts";
import { type Refuse, refusal } from "./refuse.ts";
import { secretsOf } from "./secrets.ts";

/** Facts about an entry that its fields do not hold. */
export interface Provenance
  extends Owner,
    Pick<ServerSpec, "origin" | "trust" | "maxResultBytes" | "autoApproveFrom" | "enabledBy"> {}

/** Where and with which variables an entry is expanded. */
export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export interface ExpandedSpec {
  readonly spec: ServerSpec;
  /** The variables that were looked at, with what they held. */
  readonly used: ReadonlyMap<string, string | undefined>;
}

/** @throws AdapterError `config.variable`, `config.entry` */
export function expandSpec(entry: CheckedEntry, provenance: Provenance, around: Surroundings): ExpandedSpec {
  const { server: name, configPath, ...known } = provenance;
  const { endpoint: _written, enabled: _enabled, autoApprove = [], ...settings } = entry;
  const { endpoint, used } = expandEndpoint(entry, provenance, around);
  const spec: ServerSpec = {
    ...known,
    ...settings,
    name,
    configPath,
    endpoint,
    autoApprove,
    fingerprint: fingerprintOf(endpoint, entry.protocol),
    ...secretsOf({ endpoint, used, plain: [around.cwd, around.home] }),
  };
  return { spec: Object.freeze(spec), used };
}

/**
 * The part of `expandSpec` that may fail, which is little of its work.
 * @throws AdapterError `config.variable`, `config.entry`
 */
export function expandEndpoint(
  { endpoint: written }: CheckedEntry,
  provenance: Provenance,
  around: Surroundings,
): Pick<ExpandedSpec, "used"> & { readonly endpoint: Endpoint } {
  const refuse = refusal(provenance);
  const expansion = new Expansion(provenance, around.env, around.platform);
  const endpoint =
    written.kind === "http"
      ? expandRemote(written, expansion, refuse)
      : expandProgram(written, expansion, refuse, dirname(provenance.configPath), around);
  // With them a sign-in can ask for a token that is good elsewhere, which the server then gets.
  if (
    provenance.origin === "project" &&
    endpoint.kind === "http" &&
    endpoint.oauth &&
    endpoint.oauth.parameters !== undefined
  )
    throw refuse("oauth.parameters", "is not taken from a project's file; write the server into a file of your own");
  return { endpoint, used: expansion.used };
}

/** Equal for endpoints that one connection can serve. */
export function fingerprintOf(endpoint: Endpoint, protocol: string): string {
  const { kind } = endpoint;
  const rest =
    kind === "stdio"
      ? [endpoint.command, endpoint.args, sorted(endpoint.env), endpoint.inheritEnv, endpoint.cwd]
      : [endpoint.transport, endpoint.url, sorted(endpoint.headers), endpoint.oauth ?? null];
  return JSON.stringify([kind, protocol, ...rest]);
}

function expandProgram(
  endpoint: CheckedProgram,
  expansion: Expansion,
  refuse: Refuse,
  folder: string,
  { cwd, home }: Surroundings,
): StdioEndpoint {
  const text = (written: string, field: string): string => {
    const expanded = expansion.text(written, field);
    if (expanded.includes("\0")) throw refuse(field, "holds NUL");
    return expanded;
  };
  const filled = (written: string, field: string): string => {
    const expanded = text(fromHome(written, literal(home)), field);
    if (expanded.trim() === "") throw refuse(field, "is empty once its variables are expanded");
    return expanded;
  };
  const chosen = endpoint.cwd === undefined ? cwd : filled(endpoint.cwd, "cwd");
  const command = filled(endpoint.command, "command");
  const env = Object.fromEntries(endpoint.env.map(([name, value]) => [name, text(value, `env.${name}`)]));
  // Programs such as mcp-remote fill them in themselves where nobody else does: entries are written for that.
  expansion.give(env);
  return {
    kind: "stdio",
    command,
    args: endpoint.args.map((argument, at) => text(argument, `args[${at}]`)),
    env,
    inheritEnv: endpoint.inheritEnv,
    cwd: isAbsolute(chosen) ? chosen : resolve(folder, chosen),
  };
}

/** `~` and `~/x`, which no shell expands here. */
export function fromHome(path: string, home: string): string {
  return path === "~" ? home : /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
}

function expandRemote(
  { transport, url, headers, oauth }: CheckedRemote,
  expansion: Expansion,
  refuse: Refuse,
): HttpEndpoint {
  const read = readUrl(expansion.text(url, "url"));
  if ("reason" in read) throw refuse("url", read.reason);
  const expanded: [string, string][] = [];
  const names = new Set<string>();
  for (const [name, written] of headers) {
    const value = expansion.text(written, `headers.${name}`);
    const flaw = headerFlaw(name, value, names);
    if (flaw !== undefined) throw refuse(`headers.${name}`, flaw);
    names.add(name.toLowerCase());
    expanded.push([name, value]);
  }
  return {
    kind: "http",
    transport,
    url: read.url.href,
    headers: Object.fromEntries(expanded),
    ...(oauth === undefined ? {} : { oauth: oauth && expandTexts(oauth, "oauth", expansion) }),
  };
}

function expandTexts(settings: OAuthSettings, field: string, expansion: Expansion): OAuthSettings {
  const expand = (value: unknown, path: string): unknown => {
    if (typeof value === "string") return expansion.text(value, path);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, `${path}.${key}`)]));
  };
  return expand(settings, field) as OAuthSettings;
}

function sorted(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
