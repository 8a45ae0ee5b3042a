import { createRequire } from "node:module";

/**
 * Loads a built-in module synchronously, where it is first needed: a static import would cost every start of the program.
 * `createRequire` stands in for Node 21 and 22.0 to 22.2, which have no `process.getBuiltinModule`.
 */
export const builtin: typeof process.getBuiltinModule =
  process.getBuiltinModule ?? ((id: string): unknown => createRequire(import.meta.url)(id));
