import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AgentToolResult } from "../../src/contract.ts";
import { createHost, type Host, StepError } from "../../src/host/host.ts";

const EXTENSION = "io.github.pi-rust.rpi";
let folder: string;
let hosts: Host[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "host-"));
});

afterEach(async () => {
  for (const host of hosts) await host.shutdown();
  hosts = [];
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

function host(options: Parameters<typeof createHost>[0] = {}): Host {
  const made = createHost(options);
  hosts.push(made);
  return made;
}

let plugins = 0;

/** Writes a plugin with this entry; returns its folder. The entry notes what happens in `globalThis.seen`. */
function plugin(entry: string, extension: Record<string, unknown> = { abiVersion: 1, entry: "./entry.mjs" }): string {
  const path = join(folder, `plugin-${plugins++}`);
  mkdirSync(path);
  writeFileSync(join(path, "plugin.json"), JSON.stringify({ name: "toy", extensions: { [EXTENSION]: extension } }));
  writeFileSync(join(path, "entry.mjs"), entry);
  return path;
}

const TOY = `
const seen = (globalThis.seen ??= []);
let turn = 0;
export function register(api) {
  const number = ++turn;
  seen.push("register");
  api.registerTool({
    name: "toy",
    description: "",
    parameters: { type: "object" },
    execute(id, params) {
      seen.push({ id, params });
      let end = { tag: "pending" };
      let settle;
      let partials = [1, 2, 3];
      const settled = new Promise((resolve) => (settle = resolve));
      const finish = (state) => { if (end.tag === "pending") { end = state; settle(); } };
      if (params.fail) finish({ tag: "err", code: "rpc_error", message: "it failed", details: { a: 1 } });
      else if (!params.hang) setTimeout(() => finish({ tag: "done", result: { content: [{ type: "text", text: "turn " + number }] } }), 100);
      return {
        poll(onPartial) {
          if (onPartial) for (const n of partials.splice(0)) onPartial({ content: [], details: { n } });
          return end;
        },
        cancel: () => finish({ tag: "err", code: "cancelled", message: "cancelled", details: {} }),
        destroy: () => seen.push("destroy"),
        settled,
      };
    },
  });
  api.registerEventHandler("SessionShutdown", async () => {
    seen.push("shutdown " + number);
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen.push("down " + number);
  });
  return 0;
}
`;

function seen(): unknown[] {
  const { seen: list } = globalThis as unknown as { seen?: unknown[] };
  return list ?? [];
}

beforeEach(() => {
  seen().length = 0;
});

describe("loading a plugin", () => {
  test("imports an entry whose folder only looks as if it led outside", async () => {
    const one = host();
    const path = plugin(TOY, { abiVersion: 1, entry: "./..built/entry.mjs" });
    mkdirSync(join(path, "..built"));
    renameSync(join(path, "entry.mjs"), join(path, "..built", "entry.mjs"));
    await one.load(path);
    expect(one.tools.map(({ name }) => name)).toEqual(["toy"]);
  });

  test("imports the entry that plugin.json names, and registers its tools", async () => {
    const one = host();
    await one.load(plugin(TOY));
    expect(one.tools.map(({ name }) => name)).toEqual(["toy"]);
    expect(seen()).toEqual(["register"]);
  });

  test("takes a register function that is the default export", async () => {
    const one = host();
    await one.load(
      plugin(
        "export default function (api) { api.registerTool({ name: 'd', description: '', parameters: {}, execute() {} }); return 0; }",
      ),
    );
    expect(one.tools.map(({ name }) => name)).toEqual(["d"]);
  });

  test.each([
    ["another abiVersion", TOY, { abiVersion: 2, entry: "./entry.mjs" }, "abiVersion"],
    ["no abiVersion", TOY, { entry: "./entry.mjs" }, "abiVersion"],
    ["an entry outside of the plugin", TOY, { abiVersion: 1, entry: "../entry.mjs" }, "outside"],
    ["an absolute entry", TOY, { abiVersion: 1, entry: "/entry.mjs" }, "inside"],
    ["no entry", TOY, { abiVersion: 1 }, "entry"],
    ["an entry that does not exist", TOY, { abiVersion: 1, entry: "./missing.mjs" }, "missing.mjs: cannot be imported"],
    ["an entry that cannot be read", "export {", undefined, "entry.mjs: cannot be imported"],
    ["no register function", "export const a = 1;", undefined, "register"],
    ["a plugin that refuses", "export const register = () => 7;", undefined, "7"],
    ["a plugin that throws", "export const register = () => { throw new Error('broken'); };", undefined, "broken"],
  ])("fails as config_error with %s", async (_, entry, extension, words) => {
    const one = host();
    await expect(one.load(plugin(entry, extension))).rejects.toMatchObject({
      code: "config_error",
      message: expect.stringContaining(words),
    });
    expect(one.tools).toEqual([]);
  });

  test.each([
    ["is missing", undefined, "loaded by the folder that holds it"],
    ["is no JSON", "{", "cannot be read"],
    ["is for other hosts", '{"name":"x"}', "not a plugin for this host"],
    ["is no object", "[]", "not a plugin for this host"],
  ])("fails as config_error where plugin.json %s", async (_, content, words) => {
    const path = join(folder, "odd");
    mkdirSync(path);
    if (content !== undefined) writeFileSync(join(path, "plugin.json"), content);
    await expect(host().load(path)).rejects.toMatchObject({
      code: "config_error",
      message: expect.stringMatching(new RegExp(`plugin\\.json: .*${words}`)),
    });
  });

  test("a second time is a reload: the same api, and only the newer handler at the end", async () => {
    const one = host();
    const path = plugin(
      "const apis = (globalThis.apis ??= []); export function register(api) { apis.push(api); api.registerEventHandler('SessionShutdown', () => globalThis.seen.push('down ' + apis.length)); return 0; }",
    );
    await one.load(path);
    await one.load(path);
    const { apis } = globalThis as unknown as { apis: unknown[] };
    expect(apis[0]).toBe(apis[1]);
    await one.shutdown();
    expect(seen()).toEqual(["down 2"]);
  });

  test("a plugin that refuses leaves the tools of others as they were", async () => {
    const one = host();
    await one.load(plugin(TOY));
    await expect(
      one.load(
        plugin(
          "export function register(api) { api.registerTool({ name: 'toy' }); api.registerTool({ name: 'half' }); return 1; }",
        ),
      ),
    ).rejects.toMatchObject({ code: "config_error" });
    expect(one.tools.map(({ name }) => name)).toEqual(["toy"]);
    expect((await one.call("toy", {})).content).toEqual([{ type: "text", text: "turn 1" }]);
  });
});

describe("calling a tool", () => {
  test("injects the host's context over whatever the model wrote", async () => {
    const one = host({ cwd: folder, sessionId: "s1" });
    await one.load(plugin(TOY));
    await one.call("toy", { a: 1, __rpi: { sessionId: "stolen" } });
    expect(seen()).toContainEqual({
      id: expect.any(String),
      params: { a: 1, __rpi: { cwd: folder, sessionId: "s1" } },
    });
    const two = host();
    await two.load(plugin(TOY));
    await two.call("toy", { __rpi: { sessionId: "stolen" } });
    expect(seen()).toContainEqual({ id: expect.any(String), params: { __rpi: { cwd: process.cwd() } } });
  });

  test("gives its result, passes partial results on, and destroys the handle", async () => {
    const one = host();
    await one.load(plugin(TOY));
    const partials: AgentToolResult[] = [];
    const result = await one.call("toy", {}, { onPartial: (partial) => partials.push(partial) });
    expect(result).toEqual({ content: [{ type: "text", text: "turn 1" }] });
    expect(partials.map(({ details }) => details?.["n"])).toEqual([1, 2, 3]);
    expect(seen().at(-1)).toBe("destroy");
  });

  test("rejects, and never throws at once, where a plugin breaks its promise not to throw", async () => {
    const one = host();
    await one.load(
      plugin(
        "export function register(api) { api.registerTool({ name: 'toy', execute() { throw new Error('broken'); } }); return 0; }",
      ),
    );
    const error: unknown = await one.call("toy", {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: "broken" });
  });

  test("rejects with an Error that carries code, message and details", async () => {
    const one = host();
    await one.load(plugin(TOY));
    const error: unknown = await one.call("toy", { fail: true }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StepError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code: "rpc_error", message: "it failed", details: { a: 1 } });
    expect(seen().at(-1)).toBe("destroy");
  });

  test("is cancelled by its signal, also by one that is aborted already", async () => {
    const one = host();
    await one.load(plugin(TOY));
    await expect(one.call("toy", { hang: true }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "cancelled",
    });
    const controller = new AbortController();
    const running = one.call("toy", { hang: true }, { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
  });

  test("with parameters that cannot be read ends in an error: nothing is thrown at a host that waits for a handle", async () => {
    const one = host();
    await one.load(plugin(TOY));
    const params = {
      get fail(): boolean {
        throw new Error("not readable");
      },
    };
    const step = one.execute("toy", params);
    await step.settled;
    expect(step.poll()).toMatchObject({ tag: "err", code: "invalid_params" });
    await expect(one.call("toy", params)).rejects.toMatchObject({
      code: "invalid_params",
      message: expect.stringContaining("not readable"),
    });
  });

  test("hands on parameters that are no object as they are: to refuse them is for the tool", async () => {
    const one = host();
    await one.load(plugin(TOY));
    for (const params of [5, "text", ["item"]]) {
      await one.call("toy", params as object);
      expect(seen()).toContainEqual({ id: expect.any(String), params });
    }
  });

  test("of a tool that is not registered ends in an error that names those that are", async () => {
    const one = host();
    await expect(one.call("toy", {})).rejects.toMatchObject({
      code: "invalid_params",
      message: expect.stringContaining("Load the plugin"),
    });
    await one.load(plugin(TOY));
    const step = one.execute("tow", {});
    await step.settled;
    expect(step.poll()).toMatchObject({ tag: "err", code: "invalid_params", message: expect.stringContaining("toy") });
    step.cancel();
    step.destroy();
    expect(step.poll()).toMatchObject({ tag: "err", code: "destroyed" });
  });
});

describe("the shutdown of a host", () => {
  test("tells every plugin, waits for all, and is the same for all who ask meanwhile", async () => {
    const one = host();
    await one.load(plugin(TOY));
    await one.load(plugin(TOY));
    const both = [one.shutdown(), one.shutdown()];
    expect(seen().filter((event) => event === "shutdown 1")).toHaveLength(2);
    expect(one.tools).toEqual([]);
    await both[1];
    expect(seen().filter((event) => event === "down 1")).toHaveLength(2);
    await one.shutdown();
    expect(seen().filter((event) => event === "shutdown 1")).toHaveLength(2);
  });

  test("goes on where a handler fails, and the host can load again", async () => {
    const one = host();
    await one.load(
      plugin(
        "export function register(api) { api.registerEventHandler('SessionShutdown', () => { throw new Error('x'); }); return 0; }",
      ),
    );
    const path = plugin(TOY);
    await one.load(path);
    await one.shutdown();
    expect(seen()).toContain("down 1");
    await one.load(path);
    expect((await one.call("toy", {})).content).toEqual([{ type: "text", text: "turn 2" }]);
  });
});
