import { describe, expect, test } from "@jest/globals";
import type { StepHandle } from "../../src/contract.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();

/** Cancels, and gives the end: it must be there within one turn of the event loop. */
async function cancelled(step: StepHandle): Promise<unknown> {
  step.cancel();
  await new Promise((resolve) => setImmediate(resolve));
  const end = step.poll();
  step.destroy();
  return end;
}

const CANCELLED = { tag: "err", code: "cancelled" };

function until(host: PluginHarness, name: string, method: string): Promise<unknown> {
  return waitFor(`${name} has received ${method}`, () => host.received(name, method).length > 0);
}

describe("cancelling", () => {
  test("before anything began: nothing is started, sent or asked [J07]", async () => {
    let asked = 0;
    const approve = async (): Promise<boolean> => {
      asked++;
      return true;
    };
    for (const services of [{}, { approve }]) {
      const host = make({ services }).serve("plain", "processes", "plain");
      expect(await cancelled(host.callStep("plain", "echo"))).toMatchObject(CANCELLED);
      expect(await cancelled(host.step("mcp_list", { configPath: host.configPath, server: "plain" }))).toMatchObject(
        CANCELLED,
      );
      expect(await cancelled(host.step("mcp_list", { configPath: host.configPath, query: "x" }))).toMatchObject(
        CANCELLED,
      );
      // What had been begun would show before this call ends.
      host.serve("other", "processes", "plain");
      await host.call("other", "echo");
      await host.shutdown();
      expect(host.ledger("plain")).toEqual([]);
    }
    expect(asked).toBe(2);
  });

  test("during connect: the attempt ends with its last caller, and another caller is not harmed [J07]", async () => {
    const host = make()
      .serve("slow", "timing", "slow-initialize 1000")
      .serve("alone", "timing", "slow-initialize 60000");
    const first = host.callStep("slow", "echo");
    const second = host.call("slow", "echo", { text: "second" });
    const alone = host.callStep("alone", "echo");
    await Promise.all([until(host, "slow", "initialize"), until(host, "alone", "initialize")]);
    expect(await cancelled(first)).toMatchObject(CANCELLED);
    expect(await cancelled(alone)).toMatchObject(CANCELLED);
    await waitFor("the process of the lone call is gone", () => host.pids("alone").every((pid) => !isAlive(pid)));
    expect(host.received("alone", "notifications/cancelled")).toEqual([]);
    expect(textOf(await second)).toBe("second");
    expect(host.pids("slow")).toHaveLength(1);
  });

  test("during discovery: the server is told, and nothing is called [J07]", async () => {
    const host = make().serve("hang", "timing", "hang-at tools/list");
    const step = host.callStep("hang", "echo");
    await until(host, "hang", "tools/list");
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await until(host, "hang", "notifications/cancelled");
    expect(host.received("hang", "tools/call")).toEqual([]);
  });

  test("during the call: the server is told which request, and the connection is kept if it proves alive [J07]", async () => {
    const host = make({ limits: { aliveMs: 300 } }).serve("hang", "timing", "hang");
    const step = host.callStep("hang", "hang");
    await until(host, "hang", "tools/call");
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await until(host, "hang", "notifications/cancelled");
    const [call] = host.received("hang", "tools/call");
    expect(host.received("hang", "notifications/cancelled")[0]?.message?.params).toMatchObject({
      requestId: call?.message?.id,
    });
    await until(host, "hang", "ping");
    // Long enough for a server that proved nothing to be stopped.
    await host.call("hang", "slow", { milliseconds: 500 });
    expect(host.pids("hang")).toHaveLength(1);
  });

  test("after the answer: the result stays what it is, and nobody is told [J07]", async () => {
    const host = make().serve("hang", "timing", "hang");
    const step = host.callStep("hang", "echo", { text: "done" });
    await step.settled;
    expect(await cancelled(step)).toMatchObject({ tag: "done", result: { content: [{ type: "text", text: "done" }] } });
    expect(textOf(await host.call("hang", "echo", { text: "next" }))).toBe("next");
    expect(host.received("hang", "notifications/cancelled")).toEqual([]);
  });

  test("a server that does not prove alive is stopped, its other calls end as outcome unknown, and the next call starts afresh", async () => {
    const host = make({ limits: { aliveMs: 300 } }).serve("frozen", "timing", "freeze");
    const other = host.callStep("frozen", "wait");
    const step = host.callStep("frozen", "freeze");
    await waitFor("both calls are running", () => host.received("frozen", "tools/call").length === 2);
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await other.settled;
    expect(other.poll()).toMatchObject({
      tag: "err",
      code: "closed",
      details: { server: "frozen", outcomeUnknown: true },
    });
    other.destroy();
    expect(textOf(await host.call("frozen", "echo", { text: "fresh" }))).toBe("fresh");
    const [first, second] = host.pids("frozen");
    expect(second).toBeDefined();
    await waitFor("the first process is gone", () => !isAlive(first ?? 0));
  });

  test("an error answer to the probe proves alive too", async () => {
    const host = make({ limits: { aliveMs: 300 } }).serve("hang", "timing", "no-ping");
    const step = host.callStep("hang", "hang");
    await until(host, "hang", "tools/call");
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await until(host, "hang", "ping");
    const deadline = performance.now() + 600;
    await waitFor("the probe's time has passed", () => performance.now() > deadline);
    expect(textOf(await host.call("hang", "echo", { text: "alive" }))).toBe("alive");
    expect(host.pids("hang")).toHaveLength(1);
  });

  test("with stopOnCancel the server is stopped at once, and the next call starts afresh", async () => {
    const host = make().serve("hang", "timing", "hang", { stopOnCancel: true });
    const step = host.callStep("hang", "hang");
    const other = host.callStep("hang", "hang");
    await waitFor("both calls are running", () => host.received("hang", "tools/call").length === 2);
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await other.settled;
    expect(other.poll()).toMatchObject({ tag: "err", code: "closed", details: { outcomeUnknown: true } });
    other.destroy();
    expect(textOf(await host.call("hang", "echo", { text: "fresh" }))).toBe("fresh");
    const [first] = host.pids("hang");
    await waitFor("the first process is gone", () => !isAlive(first ?? 0));
    expect(host.pids("hang")).toHaveLength(2);
    expect(host.received("hang", "notifications/cancelled")).toHaveLength(1);
  });

  test("an edited stopOnCancel holds from the next call on", async () => {
    const host = make().serve("hang", "timing", "hang");
    await host.call("hang", "echo");
    host.serve("hang", "timing", "hang", { stopOnCancel: true });
    const step = host.callStep("hang", "hang");
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 2);
    expect(await cancelled(step)).toMatchObject(CANCELLED);
    await waitFor("the server is gone", () => host.pids("hang").every((pid) => !isAlive(pid)));
    expect(host.received("hang", "ping")).toEqual([]);
  });
});
