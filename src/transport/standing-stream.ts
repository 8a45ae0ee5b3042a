import { Cancellation } from "../cancellation.ts";
import { isSituation } from "../errors.ts";
import type { HttpClient } from "./client.ts";
import { ReplyStream } from "./reply-stream.ts";
import type { HttpResponse } from "./response.ts";
import type { Sink } from "./transport.ts";

export interface StandingStreamOptions {
  readonly client: HttpClient;
  readonly sink: Sink;
  /** The headers of a GET in this session. */
  readonly headers: () => readonly string[];
}

type State = "closed" | "opening" | "open" | "refused";

/**
 * The event stream on which a server asks what belongs to no response of its own (Transports, Listening for Messages from
 * the Server). Optional for servers: whatever becomes of it, calls go on. It is opened by the first call and reopened only
 * while calls are waiting, so that an idle session makes no traffic.
 */
export class StandingStream {
  readonly #options: StandingStreamOptions;
  #state: State = "closed";
  #calls = 0;
  /** Resolves when the stream is open, or it is clear that it is not. */
  #decided: Promise<void> = Promise.resolve();
  #attempt = new Cancellation();
  #lastEventId: string | undefined;
  /** Ends in a row before anything came. */
  #futile = 0;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StandingStreamOptions) {
    this.#options = options;
  }

  /** Does the work while the stream stands open, as far as the server lets it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#calls++;
    try {
      await this.#ready();
      return await work();
    } finally {
      if (--this.#calls === 0) this.#rest();
    }
  }

  /** A server that is slow to open it must not hold up the call for long. */
  async #ready(): Promise<void> {
    if (this.#state === "closed") this.#openInTime();
    if (this.#state !== "opening") return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.client.limits.standingMs);
    });
    await Promise.race([this.#decided, late]);
    clearTimeout(timer);
  }

  /** No call waits any more: nothing is opened, and what hangs is given up for good. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#state !== "opening") return;
    this.#state = "refused";
    this.#attempt.cancel();
  }

  #openInTime(): void {
    const wait = this.#notBefore - performance.now();
    if (wait <= 0) this.#open();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        if (this.#state === "closed") this.#open();
      }, wait);
  }

  #open(): void {
    this.#state = "opening";
    this.#decided = new Promise((decided) => void this.#listen(decided));
  }

  async #listen(decided: () => void): Promise<void> {
    const { client, sink } = this.#options;
    const stream = new ReplyStream({ server: client.server, limits: client.limits, sink, answered: undefined });
    this.#attempt = new Cancellation();
    try {
      // Never a reason to sign in: a challenge on it refuses it, and the call's own request meets its own.
      await client.lastly(this.#request(), (response) => this.#follow(response, stream, decided));
    } catch (error) {
      if (!isSituation(error, "closed") && !isSituation(error, "connect.failed")) this.#state = "refused";
    }
    decided();
    this.#ended(stream);
  }

  async #follow(response: HttpResponse, stream: ReplyStream, decided: () => void): Promise<void> {
    const { limits } = this.#options.client;
    if (!response.ok || response.contentType !== "text/event-stream") {
      if (response.status < 500) this.#state = "refused";
      return response.skip(limits.refusalBytes, limits.lingerMs);
    }
    response.unref();
    this.#state = "open";
    decided();
    await stream.read(response);
  }

  #ended(stream: ReplyStream): void {
    const { client } = this.#options;
    if (this.#state === "refused") return;
    this.#lastEventId = stream.lastEventId ?? this.#lastEventId;
    this.#futile = stream.advanced ? 0 : this.#futile + 1;
    this.#state = this.#futile >= client.limits.resumeAttempts || client.stopped.aborted ? "refused" : "closed";
    this.#notBefore = performance.now() + stream.retryMs;
    if (this.#state === "closed" && this.#calls > 0) this.#openInTime();
  }

  #request(): Parameters<HttpClient["lastly"]>[0] {
    const { client, headers } = this.#options;
    const resumed = this.#lastEventId === undefined ? [] : ["Last-Event-ID", this.#lastEventId];
    const { pathname, search } = client.url;
    return {
      method: "GET",
      path: pathname + search,
      headers: [...headers(), ...resumed],
      label: "the stream for questions",
      cancel: this.#attempt,
    };
  }
}
