import { isResponse, type JsonRpcMessage } from "../protocol/jsonrpc.ts";
import type { Raw } from "../transport/transport.ts";
import type { Pending } from "./pending.ts";

const SLOTS_AT_FIRST = 16;

/**
 * The requests in flight, by id: a hash table without collisions. The low bits of an id are its slot, and ids whose slot is taken are
 * skipped, so that adding a request allocates nothing (see `Roster`). Requests for list pages are also kept in a list of their own.
 */
export class PendingTable {
  #slots: (Pending | undefined)[] = new Array<Pending | undefined>(SLOTS_AT_FIRST).fill(undefined);
  #size = 0;
  readonly #lists: Pending[] = [];
  #nextId: number;
  #calls = 0;

  /** Ids below `firstId` are not used. */
  constructor(firstId: number) {
    this.#nextId = firstId;
  }

  get size(): number {
    return this.#size;
  }

  /** How many requests in flight may have side effects. */
  get calls(): number {
    return this.#calls;
  }

  /** An id that was never used, whose slot is free. */
  newId(): number {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    while (this.#slots[this.#slotOf(this.#nextId)] !== undefined) this.#nextId++;
    return this.#nextId++;
  }

  /** Milliseconds until silence ends the last of those that have a deadline; 0 without any. */
  get longestMs(): number {
    let longest = 0;
    for (const { remainingMs } of this.all())
      if (Number.isFinite(remainingMs)) longest = Math.max(longest, remainingMs);
    return longest;
  }

  all(): readonly Pending[] {
    return this.#slots.filter((pending) => pending !== undefined);
  }

  /** Its id must be the newest of `newId`. */
  add(pending: Pending): void {
    this.#slots[this.#slotOf(pending.id)] = pending;
    this.#size++;
    if (pending.hasEffects) this.#calls++;
    if (pending.options.page !== undefined) this.#lists.push(pending);
  }

  /** Whether it was still on the wire. */
  delete(pending: Pending): boolean {
    const slot = this.#slotOf(pending.id);
    if (this.#slots[slot] !== pending) return false;
    this.#slots[slot] = undefined;
    this.#size--;
    if (pending.hasEffects) this.#calls--;
    if (pending.options.page !== undefined) this.#lists.splice(this.#lists.indexOf(pending), 1);
    return true;
  }

  find(id: unknown): Pending | undefined {
    const number = numberOf(id);
    if (number === undefined) return undefined;
    const pending = this.#slots[this.#slotOf(number)];
    return pending?.id === number ? pending : undefined;
  }

  /** Whether it is a response whose id belongs to no request that was ever sent. */
  isNobodys(message: JsonRpcMessage): boolean {
    if (!isResponse(message)) return false;
    const number = numberOf(message.id);
    return number === undefined || number <= 0 || number >= this.#nextId;
  }

  /** If the message is an unchanged list page, settles the request for it without parsing. Returns whether it was one. */
  settleUnchanged(raw: Raw): boolean {
    for (const pending of this.#lists) {
      const result = pending.options.page?.match(raw, pending.id);
      if (result === undefined) continue;
      this.delete(pending);
      pending.resolve({ result });
      return true;
    }
    return false;
  }

  /** Empties the table; the requests, oldest first, are the caller's to settle. */
  takeAll(): readonly Pending[] {
    const all = this.all().toSorted((a, b) => a.id - b.id);
    this.#slots.fill(undefined);
    this.#size = 0;
    this.#calls = 0;
    this.#lists.length = 0;
    return all;
  }

  #slotOf(id: number): number {
    return id & (this.#slots.length - 1);
  }

  #grow(): void {
    const all = this.all();
    this.#slots = new Array<Pending | undefined>(this.#slots.length * 2).fill(undefined);
    // Ids that differ in their last bits still do with one bit more.
    for (const pending of all) this.#slots[this.#slotOf(pending.id)] = pending;
  }
}

/** Some servers answer with the id as a string; only its canonical spelling is ours. */
function numberOf(id: unknown): number | undefined {
  const number = typeof id === "string" && String(Number(id)) === id ? Number(id) : id;
  return typeof number === "number" ? number : undefined;
}
