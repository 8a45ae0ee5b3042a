import type { SignInRecord } from "./record.ts";

/** Where sign-ins are kept. One instance is shared by all authorizers of a plugin: they share what is in flight by it. */
export interface TokenStore {
  /** @throws AdapterError `auth.store`: unreadable, corrupt or not ours. */
  read(url: string): Promise<SignInRecord>;
  /**
   * Changes one record while no other process does. A returned `record` replaces the old one.
   * @throws AdapterError `auth.store`, `cancelled`, and what `change` throws.
   */
  update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T>;
  describe(): StoreDescription;
}

export type Change<T> = (record: SignInRecord) => Promise<{ readonly value: T; readonly record?: SignInRecord }>;

/**
 * As `update`, for a change that gives no value. Where `change` gives back the same record, nothing is written.
 * @throws AdapterError `auth.store`, `cancelled`.
 */
export async function amend(
  store: TokenStore,
  url: string,
  change: (record: SignInRecord) => SignInRecord,
  signal: AbortSignal,
): Promise<void> {
  const amended = async (record: SignInRecord): ReturnType<Change<undefined>> => {
    const changed = change(record);
    return { value: undefined, ...(changed === record ? {} : { record: changed }) };
  };
  await store.update(url, amended, signal);
}

export interface StoreDescription {
  readonly kind: "disk" | "memory";
  readonly folder?: string;
  /** Why sign-ins are kept in memory only, if they should be on disk. */
  readonly problem?: string;
}
