import type { IncomingHttpHeaders } from "node:http";

/**
 * What the sign-in room asks of the HTTP transport: one request on a connection of its own, which reaches its host as requests to
 * servers do (the environment's proxy, the operating system's certificates). No redirect is followed.
 * @throws AdapterError `connect_failed`, `closed`, `protocol_error`, `limit_exceeded`; `cancelled` when the signal is aborted
 */
export type SendPlain = (request: PlainRequest, signal: AbortSignal) => Promise<PlainAnswer>;

export interface PlainRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of the answer's body, after decompression. */
  readonly limitBytes: number;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
