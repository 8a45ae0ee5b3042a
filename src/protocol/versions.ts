/** Every protocol revision the adapter speaks, oldest first. */
export const REVISIONS: readonly string[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/** The revision offered in `initialize`. */
export const OFFERED = "2025-11-25";

/** The stateless revision, in which every request carries its version, client and capabilities. */
export const SELF_DESCRIBING = "2026-07-28";

/** Whether it is a revision we speak that begins with `initialize`. */
export function isHandshake(revision: string): boolean {
  return REVISIONS.includes(revision) && revision < SELF_DESCRIBING;
}

/** What `initialize` can offer where `OFFERED` was refused, newest first. */
export const OLDER: readonly string[] = REVISIONS.filter((revision) => revision < OFFERED).reverse();

/** A draft that some servers in Go still name; the SDKs' clients speak the first revision with it, too. */
const DRAFT = "2024-10-07";

/** The revision that is spoken with a server that answers this one. */
export function spokenFor(answered: string): string {
  return answered === DRAFT ? "2024-11-05" : answered;
}

/** The first and the last revision that has a method. */
type Since = readonly [first: string, last: string];

const ALL: Since = ["2024-11-05", "2026-07-28"];
const HANDSHAKE: Since = ["2024-11-05", "2025-11-25"];
const TASKS: Since = ["2025-11-25", "2025-11-25"];
const MODERN: Since = ["2026-07-28", "2026-07-28"];

/** The requests a client may send, and the revisions that have them. */
const CLIENT_REQUESTS: ReadonlyMap<string, Since> = new Map<string, Since>([
  ["initialize", HANDSHAKE],
  ["server/discover", MODERN],
  ["ping", HANDSHAKE],
  ["tools/list", ALL],
  ["tools/call", ALL],
  ["resources/list", ALL],
  ["resources/templates/list", ALL],
  ["resources/read", ALL],
  ["resources/subscribe", HANDSHAKE],
  ["resources/unsubscribe", HANDSHAKE],
  ["subscriptions/listen", MODERN],
  ["prompts/list", ALL],
  ["prompts/get", ALL],
  ["completion/complete", ALL],
  ["logging/setLevel", HANDSHAKE],
  ["tasks/list", TASKS],
  ["tasks/get", TASKS],
  ["tasks/result", TASKS],
  ["tasks/cancel", TASKS],
]);

/** The revisions that brought elicitation, and its modes. */
const ELICITATION = "2025-06-18";
const ELICITATION_MODES = "2025-11-25";

/** The client capabilities that exist in the revision: strict servers refuse to parse others. */
export function declarable(
  capabilities: Readonly<Record<string, unknown>>,
  revision: string,
): Readonly<Record<string, unknown>> {
  const { elicitation, ...rest } = capabilities;
  if (elicitation === undefined || revision >= ELICITATION_MODES) return capabilities;
  return revision < ELICITATION ? rest : { ...rest, elicitation: {} };
}

/** The requests only a server sends. */
const SERVER_REQUESTS: ReadonlySet<string> = new Set(["roots/list", "sampling/createMessage", "elicitation/create"]);

/** Whether the revision may have the method: methods that no revision names are left to the server to judge. */
export function revisionKnows(revision: string, method: string): boolean {
  const since = CLIENT_REQUESTS.get(method);
  return since === undefined || (since[0] <= revision && revision <= since[1]);
}

export function isServerRequest(method: string): boolean {
  return SERVER_REQUESTS.has(method);
}

/** Whether a server may send the method to us as a request of its own in a revision with a handshake. */
export function handshakeServerMayAsk(method: string): boolean {
  return method === "ping" || SERVER_REQUESTS.has(method);
}

/** The newest revision of the list that `initialize` can offer where `OFFERED` was refused. */
export function otherHandshake(supported: readonly unknown[]): string | undefined {
  return OLDER.find((revision) => supported.includes(revision));
}
