/**
 * Uses the packed package as a stranger would, with the oldest Node it promises and with each line that is tested: import,
 * require, jiti, a real call, the Pi extension, the command. Ends with the line "N passed, N failed".
 */
import { execFile } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { check, equal, install, npm, pack, ROOT, runChecks } from "./checks.mjs";

const NAME = "rpi-mcp-adapter";
const JITI = "2.7.0";
const { engines } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
const LINES = [engines.node.replace(/^>=/, ""), "20", "22.0.0", "22", "24", "26"];

/** Modules of a stranger's; each prints one line. */
const USES = {
  "import.mjs": `
    import register, { createPlugin, LIMITS } from "${NAME}";
    import { createHost } from "${NAME}/host";
    import extension from "${NAME}/pi";
    console.log(...[register, createPlugin, createHost, extension].map((each) => typeof each), typeof LIMITS);`,
  "require.cjs": `
    try {
      const { register } = require("${NAME}");
      console.log(typeof register, typeof require("${NAME}/host").createHost, typeof require("${NAME}/pi").default);
    } catch (error) {
      console.log(process.features.require_module ? error.stack : error.code);
    }`,
  "call.mjs": `
    import { createHost } from "${NAME}/host";
    const host = createHost();
    await host.load("node_modules/${NAME}");
    const { content } = await host.call("mcp_call", { configPath: "mcp.json", server: "agent", tool: "echo", arguments: { message: "x" } });
    await host.shutdown();
    console.log(content[0].text);`,
  // An import of node:http would be felt: from Node 22 on its namespace loads all of undici.
  "http.mjs": `
    import { createRequire } from "node:module";
    import { createHost } from "${NAME}/host";
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "Echo: x" }] },
    };
    const server = createRequire(import.meta.url)("node:http").createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body || "{}");
      if (id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const host = createHost();
    await host.load("node_modules/${NAME}");
    const url = "http://127.0.0.1:" + server.address().port;
    const { content } = await host.call("mcp_call", { url, tool: "echo" });
    await host.shutdown();
    server.close();
    console.log(content[0].text, process.moduleLoadList.filter((name) => name.includes("undici/undici")).join());`,
  "jiti.mjs": `
    import { createJiti } from "jiti";
    const jiti = createJiti(import.meta.url, { moduleCache: false, tryNative: false, fsCache: false });
    const extension = await jiti.import("${NAME}/pi", { default: true });
    const tools = new Map();
    const ends = [];
    extension({ registerTool: (tool) => tools.set(tool.name, tool), on: (event, end) => event === "session_shutdown" && ends.push(end) });
    const params = { configPath: "mcp.json", server: "agent", tool: "echo", arguments: '{"message":"x"}' };
    const { content } = await tools.get("mcp_call").execute("1", params, undefined, undefined, {});
    await ends[0]();
    console.log(content[0].text);`,
};
const PRINTED = {
  "import.mjs": "function function function function object",
  "call.mjs": "Echo: x",
  "http.mjs": "Echo: x",
  "jiti.mjs": "Echo: x",
};

await runChecks("nodes-check", checkAll);

async function checkAll(folder) {
  const app = join(folder, "app");
  await install(app, (await pack(folder)).path, `jiti@${JITI}`);
  for (const [name, text] of Object.entries(USES)) await writeFile(join(app, name), text);
  await cp(join(ROOT, "test", "fixtures", "servers"), join(app, "servers"), { recursive: true });
  const agent = { command: process.execPath, args: [join(app, "servers", "agent.mjs")] };
  await writeFile(join(app, "mcp.json"), JSON.stringify({ mcpServers: { agent } }));
  for (const line of LINES) await checkLine(line, app);
}

async function checkLine(line, app) {
  const asks = ["-y", "-p", `node@${line}`, "node", "-p", "JSON.stringify([process.execPath, process.version])"];
  const [node, version] = JSON.parse(await npm("npx", asks, app));
  const requires = await runNode(node, ["-p", "process.features.require_module === true"], app);
  const due = {
    ...PRINTED,
    "require.cjs": requires.trim() === "true" ? "function function function" : "ERR_REQUIRE_ESM",
  };
  for (const use of Object.keys(USES))
    await check(`${version}: ${use}`, async () => equal((await runNode(node, [use], app)).trim(), due[use]));
  await check(`${version}: rpi-mcp`, async () => {
    const { bin } = JSON.parse(await readFile(join(app, "node_modules", NAME, "package.json"), "utf8"));
    const main = join(app, "node_modules", NAME, Object.values(bin)[0]);
    const args = ["call", "--config", "mcp.json", "agent", "echo", "message=x"];
    const caches = join(app, "caches", version);
    equal((await runNode(node, [main, ...args], app, caches)).trim(), "Echo: x");
    // What it compiled is kept wherever Node can do that, and is good for the next run.
    const keeps =
      (await runNode(node, ["-p", "typeof require('node:module').enableCompileCache"], app)).trim() === "function";
    equal((await readdir(caches, { recursive: true }).catch(() => [])).length > 0, keeps);
    equal((await runNode(node, [main, ...args], app, caches)).trim(), "Echo: x");
  });
}

/** The standard output of a program under that Node; whatever else it prints is a failure. */
async function runNode(node, args, cwd, caches = join(cwd, "caches")) {
  const env = { ...process.env, XDG_CACHE_HOME: caches, LOCALAPPDATA: caches };
  const { stdout, stderr } = await promisify(execFile)(node, args, { cwd, env, timeout: 60_000 });
  equal(stderr, "");
  return stdout;
}
