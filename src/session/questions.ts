import { Cancellation } from "../cancellation.ts";
import type { Limits } from "../limits.ts";
import type { Dialect } from "../protocol/dialect.ts";
import { INTERNAL_ERROR, type JsonRpcRequest, METHOD_NOT_FOUND, type RequestId } from "../protocol/jsonrpc.ts";
import { errorAnswer, type InputAnswer } from "./answer.ts";
import type { InputPort } from "./input.ts";

/** How much of the time that a call has left a question may take: its server still has to go on with the call. */
export const QUESTION_SHARE = 0.8;

export interface QuestionsOptions {
  readonly dialect: Dialect;
  readonly input: InputPort;
  readonly limits: Limits;
}

/** Requests that a server sends to us: each is answered, once and never later than it is of use, unless the server takes it back. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Set<Open>();
  /** The last call was given up and none waits: a question that still comes belongs to nobody. */
  #abandoned = false;
  #ended = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Questions that come from now on may belong to that call. */
  callSent(): void {
    this.#abandoned = false;
  }

  /** Withdraws from the host what is still open; what a result has asked belongs to a call of its own. */
  abandon(): void {
    this.#abandoned = true;
    for (const { withdrawal } of this.#open) withdrawal.cancel();
  }

  /** With the connection; what came, or has waited, until now is not asked any more. */
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
