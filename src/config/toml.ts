import { AdapterError } from "../errors.ts";
import { assertShallow } from "./json.ts";

/** Reads TOML. The error does not quote the file. @throws AdapterError `config.syntax`, `config.shape` */
export async function parseToml(text: string, configPath: string): Promise<unknown> {
  const { parse, TomlError } = await import("smol-toml");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column, message } = error;
    // Only the first line: the ones below it quote the file.
    const reason = (message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "");
    throw new AdapterError("config.syntax", { configPath, reason, line, column, format: "TOML" });
  }
  assertShallow(value, configPath);
  return value;
}
