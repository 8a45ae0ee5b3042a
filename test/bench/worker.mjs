/** One contestant in a process of its own; run.mjs gives it one short round at a time, so that all have the same weather. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bench } from "tinybench";

const here = dirname(fileURLToPath(import.meta.url));
const server = (tools) => ({ command: process.execPath, args: [join(here, "server.mjs"), String(tools)] });

const contestants = {
  async ours(tools) {
    const { createHost } = await import("../../dist/host/host.js");
    const folder = mkdtempSync(join(tmpdir(), "rpi-mcp-bench-"));
    const configPath = join(folder, "mcp.json");
    writeFileSync(configPath, JSON.stringify({ mcpServers: { bench: server(tools) } }));
    const host = createHost({ cwd: folder });
    await host.load(join(here, "..", ".."));
    return {
      call: (args) => host.call("mcp_call", { configPath, server: "bench", tool: "echo", arguments: args }),
      async close() {
        await host.shutdown();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  async sdk(tools) {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(new StdioClientTransport(server(tools)));
    return {
      // The same promise: the tools are known anew before every call.
      async call(args) {
        await client.listTools();
        return client.callTool({ name: "echo", arguments: args });
      },
      close: () => client.close(),
    };
  },
};

const open = new Map();
const connect = async (name, tools) => {
  if (!open.has(tools)) open.set(tools, await contestants[name](tools));
  return open.get(tools);
};

const tasks = {
  /** One call after another. */
  async sequential(name, { tools, iterations }) {
    const client = await connect(name, tools);
    const cpu = process.cpuUsage();
    const bench = new Bench({ iterations, time: 0, warmup: false });
    bench.add("call", () => client.call({ text: "x" }));
    await bench.run();
    const used = process.cpuUsage(cpu);
    const { latency } = bench.tasks[0].result;
    return { p50: latency.p50 * 1000, cpu: (used.user + used.system) / iterations };
  },
  /** Many calls at once on one connection. */
  async parallel(name, { tools, iterations }) {
    const client = await connect(name, tools);
    let left = iterations;
    const started = performance.now();
    const caller = async () => {
      while (left-- > 0) await client.call({ text: "x" });
    };
    await Promise.all(Array.from({ length: 64 }, caller));
    return { perSecond: (iterations / (performance.now() - started)) * 1000 };
  },
  /** One result of many megabytes. */
  async big(name, { bytes }) {
    const client = await connect(name, 1);
    const started = performance.now();
    await client.call({ text: "x".repeat(1024), repeat: bytes / 1024 });
    return { milliseconds: performance.now() - started };
  },
  async close() {
    await Promise.all([...open.values()].map((client) => client.close()));
    return {};
  },
};

process.on("message", ({ task, name, args }) => {
  tasks[task](name, args).then(
    (value) => process.send({ value }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.on("disconnect", () => process.exit(0));
