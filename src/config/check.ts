import { defined } from "../defined.ts";
import { lazyRegExp } from "../lazy-regexp.ts";
import type { Limits } from "../limits.ts";
import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { type CheckedEndpoint, endpointOf, kindOf, namesEndpoint, refusePrograms } from "./endpoint.ts";
import type { Owner } from "./expand.ts";
import type { Json } from "./json.ts";
import { plainName } from "./names.ts";
import { type Refuse, refusal } from "./refuse.ts";
import { CHECKED_ELSEWHERE, type ShapeCheck } from "./shape.ts";

/** What an entry without `command` and `url` changes of the one below it. */
export interface Overrides {
  readonly enabled?: boolean;
  readonly timeoutSeconds?: number;
  readonly exposure?: string;
  readonly autoApprove?: true | readonly string[];
}

/** An entry whose fields are checked; variables are still as written. */
export interface CheckedEntry extends Overrides {
  readonly endpoint: CheckedEndpoint;
  readonly protocol: string;
  readonly maxTotalSeconds?: number;
  readonly maxResultBytes?: number;
  readonly stopOnCancel: boolean;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
}

export interface CheckContext extends Owner {
  readonly limits: Limits;
  readonly shape: ShapeCheck;
}

const NAME = /^[A-Za-z0-9_-]+$/;
const TIMES = ["timeout", "timeout_ms", "timeoutMs"];
/** pi-mcp-adapter's, which reads the same files. */
const FOREIGN_TIME = "requestTimeoutMs";
/** A `timeout` of this much or more counts milliseconds. */
const MILLISECONDS = 10_000;
const OVERRIDE_KEYS = ["enabled", "disabled", ...TIMES, FOREIGN_TIME, "exposure", "autoApprove"];
const KEPT = ["protocol", "maxTotalSeconds", "maxResultBytes", "stopOnCancel", "includeTools", "excludeTools"];
const ENDPOINT_KEYS = [
  "type",
  "transport",
  "command",
  "args",
  "env",
  "cwd",
  "inheritEnv",
  "url",
  "headers",
  "bearerToken",
  "bearerTokenEnv",
  "oauth",
];
/** Every field of a server that is read, as schemas/mcp-config.schema.json has them. */
export const SERVER_FIELDS: readonly string[] = [...ENDPOINT_KEYS, ...OVERRIDE_KEYS, ...KEPT];
/** A longer name is not rewritten. */
const NAME_CHARACTERS = 100;
/** Hints for two fields that are easily confused. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["command", "; it names the program alone, and its arguments belong in args"],
  ["args", ', such as ["-y", "some-server"]'],
]);

/** @throws AdapterError `config.entry` */
export function checkEntry(raw: unknown, context: CheckContext): CheckedEntry {
  const refuse = refusal(context);
  if (!NAME.test(context.server))
    throw refuse("", `must have only ASCII letters, digits, - and _ in its name${nameAdvice(context.server)}`);
  if (!isObject(raw)) throw refuse("", `must be an object with command or url${fieldAdvice(context.server)}`);
  const kind = kindOf(raw, refuse);
  refusePrograms(raw, refuse);
  checkShape(raw, context.shape, refuse);
  const { maxTotalSeconds } = raw;
  if (maxTotalSeconds !== undefined) {
    between("maxTotalSeconds", maxTotalSeconds, [1, context.limits.maxTotalSeconds], "seconds", refuse);
  }
  return {
    endpoint: endpointOf(raw, kind, refuse),
    protocol: "auto",
    stopOnCancel: false,
    ...overridesOf(raw, context.limits, refuse),
    ...select(raw, KEPT),
  };
}

/** Whether the entry describes no server of its own but changes the one with its name in an earlier file. */
export function isOverride(raw: unknown): raw is Json {
  return isObject(raw) && !namesEndpoint(raw);
}

/** @throws AdapterError `config.entry` */
export function checkOverrides(raw: Json, context: CheckContext): Overrides {
  const refuse = refusal(context);
  const own = select(raw, OVERRIDE_KEYS);
  checkShape(own, context.shape, refuse);
  return overridesOf(own, context.limits, refuse);
}

/** The fields of an override that are not its to change. */
export function foreignKeys(raw: Json): readonly string[] {
  return Object.keys(raw).filter((key) => !OVERRIDE_KEYS.includes(key));
}

const foreignLetter = lazyRegExp("(?![A-Za-z])\\p{L}", "u");

function nameAdvice(written: string): string {
  const foreign = [...written].find((character) => character > "\x7f");
  const code = foreign?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  const which = foreign === undefined ? "" : `; ${quote(foreign)} is U+${code}`;
  // A letter of another alphabet may look like one of ours, and would be missed in the name that is left. What is too long to be shown
  // would take long, too.
  if (written.length > NAME_CHARACTERS || foreignLetter().test(written)) return which;
  const plain = plainName(written).replace(/^-+|-+$/g, "");
  return plain === "" ? which : `${which}; write ${quote(plain)}`;
}

/** The fields of one server may have been written where servers by name belong. */
function fieldAdvice(name: string): string {
  return SERVER_FIELDS.includes(name) ? `; a server has a name: write {"mcpServers": {"NAME": {"${name}": …}}}` : "";
}

function checkShape(raw: Json, shape: ShapeCheck, refuse: Refuse): void {
  const flaw = shape(
    select(
      raw,
      Object.keys(raw).filter((key) => !CHECKED_ELSEWHERE.includes(key)),
    ),
  );
  if (flaw !== undefined) throw refuse(flaw.field, `${flaw.reason}${ADVICE.get(flaw.field) ?? ""}`);
}

function overridesOf(raw: Json, limits: Limits, refuse: Refuse): Overrides {
  const { enabled, disabled, exposure, autoApprove } = raw as {
    enabled?: boolean;
    disabled?: boolean;
    exposure?: string;
    autoApprove?: boolean | string[];
  };
  const timeoutSeconds = timeoutOf(raw, limits, refuse);
  return {
    ...(enabled === undefined && disabled === undefined ? {} : { enabled: enabled !== false && disabled !== true }),
    ...defined({ timeoutSeconds, exposure }),
    ...(autoApprove === undefined ? {} : { autoApprove: autoApprove === false ? [] : autoApprove }),
  };
}

function timeoutOf(raw: Json, limits: Limits, refuse: Refuse): number | undefined {
  let found: number | undefined;
  for (const field of TIMES) {
    const value = field === "timeout" ? secondsOf(raw[field], limits) : raw[field];
    if (value === undefined) continue;
    const [unit, per] = field === "timeout" ? (["seconds", 1] as const) : (["milliseconds", 1000] as const);
    between(field, value, [limits.minTimeoutSeconds * per, limits.maxTimeoutSeconds * per], unit, refuse);
    if (found !== undefined && found !== value / per)
      throw refuse(field, "differs from the other timeout; keep one of them");
    found = value / per;
  }
  return found ?? foreignSeconds(raw[FOREIGN_TIME], limits);
}

/** `requestTimeoutMs`: pi-mcp-adapter has no bounds for it, and 0 means no timeout. */
function foreignSeconds(value: unknown, { minTimeoutSeconds, maxTimeoutSeconds }: Limits): number | undefined {
  if (typeof value !== "number" || !(value > 0)) return undefined;
  return Math.min(Math.max(value / 1000, minTimeoutSeconds), maxTimeoutSeconds);
}

/** Claude Code, whose `.mcp.json` is ours too, counts milliseconds, without our bound; nobody has so many seconds in mind. */
function secondsOf(value: unknown, { maxTimeoutSeconds }: Limits): unknown {
  return typeof value === "number" && value >= MILLISECONDS ? Math.min(value / 1000, maxTimeoutSeconds) : value;
}

function between(
  field: string,
  value: unknown,
  [least, most]: readonly [number, number],
  unit: "seconds" | "milliseconds",
  refuse: Refuse,
): asserts value is number {
  if (typeof value === "number" && value >= least && value <= most) return;
  const other =
    field === "timeout" && typeof value === "number" && value > most ? "; milliseconds go in timeoutMs" : "";
  throw refuse(field, `must be a number of ${unit} from ${least} to ${most}${other}`);
}

function select(raw: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(raw, key)).map((key) => [key, raw[key]]));
}
