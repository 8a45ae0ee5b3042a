import { readFile } from "node:fs/promises";
import { type FoundImport, toOurFormat } from "../config/imports/find.ts";
import { parseJson, setMember } from "../config/json.ts";
import { maskedArguments, maskedText, maskedUrl } from "../config/written-secrets.ts";
import { AdapterError, reasonOf } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";

/** What an import would make of one of our own files. */
export interface Plan {
  readonly path: string;
  readonly added: readonly string[];
  /** There already, and replaced. */
  readonly replaced: readonly string[];
  /** There already, and left alone. */
  readonly kept: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Both as they may be shown: what looks like a secret is masked. */
  readonly shown: { readonly before: string; readonly after: string };
}

const EMPTY = '{\n  "mcpServers": {}\n}\n';

/**
 * Plans the import of found servers into one file. Of equal names the last counts, as in `imports`; what the file has
 * already is left alone unless `overwrite` says otherwise.
 * @throws AdapterError `config_error` where the file cannot be read.
 */
export async function planImport(path: string, found: readonly FoundImport[], overwrite: boolean): Promise<Plan> {
  const { mcpServers } = toOurFormat(found.flatMap((file) => file.servers));
  const servers = new Map(Object.entries(mcpServers));
  const before = await existing(path);
  const document = before === "" ? {} : await parseJson(before, path);
  if (!isObject(document)) throw new AdapterError("config.shape", { configPath: path, reason: "must be an object" });
  const known = isObject(document["mcpServers"]) ? document["mcpServers"] : {};
  const names = [...servers.keys()];
  const added = names.filter((name) => !Object.hasOwn(known, name));
  const replaced = overwrite
    ? names.filter((name) => Object.hasOwn(known, name) && !same(known[name], servers.get(name)))
    : [];
  const kept = names.filter((name) => !added.includes(name) && !replaced.includes(name));
  const edit = async (shown: (raw: unknown) => unknown): Promise<string> => {
    if (added.length + replaced.length === 0) return before;
    let text = before === "" ? EMPTY : before;
    for (const name of [...added, ...replaced].reverse())
      text = await setMember(text, ["mcpServers", name], shown(servers.get(name)));
    return text;
  };
  const after = await edit((raw) => raw);
  return {
    path,
    added,
    replaced,
    kept,
    before,
    after,
    shown: { before: maskedText(before), after: maskedText(await edit(masked)) },
  };
}

async function existing(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new AdapterError("config.unreadable", { configPath: path, reason: reasonOf(error) }, { cause: error });
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An entry with the secrets in its arguments and its address masked; those with a name are masked in the text. */
export function masked(raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const { args, url } = raw;
  return {
    ...raw,
    ...(Array.isArray(args) ? { args: maskedArguments(args.map(String)) } : {}),
    ...(typeof url === "string" ? { url: maskedUrl(url) } : {}),
  };
}
