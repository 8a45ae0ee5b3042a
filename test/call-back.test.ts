import { expect, test } from "@jest/globals";
import { callBack } from "../src/call-back.ts";

test("whatever way a callback fails, it is told, and no rejection is left unheard", async () => {
  const failures: unknown[] = [];
  const told = (error: unknown): void => void failures.push(error);
  callBack(() => {
    throw "thrown";
  }, told);
  callBack(() => Promise.reject("rejected"), told);
  for (const fine of [undefined, null, 7, "text", {}, Promise.resolve()]) callBack(() => fine, told);
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual(["thrown", "rejected"]);
});
