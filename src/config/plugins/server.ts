import { resolve } from "node:path";
import { isObject } from "../../protocol/jsonrpc.ts";
import { isLoopback } from "../../web-address.ts";
import { literal } from "../expand.ts";
import type { Json } from "../json.ts";
import type { Refuse } from "../refuse.ts";
import { isInside } from "./contain.ts";

/** The folders of one installed plugin, absolute and without links. */
export interface PluginFolders {
  readonly root: string;
  readonly data: string;
}

const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  stdio: ["type", "command", "args", "env", "cwd"],
  "streamable-http": ["type", "url", "headers"],
  sse: ["type", "url", "headers"],
};
const RESERVED = ["PLUGIN_ROOT", "PLUGIN_DATA"];
/** Of a program or a folder: a file may name one of megabytes, and each folder on the way is looked for. */
const PATH_CHARACTERS = 4096;
/** The first segment decides: a bare name, or a path from the plugin root. */
const BARE = /^[^/\\]+$/;
const ROOTED = /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/;

/** Brings a server of a plugin's `mcp.json` into our format, by Agent Plugins 1.0.0, section 7.2.1. @throws AdapterError `config.entry` */
export function readPluginServer(value: unknown, folders: PluginFolders, refuse: Refuse): Json {
  if (!isObject(value)) throw refuse("", "must be an object");
  const { type } = value;
  const fields = typeof type === "string" && Object.hasOwn(VARIANTS, type) ? VARIANTS[type] : undefined;
  if (fields === undefined) throw refuse("type", 'must be "stdio", "streamable-http" or "sse"');
  for (const key of Object.keys(value))
    if (!fields.includes(key)) throw refuse(key, `is not a field of a "${String(type)}" server`);
  return type === "stdio" ? program(value, folders, refuse) : remote(value, refuse);
}

function program(value: Json, folders: PluginFolders, refuse: Refuse): Json {
  const { command, args = [], cwd } = value;
  if (typeof command !== "string" || command === "") throw refuse("command", "must be a string that is not empty");
  if (!Array.isArray(args) || !args.every((item) => typeof item === "string"))
    throw refuse("args", "must be a list of strings");
  const env = texts(value.env, "env", refuse);
  for (const [name] of env) if (RESERVED.includes(name)) throw refuse(`env.${name}`, "is set by the client");
  const expand = (text: string): string => literal(expandPlaceholders(text, folders));
  return {
    type: "stdio",
    command: literal(commandOf(command, folders, refuse)),
    args: args.map(expand),
    env: Object.fromEntries([
      ...env.map(([name, text]) => [name, expand(text)] as const),
      ["PLUGIN_ROOT", literal(folders.root)],
      ["PLUGIN_DATA", literal(folders.data)],
    ]),
    cwd: literal(cwd === undefined ? folders.root : workingFolder(cwd, folders, refuse)),
  };
}

function commandOf(command: string, { root }: PluginFolders, refuse: Refuse): string {
  if (BARE.test(command) && command !== ".." && command !== ".") return command;
  if (!command.startsWith("./")) throw refuse("command", 'must be a bare name or a path that begins with "./"');
  const path = pathOf(root, command, "command", refuse);
  if (!isInside(root, path)) throw refuse("command", "lies outside the plugin");
  return path;
}

function workingFolder(cwd: unknown, { root, data }: PluginFolders, refuse: Refuse): string {
  if (typeof cwd !== "string" || !ROOTED.test(cwd)) {
    throw refuse("cwd", 'must begin with "./", "${PLUGIN_ROOT}" or "${PLUGIN_DATA}"');
  }
  const path = pathOf(root, expandPlaceholders(cwd, { root, data }), "cwd", refuse);
  const base = cwd.startsWith("${PLUGIN_DATA}") ? data : root;
  if (!isInside(base, path)) throw refuse("cwd", "lies outside the plugin's folders");
  return path;
}

function pathOf(root: string, written: string, field: string, refuse: Refuse): string {
  const path = resolve(root, written);
  if (path.length > PATH_CHARACTERS) throw refuse(field, `is longer than ${PATH_CHARACTERS} characters`);
  return path;
}

/** Section 9.2: one pass, these two only. */
function expandPlaceholders(text: string, { root, data }: PluginFolders): string {
  return text.replace(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which) => (which === "ROOT" ? root : data));
}

function remote(value: Json, refuse: Refuse): Json {
  const { type, url } = value;
  if (typeof url !== "string" || url === "") throw refuse("url", "must be a string that is not empty");
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw refuse("url", "is not a valid address");
  if (url.includes("#")) throw refuse("url", "must not have a fragment");
  if (parsed.protocol === "http:" && !isLoopback(parsed)) throw refuse("url", "must be https, except on this machine");
  const headers = texts(value.headers, "headers", refuse).map(([name, text]) => [name, literal(text)] as const);
  return { type, url: literal(url), headers: Object.fromEntries(headers) };
}

function texts(value: unknown, field: string, refuse: Refuse): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (!isObject(value)) throw refuse(field, "must be an object of strings");
  return Object.entries(value).map(([name, text]) => {
    if (typeof text !== "string") throw refuse(`${field}.${name}`, "must be a string");
    return [name, text] as const;
  });
}
