import type { Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { isObject, type JsonRpcErrorObject, URL_ELICITATION_REQUIRED } from "../protocol/jsonrpc.ts";
import type { InputPort } from "./input.ts";
import type { Answer, RequestOptions } from "./pending.ts";
import { QUESTION_SHARE } from "./questions.ts";
import { rpcError } from "./rpc-error.ts";
import type { Session } from "./session.ts";

export interface CallOptions extends RequestOptions {
  readonly timeoutMs: number;
  readonly totalMs: number;
}

/** A session, and the port through which the host answers its server's questions. */
export interface Conversation {
  readonly session: Session;
  readonly input: InputPort;
  readonly limits: Limits;
}

/**
 * Sends a request and gives its final result. Where the server answers that it needs input, the host is asked and the new
 * request that the server asked for is sent, with a new id and its exact state (Multi Round-Trip Requests).
 * @throws AdapterError `rpc_error` besides what `Session.request` throws.
 */
export function call(
  conversation: Conversation,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions,
  toolSchema?: unknown,
): Promise<unknown> {
  const { session } = conversation;
  const startedAt = clock.now();
  return session.request(method, params, options, toolSchema).then((answer) => {
    const outcome = "error" in answer ? undefined : session.dialect.decode(method, answer.result);
    if (outcome?.kind === "complete") return outcome.result;
    return rounds(conversation, { method, params, options, toolSchema, startedAt }, answer);
  });
}

/** A call whose first response was not its final result, with what is needed to send it again. */
interface Unfinished {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: CallOptions;
  readonly toolSchema: unknown;
  /** On `clock`. */
  readonly startedAt: number;
}

async function rounds(conversation: Conversation, unfinished: Unfinished, first: Answer): Promise<unknown> {
  const { session, limits } = conversation;
  const { method, params, options, toolSchema, startedAt } = unfinished;
  const left = (): number => options.totalMs - (clock.now() - startedAt);
  let answer = first;
  for (let round = 0; ; round++) {
    if ("error" in answer) {
      await showAddresses(conversation, answer.error, options);
      throw rpcError(session.server, method, answer.error, answer.status);
    }
    const outcome = session.dialect.decode(method, answer.result);
    if (outcome.kind === "complete") return outcome.result;
    if (outcome.kind === "invalid") {
      const { server } = session;
      throw new AdapterError("protocol.result", { server, method, reason: outcome.reason, outcomeUnknown: true });
    }
    if (round === limits.inputRounds)
      throw new AdapterError("limit.rounds", { server: session.server, method, limit: limits.inputRounds });
    const milliseconds = Math.min(options.timeoutMs, left() * QUESTION_SHARE);
    const inputResponses = await answers(conversation, method, outcome.requests, milliseconds, options.cancellation);
    if (options.cancellation?.cancelled) throw new AdapterError("cancelled", { server: session.server });
    const asked = {
      ...params,
      ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
      ...defined({ requestState: outcome.state }),
    };
    answer = await session.request(method, asked, { ...options, totalMs: left(), isContinuation: true }, toolSchema);
  }
}

/**
 * 2025-11-25, URL Elicitation Required: the person is shown where to go. The call failed all the same; it is not sent again
 * until somebody asks for it again.
 */
async function showAddresses(
  { input, limits }: Conversation,
  error: JsonRpcErrorObject,
  options: CallOptions,
): Promise<void> {
  const elicitations =
    error.code === URL_ELICITATION_REQUIRED && isObject(error.data) ? error.data["elicitations"] : undefined;
  if (!Array.isArray(elicitations) || !input.offers("elicitation/create")) return;
  const questions = elicitations.filter(isObject).slice(0, limits.openQuestions);
  await Promise.all(
    questions.map((question) =>
      input.ask("elicitation/create", { ...question, mode: "url" }, options.timeoutMs, options.cancellation),
    ),
  );
}

/** Asks the host all questions of an `input_required` result at once; its answers, by the server's own keys. */
async function answers(
  { session, input, limits }: Conversation,
  method: string,
  requests: Readonly<Record<string, unknown>>,
  milliseconds: number,
  cancellation: Cancellation | undefined,
): Promise<Record<string, unknown>> {
  const unusable = (reason: string): AdapterError =>
    new AdapterError("protocol.result", { server: session.server, method, reason });
  const entries = Object.entries(requests);
  if (entries.length > limits.openQuestions) throw unusable(`it asks ${entries.length} questions at once`);
  const quoted = (text: string): string => cut(JSON.stringify(text), limits.nameCharacters);
  // All are looked at before the first is asked: a person must not answer one whose answer cannot be sent.
  const questions = entries.map(([key, request]) => {
    const { method: asked, params } = isObject(request) ? request : {};
    if (typeof asked !== "string") throw unusable(`the question ${quoted(key)} names no method`);
    if (!input.offers(asked)) throw unusable(`it asks for ${quoted(asked)}, which was not offered`);
    return { key, asked, params };
  });
  const answered = await Promise.all(
    questions.map(async ({ key, asked, params }) => {
      const answer = await input.ask(asked, isObject(params) ? params : {}, milliseconds, cancellation);
      if ("result" in answer) return [key, answer.result] as const;
      // This revision has no way to answer a question with an error, except for a person's.
      if (asked === "elicitation/create") return [key, { action: "cancel" }] as const;
      throw unusable(`its question ${JSON.stringify(asked)} could not be answered (${answer.error.message})`);
    }),
  );
  return Object.fromEntries(answered);
}
