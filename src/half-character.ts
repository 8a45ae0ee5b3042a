/** Whether a UTF-16 unit is the first half of a character. */
export function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The text without a lone high surrogate at its end: half of a character that was cut. */
export function withoutHalfCharacter(text: string): string {
  return isFirstHalf(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
}
