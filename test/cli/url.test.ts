import { readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { Shell } from "../support/cli.ts";
import { FaultServer } from "../support/http-fault-server.ts";

let server: FaultServer;
let shell: Shell;

beforeAll(async () => {
  server = await FaultServer.start({
    scenarios: {
      good: {},
      strict: {
        on: "*",
        post: (exchange) => exchange.respond(400, {}, "Server not initialized"),
      },
      guarded: {
        on: "*",
        post: (exchange) =>
          exchange.seen.headers["x-key"] === "s3cret-value"
            ? exchange.good()
            : exchange.respond(403, {}, `refused ${exchange.seen.headers["x-key"]}`),
      },
    },
  });
});
afterAll(() => server.dispose());
beforeEach(() => {
  shell = new Shell();
});
afterEach(() => shell.remove());

describe("a server behind --url", () => {
  it("is listed and called without a config file", async () => {
    const listed = await shell.run(["list", "--url", server.url("good")]);
    expect(listed.stdout).toContain("echo(text?: string)");
    const called = await shell.run(["--url", server.url("good"), "call", "echo", "text=hi"]);
    expect(called).toEqual({ status: 0, signal: null, stdout: "hi\n", stderr: "" });
  });

  it("has no SERVER beside it", async () => {
    const { status, stderr } = await shell.run(["call", "--url", server.url("good"), "good", "echo", "text=hi"]);
    expect(status).toBe(2);
    expect(stderr).toContain('"echo" is not key=value, and "good" was taken as TOOL: --url is the server.');
  });

  it("answers a raw request with the whole JSON-RPC response, under the id that was given", async () => {
    const raw = await shell.run(["request", "--url", server.url("good"), "tools/list", "--id", "abc"]);
    expect(JSON.parse(raw.stdout)).toMatchObject({ jsonrpc: "2.0", id: "abc", result: { tools: [{ name: "echo" }] } });
    const number = await shell.run(["request", "--url", server.url("good"), "no/such", "--id", "7"]);
    expect(JSON.parse(number.stdout)).toMatchObject({ id: 7, error: { code: -32601 } });
    expect(raw.stderr).toBe("");
    expect(number.stderr).toContain("A raw request makes no handshake");
  });

  it("is told once to want a handshake, in the words of a command line", async () => {
    const { stderr } = await shell.run(["request", "--url", server.url("strict"), "tools/list"]);
    expect(stderr.split("handshake").length - 1).toBe(1);
    expect(stderr).toMatch(/configure it and give its name, or add --header\. It says: Server not initialized$/m);
  });

  it("stands for the server in the lines of a run", async () => {
    const input = '{"tool":"mcp_call","params":{"tool":"echo","arguments":{"text":"a"}}}\n{"tool":"mcp_list"}\n';
    const { status, stdout } = await shell.run(["run", "-", "--url", server.url("good")], { input });
    expect(status).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { details: object }).details),
    ).toMatchObject([{ tool: "echo" }, { tools: [{ name: "echo" }] }]);
  });

  it("is checked by doctor", async () => {
    const { status, stdout } = await shell.run(["doctor", "--url", server.url("good"), "--json"]);
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { ok: true, servers: [{ state: "ok", tools: 1 }] }]);
  });

  it("ends with 1 where nothing listens", async () => {
    const { status, stdout, stderr } = await shell.run(["call", "--url", "http://127.0.0.1:1/mcp", "echo"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Error (connect_failed)");
    expect(stderr).toContain("Is it running? Check host and port.");
    expect(stderr.match(/127\.0\.0\.1:1\/mcp/g)).toHaveLength(1);
  });
});

describe("an error at the terminal", () => {
  it("speaks of options and commands, not of what an agent host would do", async () => {
    const unknown = await shell.run(["call", "--url", server.url("good"), "ecko"]);
    const missing = await shell.run(["list", "--config", "none.json"]);
    const refused = await shell.run(["request", "--url", server.url("good"), "--header", "X-A: b", "initialize"]);
    for (const { stderr } of [unknown, missing, refused]) expect(stderr).not.toMatch(/mcp_|configPath/);
    expect(unknown.stderr).toContain("rpi-mcp list --url URL shows its tools.");
    expect(missing.stderr).toContain("--config");
    expect(refused.stderr).toContain("cannot be sent with request: ");
  });
});

describe("--header", () => {
  const header = ["--header", "X-Key: ${SECRET_KEY}", "--header", "X-Other: a: b"];

  it("is sent with every request, its variables expanded, and leaves no file behind", async () => {
    const before = server.requests("guarded").length;
    const { status, stdout, stderr } = await shell.run(
      ["call", "--url", server.url("guarded"), ...header, "echo", "text=in"],
      {
        env: { SECRET_KEY: "s3cret-value" },
      },
    );
    expect([status, stdout, stderr]).toEqual([0, "in\n", ""]);
    const sent = server.requests("guarded", "POST").slice(before);
    expect(sent.length).toBeGreaterThan(2);
    for (const { headers } of sent) expect(headers).toMatchObject({ "x-key": "s3cret-value", "x-other": "a: b" });
    expect(readdirSync(shell.root).filter((name) => name.startsWith("rpi-mcp"))).toEqual([]);
  });

  it("never shows its value", async () => {
    const { status, stdout, stderr } = await shell.run(["list", "--url", server.url("guarded"), ...header], {
      env: { SECRET_KEY: "another-secret" },
    });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("HTTP 403");
    expect(stderr).not.toContain("another-secret");
  });

  it("names a variable that is not set, and not the private file, and sends nothing", async () => {
    const before = server.seen.length;
    const { status, stderr } = await shell.run(["list", "--url", server.url("guarded"), ...header]);
    expect([status, server.seen.length]).toEqual([1, before]);
    expect(stderr).toMatch(/headers\.X-Key uses \$\{SECRET_KEY\}, which is not set/);
    expect(stderr).not.toContain("mcp.json");
  });

  it("works with every command that contacts a server", async () => {
    const env = { SECRET_KEY: "s3cret-value" };
    const target = ["--url", server.url("guarded"), ...header];
    const request = await shell.run(["request", ...target, "tools/list"], { env });
    expect(JSON.parse(request.stdout)).toMatchObject({ tools: [{ name: "echo" }] });
    const input = '{"tool":"mcp_call","params":{"tool":"echo","arguments":{"text":"a"}}}\n';
    expect((await shell.run(["run", "-", ...target], { env, input })).status).toBe(0);
    expect((await shell.run(["doctor", ...target], { env })).status).toBe(0);
  });
});
