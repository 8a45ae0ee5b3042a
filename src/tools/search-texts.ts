import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";
import { firstSentenceIn } from "./text.ts";

const DESCRIPTION_CHARACTERS = 500;
const PARAMETER_CHARACTERS = 80;
const MAX_CHOICES = 20;
const MAX_PARAMETERS = 50;
const OTHER_CHARACTERS = 2000;
/** Of each field, in all items together: a list of thousands is searched in the time of one of hundreds. */
const FIELD_CHARACTERS = 2_000_000;

/** Where a search looks for its words. */
export interface SearchTexts {
  readonly name: string;
  readonly title: string;
  readonly firstSentence: string;
  /** What follows the first sentence. */
  readonly description: string;
  readonly parameters: string;
  readonly parameterTexts: string;
  readonly server: string;
}

/** The texts of one of so many items, each of bounded length. */
export function searchTexts(item: Item, server: string | undefined, items: number): SearchTexts {
  const { name, uri, uriTemplate, title, description } = item;
  const parameters = parametersOf(item);
  const most = Math.min(OTHER_CHARACTERS, Math.ceil(FIELD_CHARACTERS / items));
  const told = typeof description === "string" ? description.slice(0, Math.min(DESCRIPTION_CHARACTERS, most)) : "";
  const { start, end } = firstSentenceIn(told);
  const texts = [name, uri, uriTemplate].filter((text) => typeof text === "string");
  return {
    name: texts.join(" ").slice(0, OTHER_CHARACTERS),
    title: typeof title === "string" ? title.slice(0, most) : "",
    firstSentence: told.slice(start, end),
    description: told.slice(end),
    parameters: parameters
      .map(([name]) => name)
      .join(" ")
      .slice(0, most),
    parameterTexts: parameters
      .map(([, property]) => saidOf(property))
      .join(" ")
      .slice(0, most),
    server: server ?? "",
  };
}

/** The parameters of a tool, or the arguments of a prompt. */
function parametersOf({ inputSchema, arguments: list }: Item): (readonly [name: string, property: unknown])[] {
  if (Array.isArray(list))
    return list
      .slice(0, MAX_PARAMETERS)
      .filter(isObject)
      .map((argument) => [typeof argument["name"] === "string" ? argument["name"] : "", argument]);
  if (!isObject(inputSchema) || !isObject(inputSchema["properties"])) return [];
  return Object.entries(inputSchema["properties"]).slice(0, MAX_PARAMETERS);
}

/** What a parameter's description says first, and the words it can be. */
function saidOf(property: unknown): string {
  if (!isObject(property)) return "";
  const { description, enum: own, items } = property;
  const choices = Array.isArray(own) ? own : isObject(items) && Array.isArray(items["enum"]) ? items["enum"] : [];
  const texts = choices.slice(0, MAX_CHOICES).filter((choice) => typeof choice === "string");
  if (typeof description === "string") texts.push(description.slice(0, PARAMETER_CHARACTERS));
  return texts.join(" ");
}
