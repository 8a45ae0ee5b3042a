import { alarm } from "./alarm.ts";
import { clock } from "./clock.ts";

/**
 * Suspends the deadlines of a connection's requests while a person signs in; they start over when the sign-in has ended.
 */
export class PersonWait {
  #waiting = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  /** The message for callers that join the wait later; undefined until it is known what is waited for. */
  said: string | undefined;

  /** How often a person was asked to sign in since the connection was last unused. */
  asked = 0;

  /** Begins a wait; the returned function ends it, once. */
  begin(): () => void {
    this.#waiting++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#waiting--;
      if (this.#waiting === 0) this.said = undefined;
      this.#endedAt = clock.now();
    };
  }

  /** Milliseconds that a deadline of `timeoutMs`, which has come, has to be put off; 0 if it stands. */
  putOff(timeoutMs: number): number {
    if (this.#waiting > 0) return timeoutMs;
    return Math.max(0, this.#endedAt + timeoutMs - clock.now());
  }

  /** A timeout that is suspended with the wait. The returned function cancels it. */
  alarm(timeoutMs: number, work: () => void): () => void {
    const onDue = (): void => {
      const more = this.putOff(timeoutMs);
      if (more > 0) callOff = alarm(more, onDue);
      else work();
    };
    let callOff = alarm(timeoutMs, onDue);
    return () => callOff();
  }
}
