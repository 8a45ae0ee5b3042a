import { stat } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { Cancellation } from "../../src/cancellation.ts";
import { AdapterError } from "../../src/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import type { Connection } from "../../src/runtime/connection.ts";
import { type Lease, Registry } from "../../src/runtime/registry.ts";
import type { Attempt } from "../../src/runtime/shared-attempt.ts";
import type { ServerSpec } from "../../src/server-spec.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { busy } from "../support/wait.ts";

const SCOPE = { key: "library", cwd: "/" };
const TARGET = { server: "slow", configPath: "/mcp.json" };
const SPEC = {
  name: "slow",
  fingerprint: "1",
  configPath: "/mcp.json",
  endpoint: { kind: "stdio" },
  stopOnCancel: false,
} as unknown as ServerSpec;

const REMOTE = { ...SPEC, endpoint: { kind: "http", url: "http://127.0.0.1:9/mcp" } } as unknown as ServerSpec;

interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** A registry whose attempts do what a slow transport does: they bring it up late, whatever happened meanwhile. */
function slowRegistry(): { registry: Registry; begun: Gate; up: Gate; down: Gate; attempts: Attempt[] } {
  const [begun, up, down] = [gate(), gate(), gate()];
  const attempts: Attempt[] = [];
  const connect = async (attempt: Attempt): Promise<Connection> => {
    attempts.push(attempt);
    begun.open();
    await up.passed;
    attempt.onTransport({ close: () => down.passed, diagnostics: () => ({}) } as unknown as Transport);
    throw new AdapterError("cancelled", { server: attempt.spec.name });
  };
  return { registry: new Registry(connect, LIMITS), begun, up, down, attempts };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("an attempt to connect that brings something up after it was given up", () => {
  test.each(["shutdown", "close", "cancel"] as const)(
    "is waited for, and what it brought up is closed (%s)",
    async (how) => {
      const { registry, begun, up, down, attempts } = slowRegistry();
      const cancellation = new Cancellation();
      const acquired = registry.acquire(SCOPE, SPEC, { target: TARGET, timeoutMs: 60_000, cancellation });
      acquired.catch(() => undefined);
      await begun.passed;
      if (how === "close") void registry.close(SCOPE, SPEC);
      if (how === "cancel") cancellation.cancel();
      const over = registry.shutdown();
      expect(attempts[0]?.cancellation.cancelled).toBe(true);
      expect(await isSettled(over)).toBe(false);
      up.open();
      expect(await isSettled(over)).toBe(false);
      down.open();
      await over;
      await expect(acquired).rejects.toMatchObject({ code: how === "cancel" ? "cancelled" : "closed" });
    },
  );

  test.each([
    ["leaves the place to the next one at once", REMOTE, 2],
    ["is waited for by the next one where it is a program, which may hold what that needs", SPEC, 1],
  ])("%s", async (_, spec, begunAtOnce) => {
    const { registry, begun, up, down, attempts } = slowRegistry();
    const cancellation = new Cancellation();
    const first = registry.acquire(SCOPE, spec, { target: TARGET, timeoutMs: 60_000, cancellation });
    await begun.passed;
    cancellation.cancel();
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    const second = registry.acquire(SCOPE, spec, {
      target: TARGET,
      timeoutMs: 60_000,
      cancellation: new Cancellation(),
    });
    expect(await isSettled(second)).toBe(false);
    expect(attempts).toHaveLength(begunAtOnce);
    up.open();
    down.open();
    await expect(second).rejects.toMatchObject({ code: "cancelled" });
    expect(attempts).toHaveLength(2);
    expect(attempts[1]?.cancellation.cancelled).toBe(false);
    await registry.shutdown();
    await expect(
      registry.acquire(SCOPE, spec, { target: TARGET, timeoutMs: 1000, cancellation: new Cancellation() }),
    ).rejects.toMatchObject({ code: "closed" });
  });
});

/** A connection whose session does nothing but close; `closed` counts how often. */
function idleConnection(spec: ServerSpec): { connection: Connection; closed: () => number } {
  let closed = 0;
  const close = async (): Promise<void> => {
    closed++;
  };
  const connection = { spec, protocolVersion: "2025-11-25", session: { isClosed: false, close } };
  return { connection: connection as unknown as Connection, closed: () => closed };
}

test("a connection that is made after its place was released is closed, and its callers are told", async () => {
  const { connection, closed } = idleConnection(SPEC);
  const up = gate();
  const registry = new Registry(() => up.passed.then(() => connection), LIMITS);
  const acquired = registry.acquire(SCOPE, SPEC, {
    target: TARGET,
    timeoutMs: 60_000,
    cancellation: new Cancellation(),
  });
  const releasing = registry.close(SCOPE, SPEC);
  up.open();
  await expect(acquired).rejects.toMatchObject({ code: "closed", details: { outcomeUnknown: false } });
  await releasing;
  expect(closed()).toBe(1);
  expect(registry.status(SCOPE)).toEqual([]);
});

test("a connection that is there is given to whoever asks next, also with settings that differ in nothing that it is made of", async () => {
  const { connection } = idleConnection(SPEC);
  const registry = new Registry(async () => connection, LIMITS);
  const leases: Lease[] = [];
  for (const spec of [SPEC, SPEC, { ...SPEC, timeoutSeconds: 7 }])
    leases.push(
      await registry.acquire(SCOPE, spec, { target: TARGET, timeoutMs: 1000, cancellation: new Cancellation() }),
    );
  expect(leases).toEqual([true, false, false].map((isNew) => ({ connection, isNew })));
});

test("a connection that ended before it could be kept leaves its place free", async () => {
  let made = 0;
  const connect = async (): Promise<Connection> => {
    const { connection } = idleConnection(SPEC);
    return { ...connection, session: { ...connection.session, isClosed: ++made === 1 } } as unknown as Connection;
  };
  const registry = new Registry(connect, LIMITS);
  for (const open of [0, 1]) {
    await registry.acquire(SCOPE, SPEC, { target: TARGET, timeoutMs: 1000, cancellation: new Cancellation() });
    expect(registry.status(SCOPE)).toHaveLength(open);
  }
  expect(made).toBe(2);
});

test("a connection that was made in time counts, also where the host was stopped or busy meanwhile", async () => {
  const { connection } = idleConnection(SPEC);
  const registry = new Registry(() => stat(".").then(() => connection), LIMITS);
  const acquired = new Promise((resolve, reject) => {
    setImmediate(() => {
      registry
        .acquire(SCOPE, SPEC, { target: TARGET, timeoutMs: 20, cancellation: new Cancellation() })
        .then(resolve, reject);
      busy(200);
    });
  });
  await expect(acquired).resolves.toMatchObject({ connection });
});

test("what servers spoke last is remembered for the newest four times as many as may be connected", async () => {
  const hints: (string | undefined)[] = [];
  const connect = async ({ spec, hint }: Attempt): Promise<Connection> => {
    hints.push(hint);
    return idleConnection(spec).connection;
  };
  const registry = new Registry(connect, { ...LIMITS, connections: 1 });
  for (const fingerprint of ["1", "2", "3", "4", "5", "2", "5", "1"]) {
    const spec = { ...SPEC, fingerprint };
    await registry.acquire(SCOPE, spec, { target: TARGET, timeoutMs: 1000, cancellation: new Cancellation() });
    await registry.close(SCOPE, spec);
  }
  const known = "2025-11-25";
  expect(hints).toEqual([undefined, undefined, undefined, undefined, undefined, known, known, undefined]);
});
