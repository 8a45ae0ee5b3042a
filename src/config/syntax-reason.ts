/** What word processors and chat programs make of `"`, and what other languages have in its place. */
const QUOTE = /['`\u00b4\u2018\u2019\u201a\u201c\u201d\u201e\u201f\u2032\u2033\u00ab\u00bb\uff02]/;
const DOUBLE_QUOTE = /[\u201c\u201d\u201e\u201f\u2033\uff02]/;
/** What pages have in place of a blank, or without a width. */
const BLANK = /[\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f\u2060\u3000\ufeff]/;
const CAPITAL = /^(?:true|false|null|none)\b/i;
/** Blanks and comments before anything else, looked for in as many characters. */
const BEFORE_CHARACTERS = 65_536;
const BEFORE = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/;

/**
 * Why a text is not JSON, as the end of a sentence, from the parser's name for it and where it is. Nothing of the text is quoted.
 */
export function syntaxReason(name: string, text: string, offset: number): string {
  if (text.trim() === "") return "it is empty";
  const rest = text.slice(offset, offset + 1000);
  const reason = REASONS[name] ?? name;
  if (name === "InvalidSymbol") {
    if (BLANK.test(rest.charAt(0))) return "a space of another kind, as web pages have; write a plain space";
    if (QUOTE.test(rest.charAt(0))) return 'a quote of another kind; names and strings are in "';
  }
  if (name === "UnexpectedEndOfString" && DOUBLE_QUOTE.test(rest.split("\n", 1).join()))
    return `${reason}: it ends in "`;
  // All that is read here are objects; a slash may be of a comment that was cut.
  const [first = "{"] = text.slice(0, BEFORE_CHARACTERS).replace(BEFORE, "");
  if (first !== "{" && first !== "/") return `${reason}; the file must begin with { and end with }`;
  if (name === "InvalidSymbol" && CAPITAL.test(rest)) return `${reason}; write true, false and null in lower case`;
  return reason;
}

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: "text that is not in double quotes",
  InvalidNumberFormat: "an unreadable number",
  PropertyNameExpected: "a name in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "a closing brace is expected",
  CloseBracketExpected: "a closing bracket is expected",
  EndOfFileExpected: "something follows its end",
  InvalidCommentToken: "a comment in the wrong place",
  UnexpectedEndOfComment: "a comment without an end",
  UnexpectedEndOfString: "a string without its closing quote",
  UnexpectedEndOfNumber: "an unreadable number",
  InvalidUnicode: "an unreadable \\u escape (a backslash itself is written twice)",
  InvalidEscapeCharacter: "an unknown escape in a string (a backslash itself is written twice)",
  InvalidCharacter: "a control character in a string",
};
