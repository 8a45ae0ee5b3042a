/**
 * What the HTTP transport asks of the sign-in room: challenge in, headers out.
 *
 * The transport calls `headers` before every request to the resource, `observe` with every response's headers, and
 * `challenge` when a request was refused unexecuted; after it resolves, the refused request is sent once more, with
 * headers asked for anew. At most `Limits.authorizations` challenges are answered for one request.
 */
export interface Authorizer {
  /** Headers for the next request to the resource; renews what is about to expire. Empty where nothing is known yet. */
  headers(request: AuthorizedRequest, wait: Wait): Promise<Readonly<Record<string, string>>>;
  /**
   * Answers a 401, or a 403 with `insufficient_scope`, by authorizing anew.
   * Resolves when the refused request may be sent once more.
   * @throws AdapterError `auth_required` (a person is needed, or the sign-in failed), `cancelled`, or the signal's reason
   * where that is an AdapterError.
   */
  challenge(challenge: Challenge, signal: AbortSignal): Promise<void>;
  /**
   * Looks at a response for what the next request needs (a DPoP nonce), and whether its own token was accepted: a refusal
   * has the status 401, or carries `WWW-Authenticate`. `sent`: as in a challenge.
   */
  observe?(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    status: number,
    sent: Readonly<Record<string, string>>,
  ): void;
}

/** A source of an AbortSignal that is created on demand: creating one costs more than the rest of a request, and few requests need it. */
export interface Wait {
  readonly signal: AbortSignal;
}

export interface AuthorizedRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
}

export interface Challenge extends AuthorizedRequest {
  readonly status: 401 | 403;
  /** The `WWW-Authenticate` values, joined by commas; empty if there were none. */
  readonly wwwAuthenticate: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * What `headers` gave for the refused request, nothing if it was not asked: tells a token that was renewed meanwhile from
   * one that is no good.
   */
  readonly sent: Readonly<Record<string, string>>;
  /** The start of what the server said beside it, as one line. */
  readonly body?: string;
}
