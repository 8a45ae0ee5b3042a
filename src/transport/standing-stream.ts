import { clearTimeout, setTimeout } from "node:timers";
import { atMost } from "../at-most.ts";
import { type CancelListener, Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import { isSituation } from "../errors.ts";
import type { HttpClient } from "./client.ts";
import type { HttpRequest } from "./pool.ts";
import { ReplyStream } from "./reply-stream.ts";
import type { HttpResponse } from "./response.ts";
import type { Raw, SendOptions, Sink } from "./transport.ts";

export interface StandingStreamOptions {
  readonly client: HttpClient;
  readonly sink: Sink;
  /** The headers of a GET in this session. */
  readonly headers: () => readonly string[];
}

/** Failures of one attempt that say nothing about the next: by then somebody may have signed in, or a token been renewed. */
const MAY_PASS = ["closed", "connect.failed", "cancelled", "auth.required"] as const;
const MAY_PASS_STATUS: ReadonlySet<number> = new Set([408, 425, 429]);

/** `waiting`: for the time to pass that the server asked for. `refused`: the server has no such stream. */
type State = "closed" | "waiting" | "opening" | "open" | "refused";

/**
 * The event stream on which a server asks what belongs to no response of its own (Transports, Listening for Messages from
 * the Server). Optional for servers: whatever becomes of it, calls go on. It is opened by the first call and reopened only
 * while calls are waiting, so that an idle session makes no traffic.
 */
export class StandingStream {
  readonly #options: StandingStreamOptions;
  #state: State = "closed";
  #calls = 0;
  /** Resolves when the current attempt to open the stream has succeeded or failed. */
  #decided: Promise<void> = Promise.resolve();
  #decide = (): void => undefined;
  #attempt = new Cancellation();
  #lastEventId: string | undefined;
  /**
   * It was open once, so the server has such a stream. Many allow one for each session, and refuse a second until they notice
   * that the first has ended.
   */
  #wasOpen = false;
  /** On `clock`; infinite while nothing is open. */
  #openedAt = Number.POSITIVE_INFINITY;
  /** How many attempts in a row ended quickly and without a message. */
  #futile = 0;
  /** The last attempt was refused in a way that may be temporary. */
  #mayPass = false;
  /** The server sends response headers only with the first message, so calls do not wait for the stream to open. */
  #slow = false;
  /** The server's latest `retry`, which holds until it sends another. */
  #retryMs: number;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Callbacks of `untilAnswered`: each checks whether its answer has come, or can no longer come. */
  readonly #watchers = new Set<() => void>();

  constructor(options: StandingStreamOptions) {
    this.#options = options;
    this.#retryMs = options.client.limits.defaultRetryMs;
    options.client.stopped.addEventListener("abort", () => {
      this.#rest();
      this.#attempt.cancel();
    });
  }

  /** Runs the work with the stream open, if the server allows that. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#calls++;
    try {
      if (this.#state === "closed" && !this.#options.client.stopped.aborted) this.#openInTime();
      if (this.#mayOpenSoon && !this.#slow) await this.#opened();
      return await work();
    } finally {
      if (--this.#calls === 0) this.#rest();
    }
  }

  /** Within `during`: resolves when the request was answered, when no stream can bring its answer, or when it was given up. */
  untilAnswered(request: SendOptions): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        const isWaiting = request.answered?.() === false && request.cancellation?.cancelled !== true;
        if (isWaiting && this.#state !== "refused" && !this.#isExhausted) return;
        this.#watchers.delete(look);
        request.cancellation?.delete(listener);
        resolve();
      };
      const listener: CancelListener = { onCancel: look };
      this.#watchers.add(look);
      request.cancellation?.add(listener);
      look();
    });
  }

  get #isExhausted(): boolean {
    return this.#futile >= this.#options.client.limits.resumeAttempts;
  }

  get #mayOpenSoon(): boolean {
    const { standingMs } = this.#options.client.limits;
    return this.#state === "opening" || (this.#state === "waiting" && this.#notBefore - clock.now() < standingMs);
  }

  /** A server that is slow to open it must not hold up the call for long. */
  async #opened(): Promise<void> {
    const how = await atMost(this.#decided, this.#options.client.limits.standingMs, "late");
    if (how === "late" && this.#state === "opening") this.#slow = true;
  }

  /** No call is running any more: an attempt that has not opened the stream yet is given up, and no other begins. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#state === "opening") this.#attempt.cancel();
    if (this.#state !== "waiting") return;
    this.#state = "closed";
    this.#decide();
  }

  #openInTime(): void {
    const wait = this.#notBefore - clock.now();
    this.#state = wait > 0 ? "waiting" : "opening";
    this.#decided = new Promise((decided) => {
      this.#decide = decided;
      if (wait <= 0) void this.#listen(decided);
      else
        this.#timer = setTimeout(() => {
          this.#state = "opening";
          void this.#listen(decided);
        }, wait);
    });
  }

  async #listen(decided: () => void): Promise<void> {
    const { client } = this.#options;
    const stream = new ReplyStream({ server: client.server, limits: client.limits, sink: this.#sink });
    stream.retryMs = this.#retryMs;
    this.#attempt = new Cancellation();
    this.#openedAt = Number.POSITIVE_INFINITY;
    try {
      await client.exchange(this.#request(), (response) => this.#follow(response, stream, decided));
      this.#notBefore = clock.now() + stream.retryMs;
    } catch (error) {
      if (!this.#attempt.cancelled) this.#mayPass = isSituation(error, "auth.required");
      if (!MAY_PASS.some((situation) => isSituation(error, situation))) this.#state = "refused";
      if (!this.#attempt.cancelled) this.#notBefore = clock.now() + stream.retryMs;
    }
    this.#retryMs = stream.retryMs;
    decided();
    this.#ended(stream);
    this.#look();
  }

  async #follow(response: HttpResponse, stream: ReplyStream, decided: () => void): Promise<void> {
    const { limits } = this.#options.client;
    if (!response.ok || response.contentType !== "text/event-stream") {
      this.#mayPass = MAY_PASS_STATUS.has(response.status);
      if (!this.#mayPass && response.status < 500 && !this.#wasOpen) this.#state = "refused";
      return response.skip(limits.refusalBytes, limits.lingerMs);
    }
    response.unref();
    this.#state = "open";
    this.#wasOpen = true;
    // What kept it from being opened has passed.
    if (this.#mayPass) this.#futile = 0;
    this.#mayPass = false;
    this.#openedAt = clock.now();
    decided();
    await stream.read(response);
  }

  readonly #sink: Sink = {
    message: (raw: Raw) => {
      const isMessage = this.#options.sink.message(raw);
      this.#look();
      return isMessage;
    },
    closed: (error) => this.#options.sink.closed(error),
  };

  #look(): void {
    for (const look of this.#watchers) look();
  }

  #ended(stream: ReplyStream): void {
    const { client } = this.#options;
    if (this.#state === "refused") return;
    this.#lastEventId = stream.lastEventId ?? this.#lastEventId;
    // What stood open for a while was of use, though nothing was asked: proxies cut what is idle.
    const isFutile = !stream.advanced && clock.now() - this.#openedAt < client.limits.defaultRetryMs;
    // One that was given up here says nothing of the server.
    if (!this.#attempt.cancelled) this.#futile = isFutile ? this.#futile + 1 : 0;
    // A sign-in takes a person longer than all attempts in a row.
    const isSeldom = this.#isExhausted && this.#mayPass;
    if (isSeldom) this.#notBefore = clock.now() + client.limits.seldomRetryMs;
    this.#state = (this.#isExhausted && !isSeldom) || client.stopped.aborted ? "refused" : "closed";
    if (this.#state === "closed" && this.#calls > 0) this.#openInTime();
  }

  #request(): HttpRequest {
    const { client, headers } = this.#options;
    const resumed = this.#lastEventId === undefined ? [] : ["Last-Event-ID", this.#lastEventId];
    return {
      method: "GET",
      path: client.path,
      headers: [...headers(), ...resumed],
      label: "the stream for questions",
      cancel: this.#attempt,
      // A challenge on it refuses it, and the call's own request meets its own.
      quiet: true,
    };
  }
}
