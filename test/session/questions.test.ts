import { expect, test } from "@jest/globals";
import { Deadlines } from "../../src/deadlines.ts";
import { AdapterError } from "../../src/errors.ts";
import { LIMITS, resolveLimits } from "../../src/limits.ts";
import { PersonWait } from "../../src/person-wait.ts";
import type { Dialect } from "../../src/protocol/dialect.ts";
import { InputPort } from "../../src/session/input.ts";
import { Questions } from "../../src/session/questions.ts";
import { Session } from "../../src/session/session.ts";
import type { Transport } from "../../src/transport/transport.ts";

const dialect = { serverMayAsk: () => true } as unknown as Dialect;

test("a bounded number of questions waits for the host at once, and an answered one makes room", async () => {
  const hosts: ((roots: []) => void)[] = [];
  const input = new InputPort({
    server: "s",
    limits: LIMITS,
    services: { listRoots: () => new Promise((resolve) => hosts.push(resolve)) },
  });
  const questions = new Questions({ dialect, input, limits: resolveLimits({ openQuestions: 2 }) });
  const ask = (): Promise<unknown> => questions.answer({ jsonrpc: "2.0", id: 1, method: "roots/list" }, 60_000);
  const [first, second] = [ask(), ask()];
  expect(await ask()).toMatchObject({ error: { code: -32603, message: "Too many open questions" } });
  expect(hosts).toHaveLength(2);
  hosts[0]?.([]);
  expect(await first).toEqual({ result: { roots: [] } });
  const third = ask();
  expect(hosts).toHaveLength(3);
  input.withdraw();
  for (const withdrawn of [await second, await third]) expect(withdrawn).toMatchObject({ error: { code: -32603 } });
});

test("what a server asked right before its connection ended is not asked of the host any more", async () => {
  let asked = 0;
  const listRoots = async (): Promise<[]> => {
    asked++;
    return [];
  };
  const session = new Session({
    server: "s",
    transport: { kind: "stdio", send: () => Promise.resolve() } as unknown as Transport,
    dialect,
    limits: LIMITS,
    input: new InputPort({ server: "s", limits: LIMITS, services: { listRoots } }),
    stopOnCancel: false,
    wait: new PersonWait(),
    deadlines: new Deadlines(),
    onClosed: () => undefined,
    onExpired: () => undefined,
  });
  const question = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "roots/list" });
  session.message(question);
  expect(asked).toBe(1);
  session.closed(new AdapterError("closed.stopped", { server: "s", outcomeUnknown: false }));
  session.message(question);
  expect(asked).toBe(1);
});
