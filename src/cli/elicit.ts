import type { ElicitResult, ServerContext } from "../contract.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText, readable } from "../remote-text.ts";
import { askField } from "./form-field.ts";
import type { Person } from "./person.ts";
import type { Terminal } from "./terminal.ts";

const CANCEL: ElicitResult = { action: "cancel" };
const DECLINE: ElicitResult = { action: "decline" };
const NAME_CHARACTERS = 120;

type Elicit = (params: Record<string, unknown>, context: ServerContext) => Promise<ElicitResult>;

/** Puts a server's questions to the person; without a terminal they are declined. */
export function elicitor(person: Person, terminal: Terminal): Elicit {
  return async (params, context) => {
    const message = readable(String(params["message"] ?? ""));
    const server = quoteText(context.server, NAME_CHARACTERS);
    if (!terminal.interactive) {
      terminal.note(
        `Server ${server} asks: ${quoteText(message, NAME_CHARACTERS)} (declined: there is no terminal to ask at)`,
      );
      return DECLINE;
    }
    return person.alone(async () => {
      if (context.signal.aborted) return CANCEL;
      terminal.note(`${terminal.styleNote("bold", `Server ${server} asks:`)} ${message}`);
      return params["mode"] === "url"
        ? visit(params, context, person, terminal)
        : form(params, context, person, terminal);
    });
  };
}

async function form(
  params: Record<string, unknown>,
  { server, signal }: ServerContext,
  person: Person,
  terminal: Terminal,
): Promise<ElicitResult> {
  const schema = isObject(params["requestedSchema"]) ? params["requestedSchema"] : {};
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const content: [string, unknown][] = [];
  terminal.note(terminal.styleNote("dim", "Press Enter for the value in brackets. Ctrl-D cancels."));
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const answer = await askField({ name, property, required: required.includes(name), signal }, person, terminal);
    if (answer === "cancelled") return CANCEL;
    if (answer !== "nothing") content.push([name, answer.value]);
  }
  const line = await person.ask({ prompt: `Send this to ${quoteText(server, NAME_CHARACTERS)}? [Y/n] `, signal });
  if (line === undefined) return CANCEL;
  if (/^\s*no?\s*$/i.test(line)) return DECLINE;
  return { action: "accept", content: Object.fromEntries(content) };
}

/** The address is shown whole and opened only after a yes (Elicitation, URL mode). */
async function visit(
  params: Record<string, unknown>,
  { signal }: ServerContext,
  person: Person,
  terminal: Terminal,
): Promise<ElicitResult> {
  const url = new URL(String(params["url"]));
  terminal.note(`  ${url.href}`);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    terminal.note("This is not a web address, so nothing is opened.");
    return DECLINE;
  }
  terminal.note(terminal.styleNote("dim", "Ctrl-D cancels."));
  const line = await person.ask({ prompt: `Open it (at ${url.host}) in the browser? [y/N] `, signal });
  if (line === undefined) return CANCEL;
  if (!/^\s*y(es)?\s*$/i.test(line)) return DECLINE;
  const { openInBrowser } = await import("./browser.ts");
  await openInBrowser(url.href).catch(() => terminal.note("No browser could be opened; open the address yourself."));
  return { action: "accept" };
}
