import { relative, sep } from "node:path";
import { homeFolder } from "../home-folder.ts";
import { quoteText } from "../remote-text.ts";

const CELL_CHARACTERS = 120;

/** The config file as a person would name it. */
export function sourceOf(configPath: unknown, cwd: string): string {
  if (typeof configPath !== "string") return "";
  const inside = relative(cwd, configPath);
  if (!inside.startsWith("..") && inside !== configPath) return quoteText(inside, CELL_CHARACTERS);
  const home = homeFolder();
  return quoteText(
    configPath.startsWith(home + sep) ? `~${configPath.slice(home.length)}` : configPath,
    CELL_CHARACTERS,
  );
}
