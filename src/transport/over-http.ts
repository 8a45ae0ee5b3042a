import type { HttpEndpoint } from "../server-spec.ts";
import type { HttpTransportOptions } from "./client.ts";
import { HttpTransport } from "./http.ts";
import { LegacySseTransport } from "./legacy-sse.ts";
import { rejectionOf } from "./refusal.ts";
import type { Transport, TransportFactory } from "./transport.ts";

const GUESS_MS = 10_000;

/** The transports to a URL. */
export function overHttp(transport: HttpEndpoint["transport"], options: HttpTransportOptions): TransportFactory {
  if (transport === "sse") return { create: () => new LegacySseTransport(options), rejectionOf };
  const { limits } = options;
  // It is only a guess then: a server that keeps the connection open and says nothing must not hold up the answer for long.
  const guessing = { ...options, limits: { ...limits, endpointMs: Math.min(limits.endpointMs, GUESS_MS) } };
  const createLegacy = (): Transport => new LegacySseTransport(guessing);
  return { create: () => new HttpTransport(options), createLegacy, named: transport === "http", rejectionOf };
}
