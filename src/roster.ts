/** The bookkeeping that a member holds for its roster; a member is in one roster at a time. */
export interface Rostered {
  /** Its place in the roster; -1 while it is in none. */
  place: number;
}

/**
 * An unordered set of members that know their own index (an intrusive set with swap-remove). Adding and removing allocate nothing. A
 * `Set` that is constantly filled and emptied leaves outgrown tables behind, which keep former members alive until the next full
 * garbage collection.
 */
export class Roster<T extends Rostered> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** A member stays where it is. */
  add(one: T): void {
    if (one.place >= 0) return;
    one.place = this.#members.length;
    this.#members.push(one);
  }

  delete(one: T): void {
    const { place } = one;
    if (place < 0) return;
    one.place = -1;
    const last = this.#members.pop();
    if (last === undefined || last === one) return;
    this.#members[place] = last;
    last.place = place;
  }

  /** A copy of the members, so that they may leave while it is walked. */
  all(): readonly T[] {
    return this.#members.slice();
  }

  clear(): void {
    for (const one of this.#members) one.place = -1;
    this.#members.length = 0;
  }
}
