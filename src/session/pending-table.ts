import type { RequestId } from "../protocol/jsonrpc.ts";
import type { Raw } from "../transport/transport.ts";
import type { Pending } from "./pending.ts";

/** The requests on the wire, by id; those of them that ask for a page of a list are known apart. */
export class PendingTable {
  readonly #all = new Map<number, Pending>();
  readonly #lists = new Set<Pending>();
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#all.size;
  }

  values(): Iterable<Pending> {
    return this.#all.values();
  }

  add(pending: Pending): void {
    this.#all.set(pending.id, pending);
    if (pending.options.page !== undefined) this.#lists.add(pending);
  }

  /** Whether it was still on the wire. */
  delete(pending: Pending): boolean {
    if (pending.options.page !== undefined) this.#lists.delete(pending);
    const found = this.#all.delete(pending.id);
    if (this.#onEmpty !== undefined) this.#tellEmpty();
    return found;
  }

  /** Calls back once, when nothing is on the wire. */
  whenEmpty(listener: () => void): void {
    this.#onEmpty = listener;
    this.#tellEmpty();
  }

  #tellEmpty(): void {
    if (this.#all.size > 0) return;
    const listener = this.#onEmpty;
    this.#onEmpty = undefined;
    listener?.();
  }

  find(id: RequestId | null | undefined): Pending | undefined {
    if (typeof id === "number") return this.#all.get(id);
    // Some servers answer with the id as a string; only its canonical spelling is ours.
    if (typeof id === "string" && String(Number(id)) === id) return this.#all.get(Number(id));
    return undefined;
  }

  /** Settles the request for a page whose answer is, but for its id, the one of last time. Whether there was one. */
  settleUnchanged(raw: Raw): boolean {
    if (this.#lists.size === 0) return false;
    for (const pending of this.#lists) {
      const result = pending.options.page?.match(raw, pending.id);
      if (result === undefined) continue;
      this.delete(pending);
      pending.resolve({ result });
      return true;
    }
    return false;
  }

  /** Empties the table; the requests are the caller's to settle. */
  takeAll(): readonly Pending[] {
    const all = [...this.#all.values()];
    this.#all.clear();
    this.#lists.clear();
    this.#tellEmpty();
    return all;
  }
}
