// The reference host at work: loads the plugin from plugin.json and uses two public servers through the three tools.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "../dist/host/host.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(tmpdir(), "rpi-mcp-start-"));
const require = createRequire(import.meta.url);
const server = (name) => join(dirname(require.resolve(`${name}/package.json`)), "dist", "index.js");

writeFileSync(join(folder, "hello.txt"), "Hello from a file.\n");
writeFileSync(
  join(folder, "mcp.json"),
  JSON.stringify({
    mcpServers: {
      everything: { command: process.execPath, args: [server("@modelcontextprotocol/server-everything"), "stdio"] },
      filesystem: { command: process.execPath, args: [server("@modelcontextprotocol/server-filesystem"), folder] },
    },
  }),
);

const host = createHost({ cwd: folder, sessionId: "start" });
const configPath = "mcp.json";
let failures = 0;

const print = (text) => process.stdout.write(`${text}\n`);
const short = (text) => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

function show(result) {
  for (const block of result.content)
    print(
      `    ${block.type === "text" ? short(block.text.trimEnd()).replaceAll("\n", "\n    ") : `[${block.mimeType}, ${block.data.length} characters of base64]`}`,
    );
}

async function step(title, tool, params, { expect = "done", ...options } = {}) {
  print(`\n${title}\n  ${tool} ${JSON.stringify(params)}`);
  const started = performance.now();
  let outcome = "done";
  try {
    show(
      await host.call(tool, params, { onPartial: (partial) => print(`    … ${partial.content[0]?.text}`), ...options }),
    );
  } catch (error) {
    outcome = error.code ?? "internal";
    print(`    ${outcome}: ${short(error.message)}`);
  }
  const expected = outcome === expect;
  if (!expected) failures++;
  print(
    `  ${!expected ? `UNEXPECTED ${outcome}` : expect === "done" ? "ok" : "as expected"}, ${Math.round(performance.now() - started)} ms`,
  );
}

await host.load(root);
print(
  `Loaded ${JSON.parse(readFileSync(join(root, "plugin.json"), "utf8")).name}: ${host.tools.map((tool) => tool.name).join(", ")}`,
);
const everything = { configPath, server: "everything" };
const filesystem = { configPath, server: "filesystem" };

await step("Configured servers; none is started", "mcp_list", { configPath });
await step("Find a tool by words", "mcp_list", { ...everything, query: "add two numbers" });
await step("One tool in full", "mcp_list", { ...everything, tool: "echo" });
await step("Text", "mcp_call", { ...everything, tool: "echo", arguments: { message: "hello" } });
await step("An image", "mcp_call", { ...everything, tool: "get-tiny-image" });
await step("A structured result", "mcp_call", {
  ...everything,
  tool: "get-structured-content",
  arguments: { location: "Chicago" },
});
await step("Progress", "mcp_call", {
  ...everything,
  tool: "trigger-long-running-operation",
  arguments: { duration: 1, steps: 4 },
});
await step(
  "A tool the server does not have",
  "mcp_call",
  { ...everything, tool: "ecko" },
  { expect: "tool_not_found" },
);
await step(
  "A call cancelled after half a second",
  "mcp_call",
  { ...everything, tool: "trigger-long-running-operation", arguments: { duration: 60, steps: 60 } },
  { expect: "cancelled", signal: AbortSignal.timeout(500) },
);
await step("Another method", "mcp_request", { ...everything, method: "prompts/list" });
await step("A second server", "mcp_call", {
  ...filesystem,
  tool: "read_text_file",
  arguments: { path: join(folder, "hello.txt") },
});
await step(
  "A tool's own error",
  "mcp_call",
  { ...filesystem, tool: "read_text_file", arguments: { path: join(folder, "missing.txt") } },
  { expect: "tool_error" },
);
await step("Live connections", "mcp_list", { action: "status" });
await step("Release one", "mcp_list", { ...everything, action: "close" });

const started = performance.now();
await host.shutdown();
rmSync(folder, { recursive: true, force: true });
const left = process.getActiveResourcesInfo().filter((kind) => kind === "ProcessWrap" || kind === "Timeout");
if (left.length > 0) failures++;
print(
  `\nShut down in ${Math.round(performance.now() - started)} ms; left running: ${left.length === 0 ? "nothing" : left.join(", ")}.`,
);
process.exitCode = failures === 0 ? 0 : 1;
