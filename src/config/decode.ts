import { AdapterError } from "../errors.ts";

/** The text of a config file's bytes, without a byte order mark. @throws AdapterError `config.unreadable` */
export function decode(bytes: Buffer, configPath: string, maxBytes: number): string {
  const refuse = (reason: string): AdapterError => new AdapterError("config.unreadable", { configPath, reason });
  if (bytes.length > maxBytes) throw refuse(`it has more than ${maxBytes} bytes`);
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw refuse("it is written in UTF-16; save it as UTF-8");
  }
  if (bytes.includes(0)) throw refuse("it is a binary file");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse("it is not UTF-8 text"); // The only thing a fatal decoder throws for.
  }
}
