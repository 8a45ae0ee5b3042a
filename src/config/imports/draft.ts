import { isAbsolute, resolve } from "node:path";
import { defined } from "../../defined.ts";
import { LIMITS } from "../../limits.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import { literal } from "../expand.ts";
import type { Json } from "../json.ts";
import type { Flaw } from "../shape.ts";
import { withoutNulls } from "../spelling.ts";
import type { ImportedServer } from "./dialect.ts";
import type { Placeholders } from "./placeholders.ts";

/** One server on its way into our format. Remembers the first thing that cannot be brought over. */
export class Draft {
  readonly #raw: Record<string, unknown> = {};
  readonly #source: Json;
  readonly #placeholders: Placeholders;
  #flaw: Flaw | undefined;

  constructor(source: Json, placeholders: Placeholders) {
    this.#source = source;
    this.#placeholders = placeholders;
  }

  /** Takes fields over under their own names, the placeholders in their texts translated. */
  copy(...fields: readonly string[]): this {
    for (const field of fields) this.set(field, this.#source[field]);
    return this;
  }

  /** Sets a field from a value of the other tool; nothing happens for an absent one. */
  set(field: string, value: unknown): this {
    if (value !== undefined) this.#raw[field] = this.#translate(value, field);
    return this;
  }

  /** Sets a field that is in our format already. */
  put(field: string, value: unknown): this {
    if (value !== undefined) this.#raw[field] = value;
    return this;
  }

  /** Adds headers whose values are in our format already. */
  addHeaders(headers: Iterable<readonly [name: string, value: string]>): this {
    const before = this.#raw.headers;
    const all = [...Object.entries(isObject(before) ? before : {}), ...headers];
    if (all.length > 0) this.#raw.headers = Object.fromEntries(all);
    return this;
  }

  /** The working directory; a relative one starts at the host's. */
  folder(cwd: string): this {
    this.copy("cwd");
    const { cwd: path } = this.#raw;
    if (typeof path === "string" && path !== "" && !isAbsolute(path) && !/^(\$\{|~)/.test(path)) {
      this.#raw.cwd = resolve(literal(cwd), path);
    }
    return this;
  }

  /** A time in seconds (or thousandths), kept within what an entry may say. */
  time(value: unknown, perSecond: 1 | 1000 = 1): this {
    if (typeof value !== "number" || !(value > 0)) return this;
    const { minTimeoutSeconds, maxTimeoutSeconds } = LIMITS;
    return this.put("timeout", Math.min(maxTimeoutSeconds, Math.max(minTimeoutSeconds, value / perSecond)));
  }

  /** Refuses the server if the field is set to something that cannot be done here. */
  unsupported(field: string, reason: string): this {
    const value = this.#source[field];
    return value === undefined || value === false ? this : this.refuse(field, reason);
  }

  refuse(field: string, reason: string): this {
    this.#flaw ??= { field, reason };
    return this;
  }

  as(name: string): ImportedServer {
    return { name, raw: this.#raw, ...defined({ flaw: this.#flaw }) };
  }

  #translate(value: unknown, field: string): unknown {
    if (typeof value === "string") {
      const text = this.#placeholders(value);
      if (typeof text === "string") return text;
      this.refuse(field, text.refused);
      return value;
    }
    if (Array.isArray(value)) return value.map((item, at) => this.#translate(item, `${field}[${at}]`));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#translate(item, `${field}.${key}`)]),
    );
  }
}

/** The entries of a field that holds servers by name; an entry that is no object is given as an empty one. */
export function* serversIn(value: unknown): Iterable<readonly [name: string, server: Json]> {
  if (!isObject(value)) return;
  for (const [name, server] of Object.entries(value)) yield [name, isObject(server) ? withoutNulls(server) : {}];
}
