import { defined } from "../defined.ts";
import { type Options, saysServer } from "./options.ts";
import { usage } from "./usage.ts";

export interface Named {
  readonly server?: string;
  readonly name: string;
  readonly rest: readonly string[];
}

/** Splits `SERVER NAME REST...`, where SERVER may be said otherwise. @throws AdapterError `cli.usage` */
export function splitWords(command: string, what: string, words: readonly string[], options: Options): Named {
  const said = saysServer(options);
  const server = said ? undefined : words[0];
  const [name, ...rest] = said ? words : words.slice(1);
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
  if (server === "") throw usage(`${command} takes no empty SERVER`, `rpi-mcp ${command} --help tells more.`);
  if (server !== undefined && saysServer(options))
    throw usage(`${command} takes either SERVER or ${options.url === undefined ? "-- PROGRAM" : "--url"}`);
  const narrower = command === "list" ? "--query WORDS or --tool NAME narrows what it shows. " : "";
  if (others.length > 0) throw usage(`${command} takes one SERVER`, `${narrower}rpi-mcp ${command} --help tells more.`);
  if (server === undefined && !saysServer(options) && !optional)
    throw usage(`${command} needs SERVER or --url URL`, "rpi-mcp list shows the servers.");
  return server;
}
