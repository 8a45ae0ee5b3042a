/** `unchecked`: the schema cannot be used (too large, too slow, of an unknown dialect, with remote references, invalid). */
export type Check =
  | { readonly kind: "match" }
  | { readonly kind: "mismatch"; readonly path: string; readonly reason: string }
  | { readonly kind: "unchecked"; readonly reason: string };
