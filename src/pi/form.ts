import type { ElicitResult } from "../contract.ts";
import { LIMITS } from "../limits.ts";
import { type Choice, choicesOf as namedChoices } from "../protocol/choices.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText } from "../remote-text.ts";
import { checkAgainst } from "../validation/validator.ts";
import type { Dialogs } from "./dialogs.ts";

/** Times a field is asked again after an answer that does not fit. */
const ATTEMPTS = 3;
const MESSAGE_CHARACTERS = 2000;
const LABEL_CHARACTERS = 300;
const SKIP = "(leave out)";
const DONE = "(done)";

export interface FormOptions {
  readonly server: string;
  readonly dialogs: Dialogs;
  readonly signal: AbortSignal;
}

type Schema = Readonly<Record<string, unknown>>;
type Asked = { readonly value: unknown } | "left out" | "dismissed";

/** One elicitation as dialogs: a field after the other. A dialog that is dismissed cancels the whole. */
export async function askPerson(
  params: Readonly<Record<string, unknown>>,
  options: FormOptions,
): Promise<ElicitResult> {
  const message = typeof params["message"] === "string" ? quoteText(params["message"], MESSAGE_CHARACTERS) : "";
  if (params["mode"] === "url") return visit(String(params["url"]), message, options);
  const schema = isObject(params["requestedSchema"]) ? params["requestedSchema"] : {};
  const fields = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {});
  const { server, dialogs, signal } = options;
  const head = `MCP server ${JSON.stringify(server)} asks: ${message}`;
  if (fields.length === 0)
    return { action: (await dialogs.confirm(head, "", signal)) ? "accept" : "decline", content: {} };
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const content: [string, unknown][] = [];
  for (const [name, property] of fields) {
    const field = isObject(property) ? property : {};
    const asked = await new Field({ name, schema: field, isRequired: required.includes(name), head, options }).ask();
    if (asked === "dismissed") return { action: "cancel" };
    if (asked !== "left out") content.push([name, asked.value]);
  }
  return { action: "accept", content: Object.fromEntries(content) };
}

/** The person sees the whole address before anything is opened (Client, Elicitation, URL mode). */
async function visit(url: string, message: string, { server, dialogs, signal }: FormOptions): Promise<ElicitResult> {
  const title = `MCP server ${JSON.stringify(server)} asks you to open ${hostOf(url)}: ${message}`;
  if (!(await dialogs.confirm(title, url, signal))) return { action: "decline" };
  const { openInBrowser } = await import("./browser.ts");
  if (!(await openInBrowser(url))) dialogs.notify(`Open this page in your browser: ${url}`, "info");
  return { action: "accept" };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "a page";
}

interface FieldOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly head: string;
  readonly options: FormOptions;
}

/** One property of the requested schema: a string, a number, a boolean, or a choice of one or several. */
class Field {
  readonly #schema: Schema;
  readonly #mayBeLeftOut: boolean;
  readonly #title: string;
  readonly #options: FormOptions;

  constructor({ name, schema, isRequired, head, options }: FieldOptions) {
    this.#schema = schema;
    // What is left out and has a default gets it.
    this.#mayBeLeftOut = !isRequired || schema["default"] !== undefined;
    this.#options = options;
    const { title, description, default: preset } = schema;
    const label = typeof title === "string" ? title : name;
    const about = typeof description === "string" ? ` (${description})` : "";
    const filled = preset === undefined ? "" : ` [${JSON.stringify(preset)}]`;
    this.#title = `${head}\n${quoteText(`${label}${about}${filled}`, LABEL_CHARACTERS)}`;
  }

  async ask(): Promise<Asked> {
    let problem = "";
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const asked = await this.#once(problem);
      if (asked === "dismissed" || asked === "left out") return asked;
      const check = await checkAgainst(this.#schema, asked.value, LIMITS);
      if (check.kind !== "mismatch") return asked;
      problem = `\nThat does not fit: it ${check.reason}.`;
    }
    return "dismissed";
  }

  #once(problem: string): Promise<Asked> {
    const title = `${this.#title}${problem}`;
    const choices = choicesOf(this.#schema);
    if (this.#schema["type"] === "array")
      return this.#several(title, choicesOf(isObject(this.#schema["items"]) ? this.#schema["items"] : {}) ?? []);
    return choices === undefined ? this.#typed(title) : this.#one(title, choices);
  }

  async #one(title: string, choices: readonly Choice[]): Promise<Asked> {
    const { dialogs, signal } = this.#options;
    const labels = choices.map(({ label }) => label);
    const chosen = await dialogs.select(title, this.#mayBeLeftOut ? [...labels, SKIP] : labels, signal);
    if (chosen === SKIP) return "left out";
    return choices.find(({ label }) => label === chosen) ?? "dismissed";
  }

  /** A choice after the other, until the person is done. */
  async #several(title: string, choices: readonly Choice[]): Promise<Asked> {
    const { dialogs, signal } = this.#options;
    const picked = new Set<Choice>();
    for (;;) {
      const shown = new Map<string, Choice>(
        choices.map((choice) => [`${picked.has(choice) ? "[x]" : "[ ]"} ${choice.label}`, choice]),
      );
      const chosen = await dialogs.select(title, [...shown.keys(), DONE], signal);
      if (chosen === undefined) return "dismissed";
      const choice = shown.get(chosen);
      if (choice === undefined)
        return picked.size === 0 && this.#mayBeLeftOut
          ? "left out"
          : { value: choices.filter((each) => picked.has(each)).map(({ value }) => value) };
      if (!picked.delete(choice)) picked.add(choice);
    }
  }

  async #typed(title: string): Promise<Asked> {
    const { dialogs, signal } = this.#options;
    const { type, format } = this.#schema;
    const text = await dialogs.input(title, typeof format === "string" ? format : "", signal);
    if (text === undefined) return "dismissed";
    if (text === "" && this.#mayBeLeftOut) return "left out";
    const isNumber = type === "number" || type === "integer";
    return { value: isNumber && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text };
  }
}

/** The choices of a boolean or an enumeration; `undefined` where anything can be typed. */
function choicesOf(schema: Schema): readonly Choice[] | undefined {
  if (schema["type"] === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  return namedChoices(schema)?.map(({ label, value }) => ({ label: quoteText(label, LABEL_CHARACTERS), value }));
}
