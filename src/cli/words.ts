import { defined } from "../defined.ts";
import { quote } from "../messages.ts";
import { type Options, saysServer } from "./options.ts";
import { usage } from "./usage.ts";

export interface Named {
  readonly server?: string;
  readonly name: string;
  readonly rest: readonly string[];
}

/** What can be the name of a tool, and neither JSON, nor a pair, nor a file. */
const BARE_WORD = /^[A-Za-z][\w./:-]*$/;

/** Splits `SERVER NAME REST...`, where SERVER may be said otherwise. @throws AdapterError `cli.usage` */
export function splitWords(command: string, what: string, words: readonly string[], options: Options): Named {
  const said = saysServer(options);
  const server = said ? undefined : words[0];
  const [name, ...rest] = said ? words : words.slice(1);
  const [first = ""] = rest;
  if (said && BARE_WORD.test(first)) {
    const where = options.url === undefined ? "the program after --" : "--url";
    throw usage(
      `${quote(first)} is not key=value, and ${quote(name ?? "")} was taken as ${what}: ${where} is the server`,
    );
  }
  if (server !== "" && name !== undefined && name !== "") return { ...defined({ server }), name, rest };
  throw usage(`${command} needs ${said ? what : `SERVER and ${what}`}`, `rpi-mcp ${command} --help tells more.`);
}

/** The one SERVER of a command, unless it is said otherwise. @throws AdapterError `cli.usage` */
export function oneServer(
  command: string,
  words: readonly string[],
  options: Options,
  optional = false,
): string | undefined {
  const [server, ...others] = words;
  if (server === "")
    throw usage(`${command} needs a SERVER that is not empty`, `rpi-mcp ${command} --help tells more.`);
  if (server !== undefined && saysServer(options))
    throw usage(`${command} takes either SERVER or ${options.url === undefined ? "-- PROGRAM" : "--url"}`);
  const narrower = command === "list" ? "--query WORDS or --tool NAME narrows what it shows. " : "";
  if (others.length > 0) throw usage(`${command} takes one SERVER`, `${narrower}rpi-mcp ${command} --help tells more.`);
  if (server === undefined && !saysServer(options) && !optional)
    throw usage(`${command} needs SERVER or --url URL`, "rpi-mcp list shows the servers.");
  return server;
}
