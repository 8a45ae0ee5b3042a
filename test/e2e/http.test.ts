import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import {
  type HarnessOptions,
  harnesses,
  jsonOf,
  type PluginHarness,
  progressOf,
  textOf,
} from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const PACKAGE = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
const START_MS = 60_000;

const SERVICES: HostServices = {
  listRoots: async () => [{ uri: "file:///project", name: "the project" }],
  elicit: async () => ({ action: "accept", content: { name: "Ada" } }),
  createMessage: async () => ({ role: "assistant", content: { type: "text", text: "sampled text" }, model: "m" }),
};

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

/** The official test server over one of its HTTP transports. */
async function start(transport: "streamableHttp" | "sse"): Promise<Running> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(dirname(PACKAGE), "dist", "index.js"), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  await waitFor(`${transport} listens`, () => answers(port), START_MS);
  return { child, port };
}

async function stop({ child }: Running): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function hosting(url: string, options: HarnessOptions = {}, entry: object = {}): PluginHarness {
  return make(options).configure("everything", { url, ...entry });
}

async function usesEverything(url: string, entry: object = {}): Promise<void> {
  const host = hosting(url, { services: SERVICES }, entry);
  const { tools } = jsonOf(await host.list("everything")) as { tools: { name: string }[] };
  expect(tools.length).toBeGreaterThanOrEqual(13);
  expect(textOf(await host.call("everything", "echo", { message: "hello" }))).toContain("hello");
  expect((await host.call("everything", "get-tiny-image")).content.map(({ type }) => type)).toContain("image");
  expect((await host.callFailure("everything", "get-sum", { a: "x" })).code).toBe("tool_error");
  const step = host.callStep("everything", "trigger-long-running-operation", { duration: 0.4, steps: 4 });
  const seen: number[] = [];
  await waitFor("the end", () => step.poll((partial) => seen.push(progressOf(partial))).tag !== "pending");
  step.destroy();
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(textOf(await host.call("everything", "trigger-elicitation-request"))).toContain("Ada");
  expect(textOf(await host.call("everything", "trigger-sampling-request", { prompt: "hi", maxTokens: 5 }))).toContain(
    "sampled text",
  );
  const texts = Array.from({ length: 20 }, (_, at) => `m${at}.`);
  const results = await Promise.all(texts.map((message) => host.call("everything", "echo", { message })));
  for (const [at, text] of texts.entries()) expect(textOf(results[at] as never)).toContain(text);
  const request = { configPath: host.configPath, server: "everything", method: "prompts/get" };
  const prompt = await host.run("mcp_request", { ...request, params: { name: "simple-prompt" } });
  expect(jsonOf(prompt)["messages"]).toHaveLength(1);
}

describe("the official test server over Streamable HTTP", () => {
  let server: Running;
  beforeAll(async () => {
    server = await start("streamableHttp");
  }, START_MS);
  afterAll(() => stop(server));

  test("lists, calls, reports progress, asks the host, and serves many calls at once", async () => {
    await usesEverything(`http://localhost:${server.port}/mcp`, { type: "http" });
  });

  test("answers a raw request without a session in its own words", async () => {
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const opened = await make().run("mcp_request", { url, method: "initialize", params, id: "first" });
    expect(jsonOf(opened)).toMatchObject({ id: "first", result: { serverInfo: {} } });
    expect((await make().failure("mcp_request", { url, method: "tools/list" })).details).toMatchObject({ status: 400 });
  });
});

describe("the official test server over the transport of 2024-11-05", () => {
  let server: Running;
  beforeAll(async () => {
    server = await start("sse");
  }, START_MS);
  afterAll(() => stop(server));

  test.each([{ type: "sse" }, {}])("lists, calls, reports progress and asks the host (entry %j)", async (entry) => {
    await usesEverything(`http://127.0.0.1:${server.port}/sse`, entry);
  });
});

describe("a reverse proxy between the client and the server", () => {
  let server: Running;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    server = await start("streamableHttp");
    proxy = await CuttingProxy.start(server.port);
  }, START_MS);
  afterAll(async () => {
    await proxy.dispose();
    await stop(server);
  });

  const CUTS: [string, Cut, "closed" | "done"][] = [];
  for (const how of ["reset", "close"] as const) {
    CUTS.push(
      [`${how} before the request`, { side: "request", afterBytes: 0, how }, "closed"],
      [`${how} in the request's head`, { side: "request", afterBytes: 40, how }, "closed"],
      [`${how} in the request's body`, { side: "request", afterBytes: 500, how }, "closed"],
      [`${how} before the response`, { side: "response", afterBytes: 0, how }, "closed"],
      [`${how} in the response's head`, { side: "response", afterBytes: 60, how }, "closed"],
      // The server has named an event by then, and goes on where it was asked to.
      [`${how} after the first event`, { side: "response", afterBytes: 600, how }, "done"],
    );
  }

  test("that buffers, cuts and resets: each call is sent once, and the next one works", async () => {
    let cut: Cut | undefined;
    const approve = async ({ action }: { action: string }): Promise<boolean> => {
      // Between the discovery and the call.
      if (action === "call") proxy.cut = cut;
      return true;
    };
    const host = hosting(proxy.url("mcp"), { services: { approve }, limits: { minRetryMs: 1, defaultRetryMs: 1 } });
    const sent = (): number => proxy.sent.split('"method":"tools/call"').length - 1;
    proxy.bufferMs = 20;
    expect(textOf(await host.call("everything", "echo", { message: "buffered" }))).toContain("buffered");
    proxy.bufferMs = 0;
    for (const [name, each, expected] of CUTS) {
      cut = each;
      proxy.sent = "";
      const end = await host.end("mcp_call", host.callParams("everything", "echo", { message: name.repeat(20) }));
      const unknown = end.tag === "err" ? end.details?.["outcomeUnknown"] : undefined;
      const shown = end.tag === "err" ? end.code : end.tag;
      expect({ name, shown, unknown, cut: proxy.cut }).toEqual({
        name,
        shown: expected,
        unknown: expected === "done" ? undefined : true,
        cut: undefined,
      });
      cut = undefined;
      const before = sent();
      expect({ name, before }).toEqual({ name, before: each.side === "request" && each.afterBytes < 500 ? before : 1 });
      expect(before).toBeLessThanOrEqual(1);
      expect(textOf(await host.call("everything", "echo", { message: "and on" }))).toContain("and on");
      expect(sent()).toBe(before + 1);
    }
  });
});
