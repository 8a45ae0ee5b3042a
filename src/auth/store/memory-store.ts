import { Mutex } from "../../mutex.ts";
import { cancelledBy } from "../context.ts";
import { emptyRecord, isEmpty, type SignInRecord } from "./record.ts";
import type { Change, StoreDescription, TokenStore } from "./token-store.ts";

/** A store that ends with the process. */
export class MemoryStore implements TokenStore {
  readonly #records = new Map<string, SignInRecord>();
  readonly #locks = new Map<string, Mutex>();

  async read(url: string): Promise<SignInRecord> {
    return this.#records.get(url) ?? emptyRecord(url);
  }

  async update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T> {
    const lock = this.#locks.get(url) ?? new Mutex();
    this.#locks.set(url, lock);
    return await lock.run(async () => {
      if (signal.aborted) throw cancelledBy(signal, url);
      const { value, record } = await change(await this.read(url));
      if (record !== undefined) this.put(record);
      return value;
    });
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
