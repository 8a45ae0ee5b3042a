import { describe, expect, test } from "@jest/globals";
import type { AgentToolResult } from "../../src/contract.ts";
import { harnesses, textOf } from "../support/plugin-harness.ts";
import { busy, isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();

describe("time", () => {
  test("an answer after the timeout is not taken for the next call, and the connection is kept [J01]", async () => {
    const host = make().serve("late", "timing", "late");
    await host.list("late");
    const { code, message, details } = await host.callFailure("late", "echo", { text: "first" }, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(message).toMatch(/outcome unknown/i);
    expect(details).toMatchObject({
      server: "late",
      method: "tools/call",
      phase: "call",
      seconds: 1,
      outcomeUnknown: true,
    });
    // The first of them is what the server waits for before it answers the one that timed out.
    for (const text of ["second", "third"]) expect(textOf(await host.call("late", "echo", { text }))).toBe(text);
    expect(host.pids("late")).toHaveLength(1);
    expect(host.received("late", "notifications/cancelled")).toHaveLength(1);
  });

  test("an answer that came in time counts, also where the host was stopped or busy meanwhile", async () => {
    const host = make().serve("hang", "timing", "hang");
    await host.list("hang");
    const call = host.call("hang", "slow", { milliseconds: 200 }, { timeoutSeconds: 1 });
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    setImmediate(() => busy(2000));
    expect(textOf(await call)).toBe("slow");
  });

  test("a request that waits behind a half-written one has no unknown outcome when its time is over: it was not written", async () => {
    const host = make().serve("slow", "timing", "slow-reader");
    await host.call("slow", "pause", { milliseconds: 8000 });
    await waitFor("it has stopped reading", () => host.ledger("slow").some(({ event }) => event === "paused"));
    const params = { configPath: host.configPath, server: "slow", method: "completion/complete" };
    const large = host.failure("mcp_request", { ...params, params: { text: "x".repeat(3 * 1024 * 1024) } });
    const waiting = await host.failure("mcp_request", { ...params, timeoutSeconds: 1 });
    expect(waiting).toMatchObject({ code: "timeout", details: { phase: "call", outcomeUnknown: false } });
    expect(waiting.message).not.toMatch(/outcome unknown/i);
    expect(await large).toMatchObject({ code: "closed", details: { outcomeUnknown: true } });
  }, 20_000);

  test("a timeout while the call is still being written drops the connection, and the next call starts afresh [J01]", async () => {
    const host = make().serve("slow", "timing", "slow-reader");
    await host.call("slow", "pause", { milliseconds: 8000 });
    await waitFor("it has stopped reading", () => host.ledger("slow").some(({ event }) => event === "paused"));
    const large = { text: "x".repeat(3 * 1024 * 1024) };
    const params = {
      configPath: host.configPath,
      server: "slow",
      method: "tools/call",
      params: { name: "echo", arguments: large },
    };
    // The list before the call is small enough for the pipe, but is not answered either.
    const { code } = await host.failure("mcp_request", {
      ...params,
      method: "completion/complete",
      params: large,
      timeoutSeconds: 1,
    });
    expect(code).toBe("timeout");
    expect(textOf(await host.call("slow", "echo", { text: "fresh" }))).toBe("fresh");
    const [first, second] = host.pids("slow");
    expect(second).toBeDefined();
    await waitFor("the first process is gone", () => !isAlive(first ?? 0));
  }, 20_000);

  test("what else waited for a server that stops reading: a list is repeated on a fresh connection, a call has an unknown outcome", async () => {
    const host = make().serve("slow", "timing", "slow-reader");
    const large = { text: "x".repeat(3 * 1024 * 1024) };
    const target = { configPath: host.configPath, server: "slow" };
    await host.call("slow", "pause", { milliseconds: 8000 });
    await waitFor("it has stopped reading", () => host.ledger("slow").some(({ event }) => event === "paused"));
    const request = { ...target, method: "completion/complete" };
    const [list, other, blocked] = await Promise.all([
      host.end("mcp_list", target),
      host.failure("mcp_request", { ...request, params: { n: 1 } }),
      host.failure("mcp_request", { ...request, params: large, timeoutSeconds: 1 }),
    ]);
    expect(blocked.code).toBe("timeout");
    expect(other).toMatchObject({ code: "closed", details: { method: "completion/complete", outcomeUnknown: true } });
    expect(other.message).toContain("it stopped reading while completion/complete was being written. Outcome unknown");
    expect(list.tag).toBe("done");
  }, 20_000);

  test("a large argument is written whole to a server that reads slowly [J01]", async () => {
    const host = make().serve("slow", "timing", "slow-reader");
    await host.call("slow", "pause", { milliseconds: 500 });
    const calls = Array.from({ length: 30 }, (_, at) =>
      host.call("slow", "echo", { text: `${at} ${"x".repeat(200_000)}` }),
    );
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts.map((text) => text.split(" ")[0])).toEqual(Array.from({ length: 30 }, (_, at) => String(at)));
  }, 20_000);

  test("an argument beyond 16 MiB is refused and nothing is sent", async () => {
    const host = make().serve("plain", "processes", "plain");
    const { code, details } = await host.callFailure("plain", "echo", { text: "x".repeat(17 * 1024 * 1024) });
    expect(code).toBe("limit_exceeded");
    expect(details).toMatchObject({ server: "plain", method: "tools/call", limitBytes: 16 * 1024 * 1024 });
    expect(host.received("plain", "tools/call")).toEqual([]);
    expect(textOf(await host.call("plain", "echo", { text: "still here" }))).toBe("still here");
    expect(host.pids("plain")).toHaveLength(1);
  });

  test("progress starts the deadline anew and reaches the host as partial results, oldest first [J03]", async () => {
    const host = make().serve("busy", "timing", "progress");
    const step = host.callStep("busy", "echo", { steps: 8, milliseconds: 350 }, { timeoutSeconds: 2 });
    const partials: AgentToolResult[] = [];
    await waitFor("the end", () => step.poll((partial) => partials.push(partial)).tag !== "pending");
    expect(step.poll()).toMatchObject({
      tag: "done",
      result: { content: [{ type: "text", text: expect.stringMatching(/^finished, token (number|string)$/) }] },
    });
    step.destroy();
    expect(partials.map(({ details }) => details?.["progress"])).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((progress) => ({ progress, total: 8, message: `step ${progress}` })),
    );
    expect(textOf(partials[0] as AgentToolResult)).toContain("step 1");
  });

  test("the total of the entry ends a call whatever its progress [J03]", async () => {
    const host = make().serve("ever", "timing", "progress-forever", { maxTotalSeconds: 2 });
    await host.list("ever");
    const { code, details } = await host.callFailure("ever", "echo", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(details).toMatchObject({ seconds: 2, outcomeUnknown: true });
  });

  test("the total of the limits ends a call where the entry says nothing [J03]", async () => {
    const host = make({ limits: { defaultTotalSeconds: 1.5 } }).serve("ever", "timing", "progress-forever");
    await host.list("ever");
    const { code, details } = await host.callFailure("ever", "echo", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(details).toMatchObject({ seconds: 1.5 });
  });

  test("other messages than progress with our token do not start the deadline anew [H05]", async () => {
    const host = make().serve("chatty", "timing", "chatter");
    await host.list("chatty");
    const { code } = await host.callFailure("chatty", "echo", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
  });

  test("the entry's timeout holds where the call names none, and the call's wins", async () => {
    const host = make().serve("hang", "timing", "hang", { timeout: 2 });
    await host.list("hang", { timeoutSeconds: 60 });
    const ends = await Promise.all([
      host.callFailure("hang", "hang"),
      host.callFailure("hang", "hang", {}, { timeoutSeconds: 1 }),
    ]);
    expect(ends.map(({ code, details }) => [code, details?.["seconds"]])).toEqual([
      ["timeout", 2],
      ["timeout", 1],
    ]);
  });

  test.each(["initialize", "tools/list", "tools/call"])(
    "each stage has its own deadline, and its timeout names it (%s)",
    async (stage) => {
      const host = make({ limits: { stdinEndMs: 200 } }).serve("hang", "timing", `hang-at ${stage}`);
      // The stages before it take as long as they do on a busy machine.
      if (stage === "tools/list")
        await host.run("mcp_request", { configPath: host.configPath, server: "hang", method: "ping" });
      if (stage === "tools/call") await host.list("hang");
      const { code, message, details } = await host.callFailure("hang", "echo", {}, { timeoutSeconds: 1 });
      expect(code).toBe("timeout");
      expect(message).toContain(stage);
      expect(details).toMatchObject({ method: stage, seconds: 1, outcomeUnknown: stage === "tools/call" });
    },
  );
});
