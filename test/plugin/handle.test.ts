import { describe, expect, jest, test } from "@jest/globals";
import type { AgentToolResult, StepHandle } from "../../src/contract.ts";
import { harnesses, type PluginHarness, progressOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const DESTROYED = { tag: "err", code: "destroyed" };

function running(host: PluginHarness): StepHandle {
  return host.callStep("hang", "hang");
}

function hanging(): PluginHarness {
  return make().serve("hang", "timing", "hang");
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("a step handle", () => {
  test("is given at once, and pends until it settles", async () => {
    const host = hanging();
    const step = host.callStep("hang", "echo", { text: "hi" });
    expect(step.poll()).toEqual({ tag: "pending" });
    let settled = false;
    void step.settled.then(() => {
      settled = true;
    });
    await turn();
    expect(settled).toBe(false);
    await step.settled;
    expect(step.poll().tag).toBe("done");
  });

  test("gives the same result at every poll until it is destroyed, with and without a callback", async () => {
    const step = hanging().callStep("hang", "echo", { text: "hi" });
    await step.settled;
    const first = step.poll();
    expect(first).toMatchObject({ tag: "done", result: { content: [{ type: "text", text: "hi" }] } });
    const partials: unknown[] = [];
    for (let poll = 0; poll < 3; poll++) expect(step.poll((partial) => partials.push(partial))).toBe(first);
    expect(partials).toEqual([]);
    step.cancel();
    expect(step.poll()).toBe(first);
    step.destroy();
    expect(step.poll()).toMatchObject(DESTROYED);
    step.destroy();
    step.cancel();
    expect(step.poll((partial) => partials.push(partial))).toMatchObject(DESTROYED);
    await step.settled;
  });

  test("is terminal within one turn after cancel, and cancelling twice changes nothing", async () => {
    const host = hanging();
    const step = running(host);
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    step.cancel();
    await turn();
    const end = step.poll();
    expect(end).toMatchObject({ tag: "err", code: "cancelled" });
    step.cancel();
    expect(step.poll()).toBe(end);
    await step.settled;
    step.destroy();
    expect(step.poll()).toMatchObject(DESTROYED);
    await waitFor("the server is told", () => host.received("hang", "notifications/cancelled").length === 1);
  });

  test("that is destroyed while it runs settles, gives destroyed, and its call is cancelled", async () => {
    const host = hanging();
    const step = running(host);
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    step.destroy();
    expect(step.poll()).toMatchObject(DESTROYED);
    await step.settled;
    step.destroy();
    step.cancel();
    expect(step.poll()).toMatchObject(DESTROYED);
    await waitFor("the server is told", () => host.received("hang", "notifications/cancelled").length === 1);
  });

  test("is for what was given at the call, also where the host uses the same object for its next", async () => {
    const host = hanging();
    const params: Record<string, unknown> = { configPath: host.configPath, server: "hang", __rpi: host.context };
    const steps = ["one", "two"].map((text) => {
      params["tool"] = "echo";
      params["arguments"] = { text };
      return host.tools.get("mcp_call")?.execute("call", params);
    });
    for (const step of steps) await step?.settled;
    expect(steps.map((step) => step?.poll())).toMatchObject(
      ["one", "two"].map((text) => ({ tag: "done", result: { content: [{ text }] } })),
    );
  });

  test("that is destroyed at once starts nothing", async () => {
    const host = hanging();
    running(host).destroy();
    await host.run("mcp_list", { configPath: host.configPath });
    await host.shutdown();
    expect(host.ledger("hang")).toEqual([]);
  });

  test("gives partial results oldest first and synchronously, and those before the end before the result", async () => {
    const host = make().serve("busy", "timing", "progress");
    const step = host.callStep("busy", "echo", { steps: 5, milliseconds: 1 });
    await step.settled;
    const seen: string[] = [];
    const end = step.poll((partial) => seen.push(String(progressOf(partial))));
    expect(end.tag).toBe("done");
    expect(seen).toEqual(["1", "2", "3", "4", "5"]);
    expect(step.poll(() => seen.push("late"))).toBe(end);
    expect(seen).toHaveLength(5);
  });

  test("keeps partial results for a host that polls without a callback in between, up to a bound", async () => {
    const host = make({ limits: { queuedPartials: 10 } }).serve("busy", "timing", "progress");
    const step = host.callStep("busy", "echo", { steps: 100, milliseconds: 1 });
    let isOver = false;
    void step.settled.then(() => {
      isOver = true;
    });
    await waitFor("the end", () => {
      if (!isOver) step.poll();
      return isOver;
    });
    const seen: unknown[] = [];
    step.poll((partial) => seen.push(progressOf(partial)));
    expect(seen).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
  });

  test("shows nothing any more to a host that knows the end", async () => {
    const step = make().serve("busy", "timing", "progress").callStep("busy", "echo", { steps: 3, milliseconds: 1 });
    await step.settled;
    expect(step.poll().tag).toBe("done");
    const seen: unknown[] = [];
    step.poll((partial) => seen.push(partial));
    expect(seen).toEqual([]);
  });

  test.each([
    ["throws", (error: Error) => raise(error)],
    ["rejects", async (error: Error) => raise(error)],
  ])(
    "survives a callback that %s: all partial results and the result come, and the host is told once",
    async (_, fail) => {
      const warn = jest.spyOn(process, "emitWarning").mockReturnValue();
      try {
        const host = make().serve("busy", "timing", "progress");
        const step = host.callStep("busy", "echo", { steps: 3, milliseconds: 1 });
        await step.settled;
        let calls = 0;
        const failing = (): unknown => {
          calls++;
          return fail(new Error("cannot draw"));
        };
        expect(step.poll(failing).tag).toBe("done");
        expect(calls).toBe(3);
        await turn();
        expect(warn.mock.calls.map(([warning]) => warning)).toEqual([expect.stringContaining("cannot draw")]);
      } finally {
        warn.mockRestore();
      }
    },
  );

  test.each(["cancel", "destroy"] as const)("calls back no more when the callback does %s", async (act) => {
    const host = make().serve("busy", "timing", "progress");
    const step = host.callStep("busy", "echo", { steps: 50, milliseconds: 20 });
    const seen: AgentToolResult[] = [];
    const onPartial = (partial: AgentToolResult): void => {
      seen.push(partial);
      step[act]();
    };
    await waitFor("a partial result", () => {
      step.poll(onPartial);
      return seen.length > 0;
    });
    expect(step.poll(onPartial)).toMatchObject({ tag: "err", code: act === "cancel" ? "cancelled" : "destroyed" });
    expect(seen).toHaveLength(1);
  });

  test("has details of its own: what its host does to them is not seen by another of the same failure", async () => {
    const host = make().configure("bad", { command: "" }).serve("plain", "processes", "fatal");
    const missing = { configPath: host.configPath, server: "missing", tool: "x" };
    for (const params of [missing, { ...missing, server: "bad" }, { ...missing, server: "plain" }]) {
      const [one, other] = await Promise.all([host.failure("mcp_call", params), host.failure("mcp_call", params)]);
      const details = structuredClone(other.details);
      for (const [key, value] of Object.entries(one.details ?? {})) {
        if (Array.isArray(value)) value.push("mine");
        else if (one.details !== undefined) one.details[key] = "mine";
      }
      expect(other.details).toEqual(details);
      expect((await host.failure("mcp_call", params)).details).toEqual(details);
    }
  });

  test("may be one of a thousand at once, each with its own result", async () => {
    const host = hanging();
    const steps = Array.from({ length: 1000 }, (_, at) => host.callStep("hang", "echo", { text: `call ${at}` }));
    expect(new Set(steps.map((step) => step.poll().tag))).toEqual(new Set(["pending"]));
    await Promise.all(steps.map(({ settled }) => settled));
    steps.forEach((step, at) => {
      expect(step.poll()).toMatchObject({ tag: "done", result: { content: [{ type: "text", text: `call ${at}` }] } });
      step.destroy();
    });
    expect(host.pids("hang")).toHaveLength(1);
  }, 30_000);

  test("may be one of a thousand that are all cancelled at once", async () => {
    const host = hanging();
    await host.call("hang", "echo");
    const steps = Array.from({ length: 1000 }, () => running(host));
    await waitFor("some calls are running", () => host.received("hang", "tools/call").length > 100);
    for (const step of steps) step.cancel();
    expect(new Set(steps.map((step) => step.poll().tag))).toEqual(new Set(["err"]));
    for (const step of steps) step.destroy();
    await host.call("hang", "echo");
    expect(host.pids("hang")).toHaveLength(1);
  }, 30_000);

  test.each([undefined, null, "text", 7, [], () => undefined])(
    "with parameters that are no object ends as invalid_params, never as a throw (%p)",
    async (params) => {
      const host = make();
      for (const tool of host.tools.values()) {
        const step = tool.execute("call", params);
        await step.settled;
        expect(step.poll()).toMatchObject({ tag: "err", code: "invalid_params" });
      }
    },
  );

  test("with hostile parameters ends in an error, never in a throw", async () => {
    const host = make();
    const hostile = {
      get server(): never {
        throw new Error("trap");
      },
    };
    const step = host.tools.get("mcp_call")?.execute("call", hostile);
    await step?.settled;
    expect(step?.poll().tag).toBe("err");
  });
});

function raise(error: Error): never {
  throw error;
}
