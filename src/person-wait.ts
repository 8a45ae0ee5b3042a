import { alarm } from "./alarm.ts";
import { clock } from "./clock.ts";

/**
 * Says whether a connection waits for a person who signs in. That time is the person's: deadlines of requests on the
 * connection do not run meanwhile, and begin anew afterwards.
 */
export class PersonWait {
  #waiting = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  /** What whoever comes to wait as well is told, once it is known. */
  said: string | undefined;

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

  /** Does the work after so many milliseconds, not counting the time a person takes. The returned function cancels it. */
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
