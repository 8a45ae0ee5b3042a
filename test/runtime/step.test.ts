import { expect, test } from "@jest/globals";
import { Step } from "../../src/runtime/step.ts";

test("a step ends even where its failure cannot be described", async () => {
  const ended: Step[] = [];
  const describe = (): never => {
    throw new Error("no words");
  };
  const step = new Step({ describe, maxPartials: 1, onEnd: (one) => ended.push(one) });
  step.start(() => Promise.reject(new Error("the work failed")));
  await step.settled;
  expect(step.poll()).toMatchObject({ tag: "err", code: "internal", message: expect.stringContaining("no words") });
  expect(ended).toEqual([step]);
});
