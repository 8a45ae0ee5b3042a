import { createRequire } from "node:module";

/**
 * Looks a module of Node's up: less work than an import, for what hardly anybody needs. Node 21 and 22.0 to 22.2 have no function for
 * it.
 */
export const builtin: typeof process.getBuiltinModule =
  process.getBuiltinModule ?? ((id: string): unknown => createRequire(import.meta.url)(id));
