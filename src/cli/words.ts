import type { Options } from "./options.ts";
import { usage } from "./usage.ts";

export interface Named {
  readonly server?: string;
  readonly name: string;
  readonly rest: readonly string[];
}

/** Splits `SERVER NAME REST...`, where `--url` stands for SERVER. @throws AdapterError `cli.usage` */
export function splitWords(command: string, what: string, words: readonly string[], { url }: Options): Named {
  const server = url === undefined ? words[0] : undefined;
  const [name, ...rest] = url === undefined ? words.slice(1) : words;
  if (server !== "" && name !== undefined && name !== "")
    return { ...(server === undefined ? {} : { server }), name, rest };
  throw usage(
    `${command} needs ${url === undefined ? `SERVER and ${what}` : what}`,
    `rpi-mcp ${command} --help tells more.`,
  );
}

/** The one SERVER of a command, unless `--url` stands for it. @throws AdapterError `cli.usage` */
export function oneServer(
  command: string,
  words: readonly string[],
  { url }: Options,
  optional = false,
): string | undefined {
  const [server, ...others] = words;
  if (server === "") throw usage(`${command} takes no empty SERVER`, `rpi-mcp ${command} --help tells more.`);
  if (server !== undefined && url !== undefined) throw usage(`${command} takes either SERVER or --url`);
  const narrower = command === "list" ? "--query WORDS or --tool NAME narrows what it shows. " : "";
  if (others.length > 0) throw usage(`${command} takes one SERVER`, `${narrower}rpi-mcp ${command} --help tells more.`);
  if (server === undefined && url === undefined && !optional)
    throw usage(`${command} needs SERVER or --url URL`, "rpi-mcp list shows the servers.");
  return server;
}
