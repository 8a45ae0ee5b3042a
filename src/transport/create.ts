import { defined } from "../defined.ts";
import type { Limits } from "../limits.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { SignIn } from "./client.ts";
import { HttpTransport } from "./http.ts";
import { LegacySseTransport } from "./legacy-sse.ts";
import { rejectionOf } from "./refusal.ts";
import { StdioTransport } from "./stdio.ts";
import type { Transport, TransportFactory } from "./transport.ts";

/** How long the fallback to HTTP+SSE waits for the `endpoint` event. */
const GUESS_MS = 10_000;

export interface CreateOptions {
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly signIn?: SignIn;
}

/** Picks the transport for a server's settings; the only place that names the concrete classes. */
export function transportFactory(spec: ServerSpec, { limits, redactor, signIn }: CreateOptions): TransportFactory {
  const { name: server, endpoint } = spec;
  if (endpoint.kind === "stdio") {
    return { create: () => new StdioTransport({ server, endpoint, limits, redactor }), rejectionOf: () => undefined };
  }
  const { url, headers, transport } = endpoint;
  const options = { server, url, headers, limits, ...defined({ signIn }) };
  if (transport === "sse") return { create: () => new LegacySseTransport(options), rejectionOf };
  // The old transport is only a guess here: a server that keeps the connection open and says nothing must not delay the error
  // for long.
  const guessing = { ...options, limits: { ...limits, endpointMs: Math.min(limits.endpointMs, GUESS_MS) } };
  const createLegacy = (onSpoken?: () => void): Transport => new LegacySseTransport(guessing, onSpoken);
  return { create: () => new HttpTransport(options), createLegacy, named: transport === "http", rejectionOf };
}
