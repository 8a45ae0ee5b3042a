type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Only those members that are not undefined: for objects whose optional members are there or absent. */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
