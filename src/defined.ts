type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The object without its undefined members: `exactOptionalPropertyTypes` lets optional members be absent only. It allocates twice; on
 * the path of a call a conditional spread is used instead.
 */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
