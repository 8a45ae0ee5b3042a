import type { Limits } from "../limits.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { SignIn } from "./client.ts";
import type { Transport } from "./transport.ts";

const GUESS_MS = 10_000;

export interface CreateOptions {
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly signIn?: SignIn;
}

/** How to make transports for one server: what is heavy is loaded before the first is made. */
export interface TransportFactory {
  readonly create: () => Transport;
  /** The transport of the first revision, for a server that refuses the present one; absent where it cannot apply. */
  readonly createLegacy?: () => Transport;
  /** The entry names its transport: another is recognised, so that it can be named, and not used. */
  readonly named?: boolean;
  /** Status and body of the refusal that an error stands for, if it stands for one. */
  readonly rejectionOf: (error: unknown) => { readonly status: number; readonly body: string } | undefined;
}

/** The only place that names the concrete transports. */
export async function transportFactory(
  spec: ServerSpec,
  { limits, redactor, signIn }: CreateOptions,
): Promise<TransportFactory> {
  const { name: server, endpoint } = spec;
  if (endpoint.kind === "stdio") {
    const { StdioTransport } = await import("./stdio.ts");
    return { create: () => new StdioTransport({ server, endpoint, limits, redactor }), rejectionOf: () => undefined };
  }
  const { url, headers, transport } = endpoint;
  const options = { server, url, headers, limits, ...(signIn === undefined ? {} : { signIn }) };
  const { HttpTransport, rejectionOf } = await import("./http.ts");
  const { LegacySseTransport } = await import("./legacy-sse.ts");
  if (transport === "sse") return { create: () => new LegacySseTransport(options), rejectionOf };
  // It is only a guess then: a server that keeps the connection open and says nothing must not hold up the answer for long.
  const guessing = { ...options, limits: { ...limits, endpointMs: Math.min(limits.endpointMs, GUESS_MS) } };
  const createLegacy = (): Transport => new LegacySseTransport(guessing);
  return { create: () => new HttpTransport(options), createLegacy, named: transport === "http", rejectionOf };
}
