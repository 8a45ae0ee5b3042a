import { join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import extension from "../../src/pi/extension.ts";
import type { PiContext, PiResult, PiTool } from "../../src/pi/pi-api.ts";
import { type PiHost, piHosts, piText } from "../support/pi-host.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const host = piHosts();
const user = "~/.pi/agent/mcp.json" as const;
const contextOf = (more: object): PiContext => more as PiContext;

describe("the factory", () => {
  it("registers the three tools with plain schemas, at most 1,300 bytes in all, and starts nothing", () => {
    const pi = host().configure(user).load();
    expect([...pi.tools.keys()]).toEqual(["mcp_list", "mcp_call", "mcp_request"]);
    const declared = [...pi.tools.values()].map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    expect(Buffer.byteLength(JSON.stringify(declared))).toBeLessThanOrEqual(1300);
    for (const { parameters, executionMode, exposure } of pi.tools.values()) {
      expect(parameters).toMatchObject({ type: "object" });
      expect([executionMode, exposure]).toEqual(["parallel", "model-only"]);
    }
    expect(pi.pids()).toEqual([]);
  });

  it("never throws, whatever the host is", () => {
    const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const refuse = (): never => {
      throw new TypeError("no");
    };
    const hosts: unknown[] = [undefined, null, 7, {}, { registerTool: refuse }, { registerTool: () => {}, on: refuse }];
    hosts.push({
      registerTool: () => {},
      get on() {
        return refuse();
      },
      get events() {
        return refuse();
      },
    });
    for (const pi of hosts) expect(() => extension(pi)).not.toThrow();
    warn.mockRestore();
  });

  it("gives each session a plugin of its own", async () => {
    const [first, second] = [host(), host()].map((pi) => pi.configure(".mcp.json").load()) as [PiHost, PiHost];
    for (const pi of [first, second])
      await pi.run("mcp_call", { configPath: ".mcp.json", server: "agent", tool: "echo" });
    await first.emit("session_shutdown", { reason: "new" });
    expect(first.pids().map(isAlive)).toEqual([false]);
    expect(second.pids().map(isAlive)).toEqual([true]);
  });
});

describe("a second copy of the package in one session", () => {
  const busOf = (): object => {
    const handlers: ((data: unknown) => void)[] = [];
    return {
      on: (_channel: string, handler: (data: unknown) => void) => handlers.push(handler),
      emit: (_channel: string, data: unknown) => {
        for (const handler of handlers) handler(data);
      },
    };
  };

  it("stands back, since two tools of one name would end Pi; the same file loaded anew does not", async () => {
    const events = busOf() as { on(channel: string, handler: (data: unknown) => void): void };
    // Another copy answers on the bus as this one does.
    events.on("rpi-mcp-adapter.present", (asked) => Object.assign(asked as object, { taken: true }));
    const second = host();
    const told: string[] = [];
    second.withUi({ notify: (message) => void told.push(message) });
    expect([...second.load({ events }).tools]).toEqual([]);
    await second.emit("session_start", { reason: "startup" });
    expect(told.join("\n")).toContain("installed twice");
    const bus = busOf();
    expect(host().load({ events: bus }).tools.size).toBe(3);
    expect(host().load({ events: bus }).tools.size).toBe(3);
  });

  it("finds the first one present until its session ends", async () => {
    const bus = busOf() as { emit(channel: string, data: unknown): void };
    const pi = host().load({ events: bus });
    const other = { url: "file:///elsewhere/extension.js", taken: false };
    bus.emit("rpi-mcp-adapter.present", other);
    expect(other.taken).toBe(true);
    await pi.emit("session_shutdown", { reason: "reload" });
    const later = { ...other, taken: false };
    bus.emit("rpi-mcp-adapter.present", later);
    expect(later.taken).toBe(false);
  });
});

describe("a tool", () => {
  it("finds, describes and calls", async () => {
    const pi = host().configure(user).load();
    expect(JSON.parse(piText(await pi.run("mcp_list", {})))).toMatchObject({ servers: [{ server: "agent" }] });
    expect(piText(await pi.run("mcp_list", { server: "agent", query: "echo" }))).toContain('"name":"echo"');
    const result = await pi.call("echo", { message: "hi" });
    expect(result).toMatchObject({
      content: [{ type: "text", text: "Echo: hi" }],
      details: { server: "agent", tool: "echo" },
    });
    expect(pi.pids()).toHaveLength(1);
  });

  it("runs for the folder and the session of its host, whatever the model says", async () => {
    const pi = host().load();
    pi.write("elsewhere/mcp.json", { mcpServers: { there: { command: "no-such-program" } } });
    const listed = await pi.run("mcp_list", {
      configPath: "elsewhere/mcp.json",
      __rpi: { cwd: "/", sessionId: "stolen" },
    });
    expect(piText(listed)).toContain(join(pi.cwd, "elsewhere", "mcp.json"));
    pi.configure(user);
    await pi.call("echo");
    const status = async (context: PiContext): Promise<string> =>
      piText(await pi.run("mcp_list", { action: "status", __rpi: { sessionId: "session-1" } }, { context }));
    expect(await status(pi.context)).toContain('"server":"agent"');
    const another = pi.contextWith({ sessionManager: { getSessionId: () => "session-2" } });
    expect(await status(another)).toBe('{"connections":[]}');
  });

  it("works with a context that is empty, missing, or throws at every touch", async () => {
    const pi = host().configure(user).load();
    const stale = new Proxy(
      {},
      {
        get: () => {
          throw new Error("stale");
        },
      },
    );
    for (const context of [{}, null, stale]) {
      const found = pi.tools.get("mcp_call") as PiTool;
      const result = await found.execute(
        "rpi",
        { server: "agent", tool: "echo", arguments: { message: "x" } },
        undefined,
        undefined,
        context as PiContext,
      );
      expect(piText(result)).toBe("Echo: x");
    }
  });

  it("takes arguments as a JSON string, as nothing, and refuses what is no object", async () => {
    const pi = host().configure(user).load();
    const call = (args: unknown): Promise<PiResult> =>
      pi.run("mcp_call", { server: "agent", tool: "echo", arguments: args });
    expect(piText(await call('{"message":"text"}'))).toBe("Echo: text");
    expect(piText(await call(""))).toBe("Echo: undefined");
    expect(piText(await call(null))).toBe("Echo: undefined");
    for (const args of ["[1]", "nonsense", [1], 5])
      expect(await pi.failure("mcp_call", { server: "agent", tool: "echo", arguments: args })).toMatchObject({
        code: "invalid_params",
      });
    for (const params of [undefined, null, "", 7, []])
      expect(await pi.failure("mcp_call", params)).toMatchObject({ code: "invalid_params" });
  });

  it("shows progress, oldest first, and survives a host that cannot show it", async () => {
    const pi = host().configure(user).load();
    const seen: PiResult[] = [];
    await pi.call("progress", { steps: 3, milliseconds: 10 }, { onUpdate: (partial) => seen.push(partial) });
    expect(seen.map(({ details }) => details)).toEqual(
      [1, 2, 3].map((progress) => ({ progress: { progress, total: 3, message: `step ${progress}` } })),
    );
    const broken = (): never => {
      throw new Error("no screen");
    };
    for (const onUpdate of [broken, async () => broken()])
      expect(piText(await pi.call("progress", { steps: 2, milliseconds: 60 }, { onUpdate }))).toBe("finished");
  });

  it("fails with our sentence and no stack, for the model that reads either", async () => {
    const pi = host().configure(user).load();
    const error = await pi.failure("mcp_call", { server: "agent", tool: "fail" });
    expect(error).toBeInstanceOf(Error);
    expect([error.message, error.stack, error.code]).toEqual([
      "the disk is on fire",
      "the disk is on fire",
      "tool_error",
    ]);
    expect((await pi.failure("mcp_call", { server: "nobody", tool: "x" })).message).toContain('No server "nobody"');
  });

  it("passes an image on, and keeps the server's whole result in details that can be stored", async () => {
    const pi = host().configure(user).load();
    const image = await pi.call("image");
    expect(image.content).toMatchObject([{ type: "text" }, { type: "image", mimeType: "image/png" }]);
    expect(structuredClone(image.details)).toEqual(JSON.parse(JSON.stringify(image.details)));
    expect(image.details["mcpResult"]).toMatchObject({ content: [{ type: "text" }, { type: "image" }] });
    const deep = await pi.call("deep", { levels: 20_000 });
    expect(() => [structuredClone(deep.details), JSON.stringify(deep.details)]).not.toThrow();
  });
});

describe("an aborted call", () => {
  it("settles at once, and the connection serves the next call", async () => {
    const pi = host().configure(user).load();
    await pi.call("echo");
    const abort = new AbortController();
    const running = pi.failure(
      "mcp_call",
      { server: "agent", tool: "hang" },
      { signal: abort.signal, onUpdate: () => abort.abort() },
    );
    const error = await running;
    expect(error).toMatchObject({ code: "cancelled" });
    expect(piText(await pi.call("echo", { message: "next" }))).toBe("Echo: next");
    expect(pi.pids()).toHaveLength(1);
  });

  it("settles within a turn of the event loop", async () => {
    const pi = host().configure(user).load();
    await pi.call("echo");
    const abort = new AbortController();
    let settled = false;
    const running = pi.failure("mcp_call", { server: "agent", tool: "hang" }, { signal: abort.signal }).then(() => {
      settled = true;
    });
    await waitFor("the call is out", async () =>
      piText(await pi.run("mcp_list", { action: "status" })).includes('"pending":1'),
    );
    abort.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(true);
    await running;
  });

  it("does not start with a signal that has fired, and ignores one that only looks like a signal", async () => {
    const pi = host().configure(user).load();
    expect(
      await pi.failure("mcp_call", { server: "agent", tool: "echo" }, { signal: AbortSignal.abort() }),
    ).toMatchObject({ code: "cancelled" });
    const duck = contextOf({ aborted: false, addEventListener() {}, removeEventListener() {} }) as AbortSignal;
    for (const signal of [duck, {} as AbortSignal, null as unknown as AbortSignal])
      expect(piText(await pi.call("echo", { message: "x" }, { signal }))).toBe("Echo: x");
  });
});

describe("the end of a session", () => {
  it("ends its servers and the calls that still run, is awaited, and leaves the rest refused", async () => {
    const pi = host().configure(user).load();
    await pi.emit("session_start", { reason: "startup" });
    await pi.call("echo");
    const running = pi.failure("mcp_call", { server: "agent", tool: "hang" });
    await pi.emit("session_shutdown", { reason: "reload" });
    expect(pi.pids().map(isAlive)).toEqual([false]);
    expect(await running).toMatchObject({ code: "closed" });
    expect(await pi.failure("mcp_list", {})).toMatchObject({ code: "closed" });
    await pi.emit("session_shutdown", { reason: "quit" });
  });

  it("ends a first call that is on its way", async () => {
    const pi = host().configure(user).load();
    const running = pi.failure("mcp_call", { server: "agent", tool: "hang" });
    await pi.emit("session_shutdown", { reason: "quit" });
    expect(await running).toMatchObject({ code: "closed" });
    expect(pi.pids().filter(isAlive)).toEqual([]);
  });

  it("is over at once where nothing was called, and a host that starts another session on the same factory gets one", async () => {
    const pi = host().configure(user).load();
    await pi.emit("session_shutdown", { reason: "new" });
    expect(await pi.failure("mcp_list", {})).toMatchObject({ code: "closed" });
    await pi.emit("session_start", { reason: "new" });
    expect(piText(await pi.call("echo", { message: "again" }))).toBe("Echo: again");
  });
});
