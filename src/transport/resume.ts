import { clearTimeout, setTimeout } from "node:timers";
import type { Cancellation } from "../cancellation.ts";
import { AdapterError, isAdapterError, isSituation } from "../errors.ts";
import type { Situation } from "../messages.ts";
import type { HttpClient } from "./client.ts";
import type { HttpRequest } from "./pool.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { HttpResponse } from "./response.ts";

export interface ResumeRequest {
  readonly headers: readonly string[];
  readonly label: string;
  readonly cancel: Cancellation | undefined;
}

/**
 * Goes on reading a stream that ended before the answer came: GET with `Last-Event-ID`, never another POST
 * (Transports, Resumability and Redelivery). Resolves when the answer came.
 * A server may close it as often as it likes and be asked again at its own pace: the call has its deadline.
 * @throws AdapterError `auth_required`; `closed` after too many attempts in a row that failed, or ended without news where it set no pace; or when the server refuses.
 */
export async function resume(client: HttpClient, stream: ReplyStream, request: ResumeRequest): Promise<void> {
  const { resumeAttempts } = client.limits;
  let why = `${ENDED}, and it could not be resumed`;
  for (let attempts = 0; attempts < resumeAttempts && stream.lastEventId !== undefined; ) {
    await pause(client, stream.retryMs, request.cancel);
    stream.advanced = false;
    let isPolled = false;
    try {
      const outcome = await client.exchange(get(client, stream.lastEventId, request), (response) =>
        follow(response, stream, client),
      );
      if (outcome === "answered") return;
      if (outcome === "ended") isPolled = stream.isPaced;
      else {
        why = `${ENDED}, and the server does not resume it (HTTP ${outcome})`;
        if (outcome < 500 && !MAY_PASS.has(outcome)) break;
      }
    } catch (error) {
      // The connection failed or broke again, which is what resuming is for.
      if (!isSituation(error, "connect.failed") && !isSituation(error, "closed")) throw outcomeUnknown(error);
      why = `${error.details.reason}, and it could not be resumed`;
    }
    attempts = stream.advanced || isPolled ? 0 : attempts + 1;
  }
  throw lost(client, request, why);
}

const ENDED = "its event stream ended without the answer";
/** A server that has not noticed yet that the connection before is gone refuses another one with 409. */
const MAY_PASS: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** What became of one attempt. `ended`: without the answer, which may still come. A number: the status of what is no event stream. */
type Outcome = "answered" | "ended" | number;

async function follow(response: HttpResponse, stream: ReplyStream, client: HttpClient): Promise<Outcome> {
  if (response.ok && response.contentType === "text/event-stream")
    return (await stream.read(response)) ? "answered" : "ended";
  await response.skip(client.limits.refusalBytes, client.limits.lingerMs);
  return response.status;
}

/** What keeps the stream from being resumed refuses the stream, not the message, which was accepted: so does the want of a sign-in. */
function outcomeUnknown(error: unknown): unknown {
  if (!isAdapterError(error) || error.code !== "auth_required") return error;
  const facts = { ...error.details, outcomeUnknown: true };
  return new AdapterError<Situation>(error.situation, facts, { cause: error.cause ?? error });
}

function get(client: HttpClient, lastEventId: string, { headers, label, cancel }: ResumeRequest): HttpRequest {
  return { method: "GET", path: client.path, headers: [...headers, "Last-Event-ID", lastEventId], label, cancel };
}

function lost(client: HttpClient, { label: method }: ResumeRequest, reason: string): AdapterError {
  return new AdapterError("closed", { server: client.server, method, reason, outcomeUnknown: true });
}

function pause(client: HttpClient, milliseconds: number, cancel: Cancellation | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const { server, stopped } = client;
    const settle = (): void => {
      clearTimeout(timer);
      cancel?.delete(listener);
      stopped.removeEventListener("abort", settle);
      if (stopped.aborted) reject(new AdapterError("closed.stopped", { server, outcomeUnknown: true }));
      else if (cancel?.cancelled) reject(new AdapterError("cancelled", { server }));
      else resolve();
    };
    const listener = { onCancel: settle };
    const timer = setTimeout(settle, milliseconds);
    stopped.addEventListener("abort", settle);
    cancel?.add(listener);
    if (stopped.aborted) settle();
  });
}
