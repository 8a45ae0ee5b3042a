/**
 * A regular expression that is made when it is first used. For classes of characters of all scripts: V8 reads every literal
 * of a file that it loads, and those take it a millisecond each.
 */
export function lazyRegExp(pattern: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(pattern, flags);
    return made;
  };
}
