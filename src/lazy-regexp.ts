/**
 * A regular expression that is compiled on first use. For Unicode property classes: V8 parses every regular expression literal of a
 * file when it loads the file, and these take it a millisecond each.
 */
export function lazyRegExp(pattern: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(pattern, flags);
    return made;
  };
}
