import type { ElicitResult } from "../contract.ts";
import { LIMITS } from "../limits.ts";
import { type Choice, choicesOf as namedChoices, textOf } from "../protocol/choices.ts";
import { isOfFormat } from "../protocol/formats.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteOpenly, quoteText } from "../remote-text.ts";
import { checkAgainst } from "../validation/validator.ts";
import { deceptionIn } from "../web-address.ts";
import type { Dialogs } from "./dialogs.ts";

/** Times a field is asked again after an answer that does not fit. */
const ATTEMPTS = 3;
const MESSAGE_CHARACTERS = 2000;
const LABEL_CHARACTERS = 300;
const ANSWER_CHARACTERS = 300;
const SKIP = "(leave out)";
const LEFT_OUT = "(left out)";
const DONE = "(done)";
const SEND = "Send";
const DECLINE = "Decline";
const REVIEW = "Your answers (choose one to change it):";

export interface FormOptions {
  readonly server: string;
  readonly dialogs: Dialogs;
  readonly signal: AbortSignal;
}

type Schema = Readonly<Record<string, unknown>>;
type Answer = { readonly value: unknown; readonly label?: string } | "left out";
type Asked = Answer | "dismissed";

/**
 * One elicitation as dialogs: a field after the other, then all answers, of which any can be changed before they are sent or
 * declined. A dialog that is dismissed cancels the whole.
 */
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
  const form: Answered[] = [];
  for (const [name, property] of fields) {
    const definition = isObject(property) ? property : {};
    const field = new Field({ name, schema: definition, isRequired: required.includes(name), head, options });
    const answer = await field.ask();
    if (answer === "dismissed") return { action: "cancel" };
    form.push({ name, field, answer });
  }
  return reviewed(form, head, options);
}

interface Answered {
  readonly name: string;
  readonly field: Field;
  answer: Answer;
}

async function reviewed(
  form: readonly Answered[],
  head: string,
  { dialogs, signal }: FormOptions,
): Promise<ElicitResult> {
  for (;;) {
    const lines = form.map(({ field, answer }, at) => `${at + 1}. ${field.withAnswer(answer)}`);
    const chosen = await dialogs.select(`${head}\n${REVIEW}`, [SEND, ...lines, DECLINE], signal);
    if (chosen === DECLINE) return { action: "decline" };
    if (chosen === SEND) return { action: "accept", content: contentOf(form) };
    const changed = chosen === undefined ? undefined : form[lines.indexOf(chosen)];
    const answer = (await changed?.field.ask()) ?? "dismissed";
    if (changed === undefined || answer === "dismissed") return { action: "cancel" };
    changed.answer = answer;
  }
}

function contentOf(form: readonly Answered[]): Record<string, unknown> {
  return Object.fromEntries(form.flatMap(({ name, answer }) => (answer === "left out" ? [] : [[name, answer.value]])));
}

/** The person sees the whole address before anything is opened (Client, Elicitation, URL mode). */
async function visit(url: string, message: string, { server, dialogs, signal }: FormOptions): Promise<ElicitResult> {
  if (!URL.canParse(url)) return { action: "decline" };
  const page = new URL(url);
  const warning = deceptionIn(page);
  const title = `MCP server ${JSON.stringify(server)} asks you to open ${page.host}: ${message}`;
  const address = warning === undefined ? page.href : `${page.href}\n${warning}`;
  if (!(await dialogs.confirm(title, address, signal))) return { action: "decline" };
  const { openInBrowser } = await import("./browser.ts");
  if (!(await openInBrowser(page.href))) dialogs.notify(`Open this page in your browser: ${page.href}`, "info");
  return { action: "accept" };
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
  readonly #label: string;
  readonly #title: string;
  readonly #options: FormOptions;

  constructor({ name, schema, isRequired, head, options }: FieldOptions) {
    this.#schema = schema;
    // What is left out and has a default gets it.
    this.#mayBeLeftOut = !isRequired || schema["default"] !== undefined;
    this.#options = options;
    const { title, description, default: preset } = schema;
    this.#label = typeof title === "string" ? title : name;
    const about = typeof description === "string" ? ` (${description})` : "";
    // Cut apart: however much is said of the field, what is sent for it is seen.
    const filled = preset === undefined ? "" : ` [${quoteOpenly(JSON.stringify(preset), ANSWER_CHARACTERS)}]`;
    this.#title = `${head}\n${quoteText(`${this.#label}${about}`, LABEL_CHARACTERS)}${filled}`;
  }

  async ask(): Promise<Asked> {
    let problem = "";
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const asked = await this.#once(problem);
      if (asked === "dismissed" || asked === "left out") return asked;
      const check = await checkAgainst(this.#schema, asked.value, LIMITS);
      const { format } = this.#schema;
      const isOther = typeof asked.value === "string" && !isOfFormat(asked.value, format);
      if (check.kind !== "mismatch" && !isOther) return asked;
      const reason = check.kind === "mismatch" ? check.reason : `is not of the format ${String(format)}`;
      problem = `\nThat does not fit: it ${reason}.`;
    }
    return "dismissed";
  }

  /** The field with its answer, as one line. */
  withAnswer(answer: Answer): string {
    const { default: preset } = this.#schema;
    const ifLeftOut = preset === undefined ? LEFT_OUT : shown(preset);
    const text = answer === "left out" ? ifLeftOut : (answer.label ?? shown(answer.value));
    return `${quoteText(this.#label, LABEL_CHARACTERS)}: ${quoteOpenly(text, ANSWER_CHARACTERS)}`;
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

function shown(value: unknown): string {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : textOf(value);
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
