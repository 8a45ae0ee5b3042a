import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";
import { clock } from "./clock.ts";
import { Roster, type Rostered } from "./roster.ts";

/** Something with a deadline; told when it has come. */
export interface Deadline extends Rostered {
  /** Milliseconds, on `clock`. */
  dueAt: number;
  onDue(): void;
}

const MAX_DELAY_MS = 2_147_483_647;

/**
 * Many deadlines on one unref'd timer. Nearly every request ends long before its deadline, so setting and clearing one must be almost
 * free: the timer is re-armed only for an earlier deadline, and scans all entries when it fires.
 */
export class Deadlines {
  readonly #entries = new Roster<Deadline>();
  #timer: NodeJS.Timeout | undefined;
  #looking: NodeJS.Immediate | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** Sets the deadline of an entry, or moves it; `onDue` is called once then, unless it is cleared before. */
  set(entry: Deadline, milliseconds: number): void {
    entry.dueAt = clock.now() + Math.max(0, milliseconds);
    this.#entries.add(entry);
    if (entry.dueAt < this.#timerAt) this.#arm(entry.dueAt);
  }

  clear(entry: Deadline): void {
    this.#entries.delete(entry);
  }

  /** Drops every deadline, and the timer. */
  stop(): void {
    this.#entries.clear();
    this.#disarm();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#looking);
    this.#timer = undefined;
    this.#looking = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #arm(at: number): void {
    this.#disarm();
    this.#timerAt = at;
    const delay = Math.min(MAX_DELAY_MS, Math.max(1, Math.ceil(at - clock.now())));
    this.#timer = setTimeout(() => {
      const now = clock.now();
      // What came in time while the host was stopped (Ctrl-Z, sleep) or busy is read first: timers run before that.
      this.#looking = setImmediate(() => this.#look(now));
    }, delay);
    this.#timer.unref();
  }

  #look(now: number): void {
    this.#disarm();
    const due: Deadline[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries.all()) {
      if (entry.dueAt <= now) due.push(entry);
      else if (entry.dueAt < next) next = entry.dueAt;
    }
    if (next < this.#timerAt) this.#arm(next);
    for (const entry of due) {
      // The callback of an earlier entry may have cleared or moved this one.
      if (entry.place < 0 || entry.dueAt > now) continue;
      this.#entries.delete(entry);
      entry.onDue();
    }
  }
}
