import { stat } from "node:fs/promises";

import { expect, jest, test } from "@jest/globals";

import { Cancellation } from "../../src/cancellation.ts";

import type { HostServices } from "../../src/contract.ts";
import { LIMITS } from "../../src/limits.ts";
import { InputPort } from "../../src/session/input.ts";
import { helpfulHost } from "../support/era-servers.ts";
import { busy } from "../support/wait.ts";

test.each([{ tools: [] }, { toolChoice: { mode: "none" } }])(
  "a sampling question that brings tools is refused, since they were not declared (%j)",
  async (more) => {
    const services = helpfulHost();
    const port = new InputPort({ server: "s", services, limits: LIMITS });
    const answer = await port.ask("sampling/createMessage", { messages: [], maxTokens: 1, ...more }, 1000);
    expect(answer).toMatchObject({ error: { code: -32602 } });
    expect(services.asked).toEqual([]);
  },
);

test("what a host leaves out of a message is filled in, what is no message is refused", async () => {
  const ask = async (given: unknown): Promise<unknown> => {
    const services = { createMessage: async () => given } as unknown as HostServices;
    return new InputPort({ server: "s", services, limits: LIMITS }).ask("sampling/createMessage", {}, 1000);
  };
  const content = { type: "text", text: "Hi" };
  expect(await ask({ content })).toEqual({ result: { role: "assistant", model: "unknown", content } });
  expect(await ask({ role: "user", model: "m", content })).toEqual({ result: { role: "user", model: "m", content } });
  const block = { result: { role: "assistant", model: "unknown", content } };
  expect(await ask({ content: [content] })).toEqual(block);
  const two = [content, { type: "text", text: "again" }];
  expect(await ask({ content: two })).toMatchObject({ result: { content: two } });
  for (const nonsense of [null, "text", {}, { content: "text" }, []])
    expect(await ask(nonsense)).toMatchObject({ error: { code: -32603 } });
});

test("only http and https addresses are shown to a person", async () => {
  const services = helpfulHost();
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "no url", 7])
    expect(await port.ask("elicitation/create", { mode: "url", url }, 1000)).toMatchObject({ error: { code: -32602 } });
  expect(services.asked).toEqual([]);
});

test("a form's answer holds its own fields and no others, with defaults where the host says nothing", async () => {
  const requestedSchema = {
    type: "object",
    properties: { a: { type: "string", default: "x" }, b: { type: "integer", default: 3 }, c: { type: "boolean" } },
  };
  const services: HostServices = {
    elicit: async () => ({ action: "accept", content: { b: 4, c: undefined, extra: {} } }),
  };
  const answer = await new InputPort({ server: "s", services, limits: LIMITS }).ask(
    "elicitation/create",
    { requestedSchema },
    1000,
  );
  expect(answer).toEqual({ result: { action: "accept", content: { a: "x", b: 4 } } });
});

test("a field that may be null is, for the host, the plain field of a form", async () => {
  const spellings = {
    age: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null, title: "Age" },
    colour: { oneOf: [{ type: "null" }, { type: "string", enum: ["red", "blue"] }] },
    note: { type: ["string", "null"], default: "none" },
    size: { type: ["string", "null"], enum: ["s", "m", null], default: null },
    shape: { type: ["null", "string"], oneOf: [{ const: "round", title: "Round" }] },
    sloppy: { type: "string", default: null },
    choice: { type: "string", oneOf: [{ const: "a", title: "A" }] },
    both: { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }] },
  };
  const shown: unknown[] = [];
  const services: HostServices = {
    elicit: async ({ requestedSchema }) => {
      shown.push(requestedSchema);
      return { action: "accept", content: { age: 36, colour: "red" } };
    },
  };
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  const requestedSchema = { type: "object", properties: spellings, required: ["age"] };
  expect(await port.ask("elicitation/create", { message: "?", requestedSchema }, 1000)).toEqual({
    result: { action: "accept", content: { age: 36, colour: "red", note: "none" } },
  });
  expect(shown).toEqual([
    {
      type: "object",
      properties: {
        age: { type: "integer", minimum: 1, title: "Age" },
        colour: { type: "string", enum: ["red", "blue"] },
        note: { type: "string", default: "none" },
        size: { type: "string", enum: ["s", "m"] },
        shape: { type: "string", oneOf: spellings.shape.oneOf },
        sloppy: { type: "string" },
        choice: spellings.choice,
        both: spellings.both,
      },
      required: ["age"],
    },
  ]);
});

test("forms that are costly to check take a bounded part of the time, however many there are", async () => {
  const content = { a: `${"a".repeat(60)}!` };
  const services: HostServices = { elicit: async () => ({ action: "accept", content }) };
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  const ask = (pattern: string): Promise<unknown> => {
    const requestedSchema = { type: "object", properties: { a: { type: "string", pattern } } };
    return port.ask("elicitation/create", { requestedSchema }, 60_000);
  };
  expect(await ask("^b")).toEqual({ result: { action: "decline" } });
  const begin = performance.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask("^(a|a)*$")));
  expect(performance.now() - begin).toBeLessThan(10_000);
  for (const answer of answers) expect(answer).toEqual({ result: { action: "accept", content } });
});

test("an answer that cannot be looked at harms no later one", async () => {
  const unreadable = {
    get x(): string {
      throw new Error("no value");
    },
  };
  const contents = [{ a: unreadable }, { a: "fine" }];
  const services = {
    elicit: async () => ({ action: "accept", content: contents.shift() }),
  } as unknown as HostServices;
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  const requestedSchema = { type: "object", properties: { a: { type: "string" } } };
  const ask = (): Promise<unknown> => port.ask("elicitation/create", { requestedSchema }, 60_000);
  expect(await ask()).toEqual({ result: { action: "cancel" } });
  expect(await ask()).toEqual({ result: { action: "accept", content: { a: "fine" } } });
});

test("why a host could not answer is told to the host, once, and never to the server", async () => {
  const warn = jest.spyOn(process, "emitWarning").mockReturnValue();
  const createMessage = async (): Promise<never> => {
    throw new Error("401: incorrect key sk-hosts-own");
  };
  const port = new InputPort({ server: "s", services: { createMessage }, limits: LIMITS });
  for (let round = 0; round < 2; round++)
    expect(JSON.stringify(await port.ask("sampling/createMessage", {}, 1000))).not.toContain("sk-hosts-own");
  expect(warn.mock.calls).toEqual([[expect.stringContaining("sampling/createMessage failed: 401: incorrect key")]]);
  warn.mockRestore();
});

test("an answer that the host gave in time counts, also where it was stopped or busy meanwhile", async () => {
  const services = { listRoots: () => stat(".").then(() => [{ uri: "file:///r" }]) };
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  const answer = new Promise((resolve) => {
    setImmediate(() => {
      resolve(port.ask("roots/list", {}, 20));
      busy(200);
    });
  });
  expect(await answer).toEqual({ result: { roots: [{ uri: "file:///r" }] } });
});

test("a question that is withdrawn before the host was asked is not asked", async () => {
  const services = helpfulHost();
  const port = new InputPort({ server: "s", services, limits: LIMITS });
  const form = { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
  const caller = new Cancellation();
  const withdrawn = port.ask("elicitation/create", form, 60_000, caller);
  caller.cancel();
  expect(await withdrawn).toEqual({ result: { action: "cancel" } });
  await port.ask("elicitation/create", form, 60_000);
  expect(services.asked).toHaveLength(1);
});
