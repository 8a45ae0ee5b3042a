import { describe, expect, test } from "@jest/globals";
import type { AgentToolResult } from "../../src/contract.ts";
import { AdapterError, toFailure } from "../../src/errors.ts";
import { Step, type StepContext } from "../../src/runtime/step.ts";

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

describe("partial results that wait for the host", () => {
  /** A step whose work goes on for ever, and what it sees of its step. */
  function running(): { step: Step; context: StepContext } {
    const step = new Step({ describe: toFailure, maxPartials: 10, onEnd: () => undefined });
    let context: StepContext | undefined;
    step.start((given) => {
      context = given;
      return new Promise(() => undefined);
    });
    if (context === undefined) throw new Error("The work has not begun.");
    return { step, context };
  }

  const partial = (n: number): AgentToolResult => ({ content: [], details: { n } });

  test.each([
    ["cancel", "cancelled", (step: Step) => step.cancel()],
    ["shutdown", "closed", (step: Step) => step.cancelWith(new AdapterError("shutdown", {}))],
    ["destroy", "destroyed", (step: Step) => step.destroy()],
  ] as const)("are gone after a %s, and none comes later", (_, code, end) => {
    const { step, context } = running();
    context.partial(partial(1));
    end(step);
    context.partial(partial(2));
    const seen: AgentToolResult[] = [];
    expect(step.poll((each) => seen.push(each))).toMatchObject({ tag: "err", code });
    expect(seen).toEqual([]);
  });

  test("are handed over oldest first, once", () => {
    const { step, context } = running();
    const seen: unknown[] = [];
    for (const n of [1, 2]) context.partial(partial(n));
    for (let polls = 0; polls < 2; polls++) step.poll(({ details }) => seen.push(details?.["n"]));
    expect(seen).toEqual([1, 2]);
    step.destroy();
  });
});
