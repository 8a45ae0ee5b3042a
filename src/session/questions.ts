import { Cancellation } from "../cancellation.ts";
import type { Limits } from "../limits.ts";
import type { Dialect } from "../protocol/dialect.ts";
import { INTERNAL_ERROR, type JsonRpcRequest, METHOD_NOT_FOUND, type RequestId } from "../protocol/jsonrpc.ts";
import { errorAnswer, type InputAnswer } from "./answer.ts";
import type { InputPort } from "./input.ts";

/** The share of a call's remaining time that a question may take: the server needs the rest to finish the call. */
export const QUESTION_SHARE = 0.8;

export interface QuestionsOptions {
  readonly dialect: Dialect;
  readonly input: InputPort;
  readonly limits: Limits;
}

/** Answers the requests that a server sends to us: each once and in time, unless the server cancels it. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Set<Open>();
  /** All calls were given up: a question that still arrives belongs to none. */
  #abandoned = false;
  #ended = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Questions that come from now on may belong to that call. */
  callSent(): void {
    this.#abandoned = false;
  }

  /** Cancels the open questions. Those of an `input_required` result are not among them: they end with their own call. */
  abandon(): void {
    this.#abandoned = true;
    for (const { withdrawal } of this.#open) withdrawal.cancel();
  }

  /** Ends with the connection: open questions are cancelled, and queued ones are not asked any more. */
  end(): void {
    this.#ended = true;
    this.#options.input.withdraw();
  }

  /** The server takes a question back (Utilities, Cancellation): it is withdrawn from the host, and gets no answer. */
  takeBack(id: unknown): void {
    for (const open of this.#open) {
      if (open.id !== id) continue;
      open.isTakenBack = true;
      open.withdrawal.cancel();
    }
  }

  /**
   * The answer, within `milliseconds`; nothing for a question that was taken back, after the end, or where the revision lets no
   * server ask, since an answer would break it too. `call` says that the call it belongs to was given up, where that is known.
   */
  async answer(
    { id, method, params }: JsonRpcRequest,
    milliseconds: number,
    call?: Cancellation,
  ): Promise<InputAnswer | undefined> {
    const { dialect, input, limits } = this.#options;
    // Where it may ask anything at all, it may ping.
    if (this.#ended || !dialect.serverMayAsk("ping")) return undefined;
    if (method === "ping") return { result: {} };
    if (!dialect.serverMayAsk(method) || !input.offers(method))
      return errorAnswer(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, limits.nameCharacters)}`);
    const isAbandoned = this.#abandoned || call?.cancelled === true;
    if (isAbandoned && method === "elicitation/create") return { result: { action: "cancel" } };
    if (isAbandoned && method === "sampling/createMessage")
      return errorAnswer(INTERNAL_ERROR, "The call was cancelled");
    if (this.#open.size >= limits.openQuestions) return errorAnswer(INTERNAL_ERROR, "Too many open questions");
    const open: Open = { id, withdrawal: new Cancellation(), isTakenBack: false };
    this.#open.add(open);
    const release = call?.onCancel(() => open.withdrawal.cancel());
    try {
      const answer = await input.ask(method, params ?? {}, milliseconds, open.withdrawal);
      return open.isTakenBack ? undefined : answer;
    } finally {
      release?.();
      this.#open.delete(open);
    }
  }
}

/** A question that waits for the host. */
interface Open {
  readonly id: RequestId;
  readonly withdrawal: Cancellation;
  isTakenBack: boolean;
}
