import { lazyRegExp } from "../lazy-regexp.ts";

/** The words of prose, camelCase, snake_case and kebab-case alike, in their own case. */
export function words(text: string): readonly string[] {
  if (ASCII.test(text)) return text.match(ASCII_WORDS) ?? [];
  return text.match(wordsOfAnyScript()) ?? [];
}

// Dashes, quotes and ellipses belong to English texts too.
const ASCII = /^[\0-\x7f\u2000-\u206f]*$/;
const ASCII_WORDS = /[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+/g;
const wordsOfAnyScript = lazyRegExp("\\p{Lu}+(?!\\p{Ll})\\p{N}*|\\p{Lu}?(?:(?!\\p{Lu})[\\p{L}\\p{M}\\p{N}])+", "gu");

/** What the forms of an English word share, whatever their case: `creates`, `created`, `creating` and `creation` are `creat`. */
export function stem(word: string): string {
  const single = singular(word.toLowerCase());
  const bare = withoutEnding(single);
  return bare.length > 4 && bare.endsWith("e") ? bare.slice(0, -1) : bare;
}

function singular(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:sh|ch|ss|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}

function withoutEnding(word: string): string {
  if (word.length > 5 && word.endsWith("ing")) return undoubled(word.slice(0, -3));
  if (word.length > 4 && word.endsWith("ed")) return undoubled(word.slice(0, -2));
  if (word.length > 6 && word.endsWith("ion")) return word.slice(0, -3);
  if (word.length > 7 && word.endsWith("ment")) return word.slice(0, -4);
  return word;
}

function undoubled(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

/** Words that say nothing about which tool is meant. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the of to in at on for with from by into about as and or not no is are am be been was were has have had " +
    "do does did can could will would should may must my me i mine we us you your our he she it its they them their " +
    "this that these those there here some any all so if then than how what which who whom whose where when why " +
    "please let want need give use using tool"
  ).split(" "),
);

/** Verbs that leave everything as it is; nearly every server has tools for them. */
const READING = [
  "get read show list view fetch retrieve see display look describe inspect browse enumerate",
  "search find query lookup discover list",
];

/** Verbs; of one line, each may stand for each. What people write as two words is one here. */
const ACTIONS = [
  ...READING,
  "create add new make insert generate register initialize setup open",
  "create draw render",
  "create add store remember memorize",
  "create schedule book plan",
  "delete remove erase clear drop destroy forget cancel revoke",
  "update edit change modify set patch replace adjust configure",
  "write save store put",
  "run execute start launch trigger call invoke",
  "stop cancel abort end close pause terminate kill",
  "open navigate go visit",
  "copy duplicate clone",
  "move rename",
  "send post publish submit write",
  "reply answer respond",
  "connect link attach relate assign",
  "disconnect unlink detach unassign",
  "enable activate turnon switchon",
  "disable deactivate turnoff switchoff",
  "restart reboot rerun retry",
  "revert undo rollback restore recover reset",
  "check validate verify test lint",
  "compare diff difference",
  "convert transform translate",
  "calculate compute evaluate",
  "buy purchase order",
  "download export pull",
  "upload import push",
  "choose select pick switch use",
  "share grant invite",
  "fix repair",
  "explain analyze diagnose",
];

/** Other words; of one line, each may stand for each. */
const THINGS = [
  "folder directory dir path",
  "picture image photo img",
  "media asset",
  "email mail mailbox inbox",
  "website site webpage",
  "web internet url",
  "page url",
  "page article document",
  "shop store",
  "server machine vm vps instance host",
  "log output",
  "comment note",
  "repository repo",
  "document doc documentation",
  "setting config configuration option preference",
  "database db",
  "environment env",
  "javascript js",
  "typescript ts",
  "kubernetes k8s",
  "user member account people person",
  "contact person people customer",
  "customer client",
  "team group organization",
  "channel room chat conversation",
  "spreadsheet sheet worksheet workbook",
  "chart graph diagram plot",
  "message msg",
  "command cmd",
  "application app",
  "issue ticket bug",
  "error exception failure",
  "event meeting appointment",
  "sprint cycle iteration",
  "invoice bill",
  "discount coupon",
  "price cost",
  "payment charge",
  "rule filter",
  "label tag",
  "state status",
  "metric statistic usage stat",
  "record row",
  "certificate ssl tls",
  "key secret token credential",
  "authentication auth login signin",
  "location place address position",
  "route direction",
  "text content",
  "summary report",
];

/** Words that often stand for this one; both as stems. */
export function synonymsOf(root: string): ReadonlySet<string> {
  const synonyms = new Set<string>();
  for (const line of [...linesWith(root, ACTIONS), ...linesWith(root, THINGS)])
    for (const word of line) synonyms.add(stem(word));
  synonyms.delete(root);
  return synonyms;
}

/** Whether the stem is that of a verb. */
export function isAction(root: string): boolean {
  return linesWith(root, ACTIONS).length > 0;
}

/** Whether it is that of a verb that leaves everything as it is. */
export function isReading(root: string): boolean {
  return linesWith(root, READING).length > 0;
}

/** Looks only at words that begin like the stem: to make all stems at once took most of the time of a first search. */
function linesWith(root: string, lines: readonly string[]): (readonly string[])[] {
  const start = root.slice(0, KEPT_LETTERS);
  return lines
    .filter((line) => line.includes(start))
    .map((line) => line.split(" "))
    .filter((line) => line.some((word) => word.startsWith(start) && stem(word) === root));
}

/** Every stem begins with so many letters of its word. */
const KEPT_LETTERS = 2;
