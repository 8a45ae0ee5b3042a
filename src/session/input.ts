import { alarm } from "../alarm.ts";
import { Cancellation } from "../cancellation.ts";
import type { ElicitResult, HostServices } from "../contract.ts";
import { reasonOf } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, isObject } from "../protocol/jsonrpc.ts";
import { serverContext } from "../server-context.ts";
import { errorAnswer, type InputAnswer } from "./answer.ts";
import type { FormChecks } from "./elicitation.ts";

export interface InputOptions {
  readonly server: string;
  readonly services: HostServices;
  readonly limits: Limits;
  readonly sessionId?: string | undefined;
  readonly cwd?: string | undefined;
}

/**
 * Passes a server's questions (roots, sampling, elicitation) to the host's services. Every question gets an answer, in both of the ways
 * in which revisions let servers ask.
 */
export class InputPort {
  /** The client capabilities that are declared to the server: those that the host has a service for. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly #options: InputOptions;
  readonly #open = new Set<Cancellation>();
  #checks: FormChecks | undefined;
  #warned = false;

  constructor(options: InputOptions) {
    this.#options = options;
    const { services } = options;
    this.capabilities = {
      ...(services.listRoots ? { roots: {} } : {}),
      ...(services.elicit ? { elicitation: { form: {}, url: {} } } : {}),
      ...(services.createMessage ? { sampling: {} } : {}),
    };
  }

  offers(method: string): boolean {
    const { services } = this.#options;
    if (method === "roots/list") return services.listRoots !== undefined;
    if (method === "elicitation/create") return services.elicit !== undefined;
    return method === "sampling/createMessage" && services.createMessage !== undefined;
  }

  /**
   * Asks the host. Never rejects and never takes longer than `milliseconds`: what the host does not answer is declined, and
   * withdrawn from it. `caller` withdraws it earlier.
   */
  async ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    milliseconds: number,
    caller?: Cancellation,
  ): Promise<InputAnswer> {
    const given = new Cancellation();
    const release = caller?.onCancel(() => given.cancel());
    this.#open.add(given);
    // A question outside of any call is no reason for Node to stay alive.
    const callOff = alarm(milliseconds, () => given.cancel(), false);
    try {
      const late = new Promise<InputAnswer>((resolve) => {
        given.onCancel(() => resolve(unanswered(method, "The host did not answer in time")));
      });
      return sendable(await Promise.race([this.#dispatch(method, params, given), late]));
    } catch (error) {
      this.#warn(method, error);
      return unanswered(method, "The host could not answer");
    } finally {
      release?.();
      callOff();
      this.#open.delete(given);
      given.cancel();
    }
  }

  /** Cancels all open questions, since nobody waits for the answers any more. */
  withdraw(): void {
    for (const open of this.#open) open.cancel();
  }

  /** Warns the host's process only: the error may hold paths or keys of the host, and the server must not see it. */
  #warn(method: string, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning(`rpi-mcp-adapter: the host's answer to ${method} failed: ${reasonOf(error)}`);
  }

  async #dispatch(
    method: string,
    params: Readonly<Record<string, unknown>>,
    given: Cancellation,
  ): Promise<InputAnswer> {
    const { services, server, limits } = this.#options;
    const context = serverContext(server, this.#options, given.signal);
    if (method === "roots/list") {
      const roots = await services.listRoots?.(context);
      return Array.isArray(roots) ? { result: { roots: roots.filter(isRoot) } } : malformed("a list of roots");
    }
    if (method === "sampling/createMessage") {
      // Client, Sampling: tools must not be offered to a client that did not declare them.
      if (params["tools"] !== undefined || params["toolChoice"] !== undefined)
        return errorAnswer(INVALID_PARAMS, "This client does not support tools in sampling");
      const result = await services.createMessage?.({ ...params }, context);
      if (!isObject(result) || !(isObject(result["content"]) || Array.isArray(result["content"])))
        return malformed("a message");
      return { result: { role: "assistant", model: "unknown", ...result, content: plainest(result["content"]) } };
    }
    const { elicitation, FormChecks } = await import("./elicitation.ts");
    this.#checks ??= new FormChecks(limits);
    const ask = async (asked: Record<string, unknown>): Promise<ElicitResult | undefined> =>
      // Withdrawn before the host was asked, it would not be told of that.
      given.cancelled ? undefined : services.elicit?.(asked, context);
    return elicitation(params, ask, this.#checks);
  }
}

function isRoot(root: unknown): boolean {
  return isObject(root) && typeof root["uri"] === "string" && root["uri"].startsWith("file://");
}

/** A list of one block as that block: lists exist only from 2025-11-25 on, a single block in every revision. */
function plainest(content: unknown): unknown {
  return Array.isArray(content) && content.length === 1 ? content[0] : content;
}

/** @throws TypeError or RangeError where the host's answer has no JSON text. */
function sendable(answer: InputAnswer): InputAnswer {
  JSON.stringify(answer);
  return answer;
}

function unanswered(method: string, message: string): InputAnswer {
  if (method === "elicitation/create") return { result: { action: "cancel" } };
  return errorAnswer(INTERNAL_ERROR, message);
}

function malformed(what: string): InputAnswer {
  return errorAnswer(INTERNAL_ERROR, `The host did not give ${what}`);
}
