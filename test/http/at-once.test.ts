import { describe, expect, test } from "@jest/globals";
import type { StepHandle, StepResult } from "../../src/contract.ts";
import { SENTENCES, type Situation } from "../../src/messages.ts";
import { FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { FAULTS, type Fault } from "../support/http-faults.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";

const make = harnesses();
const FAST = { minRetryMs: 1, defaultRetryMs: 1, resumeAttempts: 3, refusalMs: 100, lingerMs: 50 };
const CALLS = 80;
const NAMES = Object.keys(FAULTS).filter((name) => FAULTS[name]?.silent !== true && FAULTS[name]?.early === undefined);
const PLAIN = "plain";

const server = FaultServer.forTests({
  [PLAIN]: {},
  ...Object.fromEntries(NAMES.map((name) => [name, unlessGood(FAULTS[name] as Fault)])),
});

function unlessGood(fault: Fault): Scenario {
  const post: Scenario["post"] = (exchange) =>
    exchange.seen.body.includes("good") ? exchange.good() : fault.post?.(exchange);
  return { ...fault, post };
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Called {
  readonly name: string;
  readonly text: string;
  readonly step: StepHandle;
  readonly cancelled: boolean;
}

/** Calls of random servers, good and bad, some of them given up at some turn of the event loop. */
function calls(host: PluginHarness, seed: number): Promise<Called[]> {
  const random = randomFrom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const some = [PLAIN, ...Array.from({ length: 6 }, () => pick(NAMES))];
  for (const name of some) host.configure(name, { url: server.url(name) });
  const one = async (at: number): Promise<Called> => {
    const name = pick(some);
    const text = `${random() < 0.5 ? "good" : "bad"} ${seed}-${at}.`;
    const cancelled = random() < 0.2;
    const turns = Math.floor(random() * 40);
    const wait = random() * 300;
    await new Promise<void>((resolve) => setTimeout(resolve, wait));
    const step = host.callStep(name, "echo", { text });
    if (cancelled) {
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      step.cancel();
    }
    await step.settled;
    return { name, text, step, cancelled };
  };
  return Promise.all(Array.from({ length: CALLS }, (_, at) => one(at)));
}

/** What became of a call, without what it was told in. */
function verdict(end: StepResult): object {
  if (end.tag === "done") return { text: textOf(end.result) };
  return end.tag === "err" ? { code: end.code, unknown: end.details?.["outcomeUnknown"] === true } : end;
}

/** What becomes of a call that is alone. */
function expected({ name, text }: Called): object {
  const fault = FAULTS[name];
  if (fault === undefined || text.startsWith("good")) return { text };
  const code = fault.fails === undefined ? "protocol_error" : SENTENCES[fault.fails as Situation].code;
  return { code, unknown: fault.outcomeUnknown ?? expect.any(Boolean) };
}

describe("what holds for a call alone holds among many that fail and are given up", () => {
  test.each([1, 2, 3])(
    "in a random order (seed %d)",
    async (seed) => {
      const host = make({ limits: FAST });
      for (const called of await calls(host, seed)) {
        const { name, text, step, cancelled } = called;
        const end = verdict(step.poll());
        if (!cancelled || !("code" in end && end.code === "cancelled"))
          expect({ name, text, end }).toEqual({ name, text, end: expected(called) });
        const sent = server.posts(name).filter(({ body }) => body.includes(`"${text}"`));
        expect({ name, text, sent: sent.length }).toEqual({ name, text, sent: cancelled ? expect.any(Number) : 1 });
        expect(sent.length).toBeLessThanOrEqual(1);
      }
    },
    30_000,
  );
});
