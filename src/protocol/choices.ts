import { isObject } from "./jsonrpc.ts";

export interface Choice {
  readonly value: unknown;
  readonly label: string;
}

/** The choices of a form's field, in each of their spellings (Elicitation, enum schemas); nothing where there are none. */
export function choicesOf({
  enum: values,
  enumNames: names,
  oneOf,
  anyOf,
}: Readonly<Record<string, unknown>>): readonly Choice[] | undefined {
  if (Array.isArray(values))
    return values.map((value, at) => choice(value, Array.isArray(names) ? names[at] : undefined));
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  return Array.isArray(titled)
    ? titled.filter(isObject).map(({ const: value, title }) => choice(value, title))
    : undefined;
}

function choice(value: unknown, title: unknown): Choice {
  return { value, label: typeof title === "string" ? title : String(value) };
}
