/**
 * Gives names of other formats, which may hold anything, the characters ours may have. Two names that become equal are told
 * apart by a number; the same name always gets the same answer.
 */
export class PlainNames {
  readonly #plain = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** Of a name that is taken: the number to try next. */
  readonly #numbers = new Map<string, number>();

  of(written: string): string {
    const known = this.#plain.get(written);
    if (known !== undefined) return known;
    const base = plainName(written);
    let plain = base;
    let number = this.#numbers.get(base) ?? 2;
    for (; this.#taken.has(plain); number++) plain = `${base}-${number}`;
    this.#numbers.set(base, number);
    this.#plain.set(written, plain);
    this.#taken.add(plain);
    return plain;
  }
}

/** A name with a `-` in place of what ours may not have. */
export function plainName(written: string): string {
  return written.trim().replace(/[^A-Za-z0-9_-]+/g, "-");
}
