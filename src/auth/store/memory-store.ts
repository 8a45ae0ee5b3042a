import { cancelledBy } from "../context.ts";
import { emptyRecord, isEmpty, type SignInRecord } from "./record.ts";
import type { Change, StoreDescription, TokenStore } from "./token-store.ts";

/** A store that ends with the process. */
export class MemoryStore implements TokenStore {
  readonly #records = new Map<string, SignInRecord>();
  readonly #queues = new Map<string, Promise<unknown>>();

  async read(url: string): Promise<SignInRecord> {
    return this.#records.get(url) ?? emptyRecord(url);
  }

  async update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T> {
    const before = this.#queues.get(url) ?? Promise.resolve();
    const turn = before.then(async () => {
      if (signal.aborted) throw cancelledBy(signal, url);
      const { value, record } = await change(await this.read(url));
      if (record !== undefined) this.put(record);
      return value;
    });
    const settled = turn.catch(() => undefined); // The next in the queue does not inherit a failure.
    this.#queues.set(url, settled);
    return await turn;
  }

  has(url: string): boolean {
    return this.#records.has(url);
  }

  put(record: SignInRecord): void {
    if (isEmpty(record)) this.#records.delete(record.url);
    else this.#records.set(record.url, record);
  }

  describe(): StoreDescription {
    return { kind: "memory" };
  }
}
