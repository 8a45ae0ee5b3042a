import type { Limits } from "../limits.ts";
import type { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { SignIn } from "./client.ts";
import type { TransportFactory } from "./transport.ts";

export interface CreateOptions {
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly signIn?: SignIn;
}

/** The only place, with `overHttp`, that names the concrete transports. */
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
  const { overHttp } = await import("./over-http.ts");
  return overHttp(transport, options);
}
