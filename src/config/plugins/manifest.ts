import { AdapterError } from "../../errors.ts";
import { quote } from "../../messages.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import { PROBLEMS_TOLD } from "../candidate.ts";

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
/** Section 5.5: 1-64 characters, alphanumeric at both ends. */
const NAME = /^(?=.{1,64}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
const TEXTS = ["version", "description", "homepage", "repository", "license"];
const FIELDS = ["$schema", "name", ...TEXTS, "author", "keywords", "extensions"];

export interface Manifest {
  readonly name: string;
  /** What is reported but does not stop the plugin. */
  readonly notes: readonly AdapterError[];
}

/** Checks a `plugin.json` by Agent Plugins 1.0.0, section 5. @throws AdapterError `config.shape` where it is fatal. */
export function readManifest(value: unknown, configPath: string): Manifest {
  const shape = (reason: string): AdapterError => new AdapterError("config.shape", { configPath, reason });
  if (!isObject(value)) throw shape("must be an object");
  if (value.$schema !== SCHEMA) throw shape(`$schema must be "${SCHEMA}"; other versions are not supported`);
  const { name, author, keywords, extensions } = value;
  if (typeof name !== "string" || !NAME.test(name) || /--|\.\./.test(name)) {
    throw shape("name must have 1-64 characters a-z, 0-9, - and ., alphanumeric at both ends, without -- or .. in it");
  }
  for (const field of TEXTS) {
    if (value[field] !== undefined && typeof value[field] !== "string") throw shape(`${field} must be a string`);
  }
  if (author !== undefined) {
    const known = isObject(author) && Object.keys(author).every((key) => ["name", "email", "url"].includes(key));
    if (!known || !Object.values(author).every(isText))
      throw shape("author may hold only the strings name, email and url");
  }
  if (keywords !== undefined && !(Array.isArray(keywords) && keywords.every(isText))) {
    throw shape("keywords must be a list of strings");
  }
  const notes = Object.keys(value)
    .filter((key) => !FIELDS.includes(key))
    .slice(0, PROBLEMS_TOLD)
    .map((key) => shape(`${quote(key)} is not known; it is ignored`));
  if (extensions !== undefined && !isObject(extensions))
    notes.push(shape("extensions must be an object; it is ignored"));
  return { name, notes };
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}
