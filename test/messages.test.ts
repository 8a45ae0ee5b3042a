import { expect, test } from "@jest/globals";
import { SENTENCES } from "../src/messages.ts";

function said(stderr: string): string {
  return SENTENCES.closed.say({ server: "s", reason: "it ended", outcomeUnknown: false, stderr });
}

test.each([
  ["a short stderr is shown whole", "one\ntwo", "one\ntwo"],
  [
    "of a long one the newest is shown",
    `${"old\n".repeat(1000)}${"1234567\n".repeat(248)}12345678`,
    `…${"old\n".repeat(2)}${"1234567\n".repeat(248)}12345678`,
  ],
  [
    "a long line is shown from its middle, also where a short one follows",
    `${"x".repeat(5000)}\nend`,
    `…${"x".repeat(1996)}\nend`,
  ],
  ["none is cut within a character", "🎉".repeat(3000), `…${"🎉".repeat(1000)}`],
])("%s", (_, stderr, shown) => {
  expect(said(stderr).split("Its stderr ends:\n")[1]).toBe(shown);
});
