/**
 * Modules of Node that a usual call does without: to import them takes the first call a millisecond each, which
 * `node:util` spends on getters that load more.
 */
export function seldom<Id extends "node:os" | "node:util">(id: Id): ReturnType<typeof process.getBuiltinModule<Id>> {
  return process.getBuiltinModule(id);
}
