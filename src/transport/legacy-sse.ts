import { Cancellation } from "../cancellation.ts";
import { defined } from "../defined.ts";
import { AdapterError, isAdapterError, isSituation, reasonOf } from "../errors.ts";
import { NO_EVENT_STREAM, REFUSED_AT_ENDPOINT } from "../messages.ts";
import { PersonWait } from "../person-wait.ts";
import type { Wire } from "../protocol/dialect.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { quoteText } from "../remote-text.ts";
import { HttpClient, type HttpTransportOptions } from "./client.ts";
import { labelOf } from "./encode.ts";
import { postOf } from "./post.ts";
import { readRefusal } from "./refusal.ts";
import type { HttpResponse } from "./response.ts";
import { EventStreamDecoder, type StreamEvent } from "./sse.ts";
import type { SendOptions, Sink, Transport } from "./transport.ts";

const STREAM = "the request for its event stream";
/** How servers refuse it that speak another transport, or have another path. */
const NOT_HERE: ReadonlySet<unknown> = new Set([400, 404, 405, 406]);
const QUOTED_CHARACTERS = 200;

/**
 * The HTTP+SSE transport of the first revision: one event stream brings everything the server says, and names the endpoint
 * that messages are POSTed to. A stream that ends is the end of the connection; nothing is sent twice.
 */
export class LegacySseTransport implements Transport {
  readonly kind = "sse";
  readonly ownStream = false;
  readonly #client: HttpClient;
  readonly #wait: PersonWait;
  readonly #onSpoken: (() => void) | undefined;
  /** Ends the stream before the endpoint is known. */
  readonly #givenUp = new Cancellation();
  #sink: Sink | undefined;
  /** Path and query, on the origin of the URL. */
  #endpoint: string | undefined;
  #constant: readonly string[] = [];
  /** Why the stream is over. */
  #broken: string | undefined;
  #closed = false;

  /** @throws AdapterError `config.url`. */
  constructor(options: HttpTransportOptions, onSpoken?: () => void) {
    this.#client = new HttpClient(options);
    this.#onSpoken = onSpoken;
    this.#wait = options.signIn?.wait ?? new PersonWait();
  }

  /**
   * Opens the stream and resolves once the server has named its endpoint.
   * @throws AdapterError `connect_failed`, `http_error`, `auth_required`, `cancelled`, `config_error`.
   */
  async open(sink: Sink, signal?: AbortSignal): Promise<void> {
    const { server, limits } = this.#client;
    this.#sink = sink;
    this.#constant = this.#client.headers.post;
    let late = false;
    const giveUp = (): void => this.#givenUp.cancel();
    const callOff = this.#wait.alarm(limits.endpointMs, () => {
      late = true;
      giveUp();
    });
    signal?.addEventListener("abort", giveUp);
    if (signal?.aborted) giveUp();
    try {
      await new Promise<void>((resolve, reject) => void this.#listen(resolve, reject));
    } catch (error) {
      this.#shutDown();
      throw late ? this.#connectFailed(`it named no endpoint within ${limits.endpointMs / 1000} s`) : error;
    } finally {
      callOff();
      signal?.removeEventListener("abort", giveUp);
    }
    if (this.#closed) throw new AdapterError("closed.stopped", { server, outcomeUnknown: false });
  }

  adopt(wire: Wire): void {
    this.#constant = [...this.#client.headers.post, "MCP-Protocol-Version", wire.versionHeader];
  }

  /** Resolves when the server has taken the message; an answer comes on the stream, perhaps before that. */
  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    const { server, limits, url } = this.#client;
    if (this.#broken !== undefined)
      throw new AdapterError("closed", { server, reason: this.#broken, outcomeUnknown: false });
    if (this.#endpoint === undefined || this.#closed)
      throw new AdapterError("closed.stopped", { server, outcomeUnknown: false });
    const request = postOf(this.#client, this.#endpoint, message, this.#constant, options);
    await this.#client.exchange(request, async (response) => {
      if (response.ok) return response.skip(limits.refusalBytes, limits.lingerMs);
      const answer = await readRefusal(response, {
        server,
        limits,
        url,
        message,
        label: labelOf(message),
        inSession: true,
      }).catch(withHint(REFUSED_AT_ENDPOINT));
      this.#sink?.message(answer);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#shutDown();
  }

  diagnostics(): Readonly<Record<string, unknown>> {
    return {};
  }

  async #listen(opened: () => void, refused: (error: unknown) => void): Promise<void> {
    const { path, headers } = this.#client;
    try {
      const request = {
        method: "GET",
        path,
        headers: headers.get,
        label: STREAM,
        cancel: this.#givenUp,
      } as const;
      await this.#client.exchange(request, (response) => this.#read(response, opened));
      this.#end(undefined, refused);
    } catch (error) {
      this.#end(error, refused);
    }
  }

  async #read(response: HttpResponse, opened: () => void): Promise<void> {
    const { server, limits, url } = this.#client;
    if (!response.ok) {
      await readRefusal(response, { server, limits, url, label: STREAM, inSession: false }).catch(
        withHint(NO_EVENT_STREAM),
      );
      return;
    }
    if (response.contentType !== "text/event-stream") {
      response.destroy();
      throw this.#connectFailed(
        `it opened no event stream, but sent content type ${JSON.stringify(quoteText(response.contentType, QUOTED_CHARACTERS))}`,
        NO_EVENT_STREAM,
      );
    }
    const decoder = new EventStreamDecoder(limits.messageBytes, (event) => {
      if (this.#endpoint === undefined && event.type === "endpoint") {
        this.#endpoint = this.#endpointOf(event);
        // An idle connection is no reason for Node to stay; who waits for an answer holds a clock.
        response.unref();
        this.#onSpoken?.();
        opened();
      } else if (
        this.#endpoint !== undefined &&
        (event.type === "" || event.type === "message") &&
        event.data.length > 0
      )
        this.#sink?.message(event.data);
    });
    await response.read((chunk) => {
      if (decoder.push(chunk)) return true;
      throw new AdapterError("limit.message", { server, limitBytes: limits.messageBytes, outcomeUnknown: true });
    });
  }

  /** Path and query of the endpoint, which must be on the origin that was asked: credentials go nowhere else. */
  #endpointOf({ data }: StreamEvent): string {
    const { url } = this.#client;
    const text = data.toString().trim();
    const named = quoteText(text, QUOTED_CHARACTERS);
    if (!URL.canParse(text, url.href))
      throw this.#connectFailed(`it named ${JSON.stringify(named)} as its endpoint, which is not a URL`);
    const endpoint = new URL(text, url.href);
    if (endpoint.origin !== url.origin || endpoint.username !== "" || endpoint.password !== "")
      throw this.#connectFailed(
        `it named an endpoint on another origin (${quoteText(endpoint.origin, QUOTED_CHARACTERS)})`,
      );
    return endpoint.pathname + endpoint.search;
  }

  /** The stream is over: before the endpoint came that is a failed connection, afterwards the end of this one. */
  #end(error: unknown, refused: (error: unknown) => void): void {
    if (this.#endpoint === undefined) {
      if (error === undefined) refused(this.#connectFailed("its event stream ended before it named an endpoint"));
      else refused(isSituation(error, "closed") ? this.#connectFailed(error.details.reason) : error);
      return;
    }
    if (this.#closed) return;
    const { server } = this.#client;
    const broke = isSituation(error, "closed") ? error.details.reason : reasonOf(error);
    this.#broken = error === undefined ? "its event stream ended" : `its event stream broke off: ${broke}`;
    const kept = isAdapterError(error) && !isSituation(error, "closed");
    this.#sink?.closed(
      kept
        ? error
        : new AdapterError("closed", { server, reason: this.#broken, outcomeUnknown: true }, { cause: error }),
    );
    this.#shutDown();
  }

  #connectFailed(reason: string, hint?: string): AdapterError {
    const { server, url } = this.#client;
    const facts = { server, url: `${url.origin}${url.pathname}`, reason, ...defined({ hint }) };
    return new AdapterError("connect.failed", facts);
  }

  #shutDown(): void {
    this.#client.stop();
    this.#client.destroy();
  }
}

function withHint(hint: string): (error: unknown) => never {
  return (error) => {
    if (!isSituation(error, "http.status") || !NOT_HERE.has(error.details.status)) throw error;
    throw new AdapterError("http.status", { ...error.details, hint }, { cause: error });
  };
}
