import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { ABI_VERSION } from "../contract.ts";
import { AdapterError, reasonOf } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";

/** Where an Agent Plugins manifest keeps what an rpi-style host needs. */
const EXTENSION = "io.github.pi-rust.rpi";

export interface Manifest {
  /** The module to import, absolute. */
  readonly entry: string;
}

/** Reads `plugin.json` of a plugin's folder. @throws AdapterError `config_error`. */
export async function readManifest(pluginDir: string): Promise<Manifest> {
  const path = join(pluginDir, "plugin.json");
  const bad = (reason: string, options?: ErrorOptions): AdapterError =>
    new AdapterError("config.shape", { configPath: path, reason }, options);
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw bad(`cannot be read (${reasonOf(error)}); a plugin is loaded by the folder that holds it`, { cause: error });
  }
  const extensions = isObject(manifest) ? manifest["extensions"] : undefined;
  const extension = isObject(extensions) ? extensions[EXTENSION] : undefined;
  if (!isObject(extension)) throw bad(`extensions["${EXTENSION}"] is missing: it is not a plugin for this host`);
  const { abiVersion, entry } = extension;
  if (abiVersion !== ABI_VERSION)
    throw bad(`its abiVersion is ${JSON.stringify(abiVersion)}; this host speaks ${ABI_VERSION}`);
  if (typeof entry !== "string" || isAbsolute(entry)) throw bad("its entry is not a path inside the plugin");
  const absolute = join(pluginDir, entry);
  if (relative(pluginDir, absolute).split(sep)[0] === "..") throw bad("its entry leads outside the plugin");
  return { entry: absolute };
}
