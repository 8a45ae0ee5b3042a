import { afterEach, describe, expect, test } from "@jest/globals";
import type { HostTool, PluginApi } from "../../src/contract.ts";
import { createPlugin, type Plugin } from "../../src/plugin/plugin.ts";
import { harnesses, settle, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();
const plugins: Plugin[] = [];
afterEach(async () => {
  for (const plugin of plugins.splice(0)) await plugin.shutdown();
});

function fresh(): Plugin {
  const plugin = createPlugin();
  plugins.push(plugin);
  return plugin;
}

/** An api that notes what is registered. */
function noting(more: Partial<PluginApi> = {}): PluginApi & { tools: HostTool[]; events: string[] } {
  const tools: HostTool[] = [];
  const events: string[] = [];
  return {
    abiVersion: 1,
    registerTool: (tool) => void tools.push(tool),
    registerEventHandler: (event) => void events.push(event),
    tools,
    events,
    ...more,
  };
}

describe("registering", () => {
  test("gives the host the three tools and asks to be told of the shutdown", () => {
    const api = noting();
    expect(fresh().register(api)).toBe(0);
    expect(api.tools.map(({ name }) => name)).toEqual(["mcp_list", "mcp_call", "mcp_request"]);
    expect(api.events).toEqual(["SessionShutdown"]);
  });

  test.each([0, 2, "1", 1.5, null, undefined, Number.NaN])(
    "is refused with abiVersion %p, and nothing else is looked at",
    (abiVersion) => {
      const looked: string[] = [];
      const api = new Proxy({ abiVersion } as unknown as PluginApi, {
        get(target, key) {
          looked.push(String(key));
          return Reflect.get(target, key);
        },
      });
      expect(fresh().register(api)).not.toBe(0);
      expect(looked).toEqual(["abiVersion"]);
    },
  );

  test.each([undefined, null, 1, "host", {}])("is refused where there is no host (%p)", (api) => {
    expect(fresh().register(api as unknown as PluginApi)).not.toBe(0);
  });

  test("is refused by a host without registerTool, and then nothing is registered", () => {
    const events: string[] = [];
    const api = { abiVersion: 1, registerEventHandler: (event: string) => void events.push(event) };
    expect(fresh().register(api)).not.toBe(0);
    expect(events).toEqual([]);
  });

  test("works with a host that has no events", () => {
    const { abiVersion, registerTool, tools } = noting();
    expect(fresh().register({ abiVersion, registerTool: registerTool as NonNullable<PluginApi["registerTool"]> })).toBe(
      0,
    );
    expect(tools).toHaveLength(3);
  });

  test("is refused where the host throws, and tools it took already do nothing", async () => {
    const api = noting();
    const { tools } = api;
    const refusing = {
      ...api,
      registerTool: (tool: HostTool) => {
        if (tools.push(tool) === 2) throw new Error("full");
      },
    };
    expect(fresh().register(refusing)).not.toBe(0);
    expect(tools).toHaveLength(2);
    for (const tool of tools) {
      const step = tool.execute("call", {});
      await step.settled;
      expect(step.poll()).toMatchObject({ tag: "err", code: "closed" });
    }
  });

  test("hands out declarations of its own to each host", () => {
    const [one, two] = [noting(), noting()];
    const plugin = fresh();
    plugin.register(one);
    plugin.register(two);
    const [changed, other] = [one, two].map(
      ({ tools }) => tools[0]?.parameters["properties"] as Record<string, unknown>,
    );
    if (changed !== undefined) changed["server"] = "changed";
    expect(other?.["server"]).toEqual({ type: "string" });
  });

  test("costs a model at most 1,300 bytes in plain schemas [L03]", () => {
    const api = noting();
    fresh().register(api);
    const declared = api.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    expect(declared.map((tool) => JSON.stringify(tool)).join("").length).toBeLessThanOrEqual(1300);
    expect(Buffer.byteLength(JSON.stringify(declared))).toBeLessThanOrEqual(1300);
    for (const { parameters } of declared) {
      expect(parameters["type"]).toBe("object");
      for (const keyword of ["oneOf", "anyOf", "allOf", "not", "if"]) expect(parameters).not.toHaveProperty(keyword);
      const json = JSON.stringify(parameters);
      expect(json).not.toMatch(/"(patternProperties|\$ref|const|\$defs)"/);
      expect(json).not.toMatch(/"type":\[/);
      const properties = parameters["properties"] as Record<string, { type?: unknown }>;
      for (const property of Object.values(properties)) expect(typeof property.type).toBe("string");
      for (const required of (parameters["required"] ?? []) as string[]) expect(properties).toHaveProperty([required]);
    }
  });
});

describe("registering again with the same host", () => {
  test("shuts down what it had, and starts anew", async () => {
    const host = make().serve("hang", "timing", "hang");
    await host.call("hang", "echo");
    const running = host.callStep("hang", "hang");
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 2);
    const old = host.tools.get("mcp_list");
    expect(host.plugin.register(host.api)).toBe(0);
    expect(running.poll()).toMatchObject({ tag: "err", code: "closed" });
    running.destroy();
    const [first] = host.pids("hang");
    await waitFor("the first process is gone", () => !isAlive(first ?? 0));
    expect(textOf(await host.call("hang", "echo", { text: "anew" }))).toBe("anew");
    expect(host.pids("hang")).toHaveLength(2);
    const step = old?.execute("call", {});
    await step?.settled;
    expect(step?.poll()).toMatchObject({ tag: "err", code: "closed" });
  });

  test.each([1, 2])("and a shutdown right after it waits for what the host had before (%i times)", async (times) => {
    const host = make({ limits: { stdinEndMs: 300, terminateMs: 300 } }).serve("stubborn", "processes", "stubborn");
    await host.call("stubborn", "echo");
    for (let time = 0; time < times; time++) host.plugin.register(host.api);
    await host.shutdownByNewest();
    expect(host.pids("stubborn")).toHaveLength(1);
    expect(host.pids("stubborn").filter(isAlive)).toEqual([]);
  });

  test("refused, leaves nothing running of what it had", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    (host.api as { abiVersion: number }).abiVersion = 2;
    expect(host.plugin.register(host.api)).not.toBe(0);
    await waitFor("its process is gone", () => host.pids("plain").every((pid) => !isAlive(pid)));
  });

  test("after a shutdown makes it usable again", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    await host.shutdown();
    expect((await host.callFailure("plain", "echo")).code).toBe("closed");
    expect(host.plugin.register(host.api)).toBe(0);
    expect(textOf(await host.call("plain", "echo", { text: "again" }))).toBe("again");
  });
});

describe("two hosts", () => {
  test("of one plugin have processes of their own, and the end of one does not disturb the other", async () => {
    const one = make().serve("plain", "processes", "plain");
    const two = make({ plugin: one.plugin, beside: one });
    await Promise.all([one.call("plain", "echo"), two.call("plain", "echo")]);
    expect(one.pids("plain")).toHaveLength(2);
    await one.shutdown();
    expect(textOf(await two.call("plain", "echo", { text: "still here" }))).toBe("still here");
    expect(two.pids("plain")).toHaveLength(2);
    expect((await one.callFailure("plain", "echo")).code).toBe("closed");
  });

  test("of two plugins in one process do not either", async () => {
    const one = make().serve("plain", "processes", "plain");
    const two = make({ beside: one });
    const running = two.call("plain", "echo", { text: "two" });
    await one.call("plain", "echo");
    await one.plugin.shutdown();
    expect(textOf(await running)).toBe("two");
    expect(textOf(await two.call("plain", "echo", { text: "still here" }))).toBe("still here");
  });
});

describe("the services of a host", () => {
  test("may be methods of a class, given with the plugin or by the host", async () => {
    class Services {
      readonly #asked: string[] = [];
      async approve({ action }: { action: string }): Promise<boolean> {
        this.#asked.push(action);
        return true;
      }
      get asked(): string[] {
        return this.#asked;
      }
    }
    const [theirs, ours] = [new Services(), new Services()];
    const host = make({ services: theirs }).serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    const plugin = createPlugin({ services: ours });
    const other = make({ plugin, beside: host });
    await other.call("plain", "echo");
    expect([theirs.asked, ours.asked]).toEqual([
      ["start", "call"],
      ["start", "call"],
    ]);
  });

  test("that cannot be read fail the call that needs them, not every call after it", async () => {
    let looks = 0;
    const api = Object.defineProperty(noting(), "services", {
      get: () => {
        looks += 1;
        if (looks === 1) throw new Error("not yet");
        return {};
      },
    });
    fresh().register(api);
    const ends = [];
    for (let at = 0; at < 2; at++) {
      const step = api.tools[0]?.execute("call", { action: "status" });
      await step?.settled;
      ends.push(step?.poll().tag);
    }
    expect(ends).toEqual(["err", "done"]);
  });
});

describe("the shutdown", () => {
  test("ends running steps at once as closed, refuses new ones, and may be asked for again", async () => {
    const host = make().serve("hang", "timing", "hang");
    const step = host.callStep("hang", "hang");
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    const both = [host.shutdown(), host.shutdown(), host.plugin.shutdown()];
    expect(step.poll()).toMatchObject({ tag: "err", code: "closed" });
    step.destroy();
    expect((await host.callFailure("hang", "echo")).code).toBe("closed");
    expect(await settle(host.step("mcp_list", {}))).toMatchObject({ tag: "err", code: "closed" });
    await Promise.all(both);
    expect(host.pids("hang").filter(isAlive)).toEqual([]);
  });

  test("of a plugin that was never used resolves", async () => {
    const host = make();
    await host.shutdown();
    await host.shutdown();
  });

  test.each([0, 5, 20, 60, 150, 400])(
    "at any moment of a first call leaves no process behind (%d ms after it)",
    async (milliseconds) => {
      const host = make({ limits: { stdinEndMs: 300, terminateMs: 300 } });
      for (const name of ["one", "two", "three"]) host.serve(name, "processes", "stubborn");
      const steps = ["one", "two", "three"].map((name) => host.callStep(name, "echo"));
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      await host.shutdown();
      for (const step of steps) expect(step.poll().tag).not.toBe("pending");
      // A process that came up afterwards would write into its ledger.
      await host.stop();
    },
  );
});
