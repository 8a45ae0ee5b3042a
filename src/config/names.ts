/**
 * Gives names of other formats, which may hold anything, the characters ours may have. Two names that become equal are told
 * apart by a number; the same name always gets the same answer.
 */
export class PlainNames {
  readonly #plain = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(written: string): string {
    const known = this.#plain.get(written);
    if (known !== undefined) return known;
    const base = written.trim().replace(/[^A-Za-z0-9_-]+/g, "-");
    let plain = base;
    for (let number = 2; this.#taken.has(plain); number++) plain = `${base}-${number}`;
    this.#plain.set(written, plain);
    this.#taken.add(plain);
    return plain;
  }
}
