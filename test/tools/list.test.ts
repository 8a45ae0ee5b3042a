import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { factOf, harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();

describe("mcp_list without a target", () => {
  test("lists the configured servers and starts none", async () => {
    const host = make()
      .serve("plain", "processes", "plain")
      .configure("off", { command: "x", disabled: true })
      .configure("remote", { url: "http://127.0.0.1:1/mcp" });
    const { servers } = jsonOf(await host.run("mcp_list", { configPath: host.configPath }));
    const { configPath } = host;
    expect(servers).toEqual([
      {
        server: "plain",
        transport: "stdio",
        enabled: true,
        runs: expect.stringContaining("processes.mjs"),
        configPath,
      },
      { server: "off", transport: "stdio", enabled: false, runs: "x", configPath },
      { server: "remote", transport: "http", enabled: true, runs: "http://127.0.0.1:1/mcp", configPath },
    ]);
    expect(host.ledger("plain")).toEqual([]);
  });

  test("shows the beginning of a long command: a script among its arguments says little", async () => {
    const host = make().configure("long", { command: "sh", args: ["-c", "echo ".repeat(1000)] });
    const { servers } = jsonOf(await host.run("mcp_list", { configPath: host.configPath }));
    expect(servers).toMatchObject([{ runs: expect.stringMatching(/^sh -c "(echo ){30,}.*…$/) }]);
    expect((servers as { runs: string }[])[0]?.runs.length).toBeLessThanOrEqual(201);
  });

  test("says how to configure one where there is none", async () => {
    const host = make({ context: { cwd: "/", sessionId: "none" } });
    host.write("empty.json", { mcpServers: {} });
    const answer = jsonOf(await host.run("mcp_list", { configPath: `${host.folder}/empty.json` }));
    expect(answer["servers"]).toEqual([]);
    expect(String(answer["hint"])).toContain("mcpServers");
  });

  test("shows an entry that cannot be used with its error, beside the good ones [K01]", async () => {
    const host = make()
      .serve("good", "processes", "plain")
      .configure("args", { args: ["x"] })
      .configure("null", null)
      .configure("text", "x");
    host
      .configure("both", { command: "x", url: "http://x/" })
      .configure("env", { command: "x", env: { A: { nested: 1 } } });
    const { servers } = jsonOf(await host.run("mcp_list", { configPath: host.configPath })) as {
      servers: { server: string; error?: string }[];
    };
    expect(servers.map(({ server, error }) => [server, error === undefined])).toEqual([
      ["good", true],
      ["args", false],
      ["null", false],
      ["text", false],
      ["both", false],
      ["env", false],
    ]);
    expect(textOf(await host.call("good", "echo", { text: "works" }))).toBe("works");
    for (const name of ["args", "null", "text", "both", "env"]) {
      const { code, message } = await host.callFailure(name, "x");
      expect(code).toBe("config_error");
      expect(message).toContain(`"${name}"`);
    }
  });

  test("shows what keeps an entry from starting as things are: a variable that is not set, a header that none may be", async () => {
    const host = make()
      .serve("good", "processes", "plain")
      .configure("unset", { command: "x", args: ["${RPI_MCP_NOT_SET}"] })
      .configure("header", { url: "http://127.0.0.1:1/", headers: { "two words": "x" } })
      .configure("off", { command: "${RPI_MCP_NOT_SET}", enabled: false });
    const { servers } = jsonOf(await host.run("mcp_list", { configPath: host.configPath })) as {
      servers: { server: string; transport: string; error?: string }[];
    };
    expect(servers.map(({ server, transport, error }) => [server, transport, error])).toEqual([
      ["good", "stdio", undefined],
      ["unset", "stdio", expect.stringContaining("${RPI_MCP_NOT_SET}, which is not set")],
      ["header", "http", expect.stringContaining("headers.two words")],
      ["off", "stdio", undefined],
    ]);
    for (const name of ["unset", "header"])
      expect((await host.callFailure(name, "x")).message).toBe(servers.find(({ server }) => server === name)?.error);
  });

  test("says quickly what entries come to that their variables make long", async () => {
    const host = make().serve("good", "processes", "plain");
    const entry = { command: "x", env: { A: "x".repeat(2900) }, args: ["${A}".repeat(720)] };
    for (let at = 0; at < 170; at++) host.configure(`long-${at}`, entry);
    const began = process.cpuUsage();
    await host.run("mcp_list", { configPath: host.configPath });
    expect(process.cpuUsage(began).user).toBeLessThan(2_500_000);
  });

  test("knows a transport by its spellings, and takes no unknown word for another transport [K03]", async () => {
    const url = "http://127.0.0.1:1/mcp";
    const host = make().configure("by-url", { url }).configure("by-command", { command: "x" });
    for (const type of ["http", "streamable-http", "streamableHttp", "streamable_http"])
      host.configure(`type-${type}`, { type, url }).configure(`transport-${type}`, { transport: type, url });
    host.configure("stdio", { type: "stdio", command: "x" });
    const known = jsonOf(await host.run("mcp_list", { configPath: host.configPath })) as {
      servers: { server: string; transport: string; error?: string }[];
    };
    for (const { server, transport, error } of known.servers) {
      expect(error).toBeUndefined();
      expect(transport).toBe(server === "stdio" || server === "by-command" ? "stdio" : "http");
    }
    host.configure("typo", { type: "htpp", url }).configure("mismatch", { type: "stdio", url });
    for (const [name, word] of [
      ["typo", "htpp"],
      ["mismatch", "stdio"],
    ] as const) {
      const { code, message } = await host.listFailure(name, { timeoutSeconds: 1 });
      expect(code).toBe("config_error");
      expect(message).toContain(`"${name}"`);
      expect(message).toContain(word);
    }
    host.write("top.json", { servers: {} });
    const { message } = await host.failure("mcp_list", { configPath: "top.json" });
    expect(message).toContain("servers");
  });

  test("with a query searches all enabled servers, and names those that failed", async () => {
    const host = make()
      .serve("one", "lists", "named alpha")
      .serve("two", "lists", "named beta")
      .serve("broken", "processes", "fatal");
    host.serve("off", "lists", "named gamma", { enabled: false }).configure("bad", { args: [] });
    const answer = jsonOf(await host.run("mcp_list", { configPath: host.configPath, query: "only beta" })) as {
      matches: unknown[];
      failed: { server: string; error: string }[];
    };
    expect(answer.matches[0]).toEqual({ server: "two", name: "only-beta", summary: "", parameters: "" });
    expect(answer.failed.map(({ server }) => server).sort()).toEqual(["bad", "broken"]);
    expect(answer.failed.find(({ server }) => server === "broken")?.error).toContain("FATAL: missing API_KEY");
    expect(host.ledger("off")).toEqual([]);
  });

  test("with a query does not count as failed what offers nothing of the kind", async () => {
    const host = make().serve("plain", "processes", "plain").serve("kinds", "lists", "kinds");
    const query = { configPath: host.configPath, query: "greet", kind: "prompts" };
    expect(jsonOf(await host.run("mcp_list", query))).toMatchObject({
      matches: [{ server: "kinds", name: "greet" }],
      failed: [],
    });
  });

  test("says where servers are configured if there is none", async () => {
    const host = make().write("mcp.json", { mcpServers: {} });
    expect(await host.listFailure("plain")).toMatchObject({
      code: "server_not_found",
      message: 'No server "plain" is configured, nor is any other. mcp_list says where to configure one.',
      details: { server: "plain", configured: [] },
    });
  });

  test("refuses a tool without a server", async () => {
    expect(await make().failure("mcp_list", { tool: "x" })).toMatchObject({
      code: "invalid_params",
      message: expect.stringContaining("server"),
    });
  });
});

describe("mcp_list of a server", () => {
  test("gives the list, who answered, and the same in details", async () => {
    const host = make().serve("plain", "processes", "plain");
    const result = await host.list("plain");
    expect(result.content).toHaveLength(1);
    expect(jsonOf(result)).toEqual({
      server: "plain",
      serverInfo: { name: "fixture", version: "1.0.0" },
      protocolVersion: "2025-11-25",
      tools: [
        {
          name: "echo",
          description: "Gives the text back.",
          inputSchema: { type: "object", properties: { text: { type: "string" } } },
        },
      ],
    });
    expect(result.details).toEqual(jsonOf(result));
  });

  test("gives a list of its own: what its host does to it is not seen in the next", async () => {
    const host = make().serve("plain", "processes", "plain");
    const { details } = await host.list("plain");
    const before = structuredClone(details);
    const { tools, serverInfo } = details as { tools: Record<string, unknown>[]; serverInfo: Record<string, unknown> };
    delete tools[0]?.["inputSchema"];
    serverInfo["name"] = "mine";
    expect((await host.list("plain")).details).toEqual(before);
  });

  test.each([
    ["resources", [{ uri: "file:///a", name: "a" }]],
    ["resource_templates", [{ uriTemplate: "file:///{x}", name: "x" }]],
    [
      "prompts",
      [{ name: "greet", description: "Greets. Twice.", arguments: [{ name: "who", required: true }, { name: "how" }] }],
    ],
  ])("gives %s under that key", async (kind, expected) => {
    const host = make().serve("kinds", "lists", "kinds");
    expect(jsonOf(await host.list("kinds", { kind }))[kind]).toEqual(expected);
  });

  test("shows the beginning of long instructions, as cut, and has them whole in details", async () => {
    const instructions = "x".repeat(1001);
    const host = make().serve("it", "quotes", "instructions", { env: { SAYS: instructions } });
    const result = await host.list("it");
    expect(jsonOf(result)).toMatchObject({ instructions: `${"x".repeat(1000)}…` });
    expect(result.details).toMatchObject({ instructions });
  });

  test("with query gives the best eight in brief and the number of the others", async () => {
    const host = make().serve("many", "lists", "many 30");
    const answer = jsonOf(await host.list("many", { query: "tool" })) as { tools: unknown[] };
    expect(Object.keys(answer)).toEqual(["server", "tools", "more"]);
    expect(answer.tools).toHaveLength(8);
    expect(answer).toMatchObject({ more: 22 });
    expect(jsonOf(await host.list("many", { query: "nothing fits this" }))).toEqual({
      server: "many",
      tools: [],
      more: 0,
    });
    const kinds = make().serve("kinds", "lists", "kinds");
    expect(jsonOf(await kinds.list("kinds", { kind: "prompts", query: "greet" }))).toEqual({
      server: "kinds",
      prompts: [{ name: "greet", summary: "Greets.", parameters: "who: string, how?: string" }],
      more: 0,
    });
  });

  test("with tool gives that one in full, and an unknown one is tool_not_found with near names", async () => {
    const host = make().serve("plain", "processes", "plain");
    expect(jsonOf(await host.list("plain", { tool: "echo" }))["tools"]).toEqual([
      expect.objectContaining({ name: "echo", inputSchema: expect.anything() }),
    ]);
    expect(await host.listFailure("plain", { tool: "eco" })).toMatchObject({
      code: "tool_not_found",
      details: { near: ["echo"] },
    });
    const kinds = make().serve("kinds", "lists", "kinds");
    expect((await kinds.listFailure("kinds", { kind: "prompts", tool: "meet" })).message).toContain('no prompt "meet"');
  });

  test("too long for the bound is given in brief, then as names, always as JSON that says how to get one in full", async () => {
    const host = make()
      .serve("many", "lists", "many 300", { maxResultBytes: 30_000 })
      .serve("full", "lists", "many 16384");
    const brief = await host.list("many");
    expect(Buffer.byteLength(textOf(brief))).toBeLessThanOrEqual(30_000);
    expect(jsonOf(brief)["tools"]).toHaveLength(300);
    expect(jsonOf(brief)).toMatchObject({ server: "many", protocolVersion: brief.details?.["protocolVersion"] });
    expect(factOf<unknown[]>(brief, "tools")[0]).toEqual({ name: "tool-0", inputSchema: { type: "object" } });
    const names = await host.list("full");
    const { tools, more, hint } = jsonOf(names) as { tools: string[]; more: number; hint: string };
    expect(Buffer.byteLength(textOf(names))).toBeLessThanOrEqual(50 * 1024);
    expect(jsonOf(names)).toMatchObject({ server: "full", serverInfo: names.details?.["serverInfo"] });
    expect(tools.length).toBeGreaterThan(1000);
    expect(tools.length + more).toBe(16_384);
    expect(hint).toContain("tool");
    expect(names.details?.["tools"]).toHaveLength(16_384);
  });

  test("with a tool that is itself too long names a private file that holds it", async () => {
    const host = make().serve("names", "lists", "names", { maxResultBytes: 250 });
    const answer = jsonOf(await host.list("names", { tool: "x".repeat(200) }));
    const path = /is in (\S+) until/.exec(String(answer["hint"]))?.[1] ?? "";
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      server: "names",
      tools: [{ name: "x".repeat(200) }],
    });
  });

  test("shows only what includeTools and excludeTools leave, and refuses the rest", async () => {
    const host = make().serve("crash", "processes", "crash", { includeTools: ["fi*", "ha*"], excludeTools: ["*lf"] });
    const answer = jsonOf(await host.list("crash"));
    expect((answer["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(["fine"]);
    for (const tool of ["half", "crash"]) {
      expect(await host.callFailure("crash", tool)).toMatchObject({
        code: "tool_not_found",
        message: expect.stringContaining("is hidden by includeTools or excludeTools in the server's entry"),
      });
      expect((await host.listFailure("crash", { tool })).code).toBe("tool_not_found");
      const params = { configPath: host.configPath, server: "crash", method: "tools/call", params: { name: tool } };
      expect((await host.failure("mcp_request", params)).code).toBe("tool_not_found");
    }
    expect((await host.callFailure("crash", "hal")).details?.["near"]).toEqual([]);
    expect(host.received("crash", "tools/call")).toEqual([]);
  });

  test.each([{ includeTools: ["fi*"] }, { excludeTools: ["h*", "cra*"] }])(
    "leaves out by either alone (%j)",
    async (entry) => {
      const host = make().serve("crash", "processes", "crash", entry);
      const answer = jsonOf(await host.list("crash"));
      const names = (answer["tools"] as { name: string }[]).map(({ name }) => name);
      expect(names).toContain("fine");
      for (const tool of ["half", "crash"]) expect(names).not.toContain(tool);
      expect(answer["filtered"]).toBe(true);
    },
  );

  test("hides tools alone: near names and the number of a list of another kind count all of it", async () => {
    const host = make().serve("kinds", "lists", "kinds", { includeTools: ["fi*"] });
    expect(await host.listFailure("kinds", { kind: "prompts", tool: "greed" })).toMatchObject({
      code: "tool_not_found",
      details: { near: ["greet"], count: 1 },
    });
  });

  test("names the configured servers where the asked one is not among them [E10]", async () => {
    const host = make().serve("one", "processes", "plain").serve("two", "processes", "plain");
    const { code, message } = await host.listFailure("three");
    expect(code).toBe("server_not_found");
    for (const name of ["one", "two"]) expect(message).toContain(`"${name}"`);
    for (const odd of ["__proto__", "constructor", "ONE", "a/b", "é"])
      expect((await host.listFailure(odd)).code).toBe("server_not_found");
  });

  test("says where an address belongs that was taken for a server's name", async () => {
    const host = make().serve("one", "processes", "plain");
    const { code, message } = await host.callFailure("http://127.0.0.1:1/mcp", "echo");
    expect(code).toBe("server_not_found");
    expect(message).toBe(
      'No server "http://127.0.0.1:1/mcp" is configured. Configured: "one". An address belongs in "url".',
    );
  });

  test("says that server and tool are named apart where they were named in one", async () => {
    const host = make().serve("one", "processes", "plain");
    for (const named of ["one.echo", "one/echo", "one:echo"])
      expect((await host.callFailure(named, "echo")).message).toMatch(
        /Give server and tool separately: "one", "echo"\.$/,
      );
    expect((await host.callFailure("other.echo", "echo")).message).not.toContain("separately");
  });

  test("does not split a server's name that names no tool, even beside an entry without a name", async () => {
    const host = make().serve("one", "processes", "plain").serve("", "processes", "plain");
    for (const named of ["other", "other.echo", ".echo"])
      expect((await host.callFailure(named, "echo")).message).not.toContain("separately");
  });

  test("sends calls of one tool name to the server that was named [E10]", async () => {
    const host = make().serve("one", "lists", "named one").serve("two", "lists", "named two");
    expect(textOf(await host.call("one", "echo"))).toBe("from one");
    expect(textOf(await host.call("two", "echo"))).toBe("from two");
  });
});

describe("mcp_list with an action", () => {
  test("status shows the connections of the caller's own scope and connects nothing", async () => {
    const host = make().serve("plain", "processes", "plain");
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
    await host.list("plain");
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toMatchObject({
      connections: [
        { server: "plain", state: "connected", transport: "stdio", protocolVersion: "2025-11-25", tools: 1 },
      ],
    });
    host.context = { cwd: host.folder, sessionId: "other" };
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
    expect(host.pids("plain")).toHaveLength(1);
  });

  test("close of a file that does not have the server leaves that of another file alone", async () => {
    const host = make().serve("one", "processes", "plain");
    await host.list("one");
    const configPath = join(host.folder, "other.json");
    writeFileSync(configPath, JSON.stringify({ mcpServers: {} }));
    const params = { configPath, server: "one", action: "close" };
    expect((await host.failure("mcp_list", params)).code).toBe("server_not_found");
    await host.list("one");
    expect(host.pids("one")).toHaveLength(1);
  });

  test("status of one server, or of a url, shows that one", async () => {
    const host = make().serve("one", "processes", "plain").serve("two", "processes", "plain");
    await Promise.all([host.list("one"), host.list("two")]);
    const shown = async (target: object): Promise<string[]> => {
      const { connections } = jsonOf(await host.run("mcp_list", { action: "status", ...target })) as {
        connections: { server: string }[];
      };
      return connections.map(({ server }) => server);
    };
    expect((await shown({})).toSorted()).toEqual(["one", "two"]);
    expect(await shown({ server: "two" })).toEqual(["two"]);
    expect(await shown({ server: "three" })).toEqual([]);
    expect(await shown({ url: "http://127.0.0.1:1/" })).toEqual([]);
  });

  test("close releases that one connection, and the next call makes a new one", async () => {
    const host = make().serve("one", "processes", "plain").serve("two", "processes", "plain");
    await Promise.all([host.list("one"), host.list("two")]);
    expect(jsonOf(await host.run("mcp_list", { configPath: host.configPath, server: "one", action: "close" }))).toEqual(
      { server: "one", closed: true },
    );
    const { connections } = jsonOf(await host.run("mcp_list", { action: "status" })) as {
      connections: { server: string }[];
    };
    expect(connections.map(({ server }) => server)).toEqual(["two"]);
    expect(host.ledger("one").at(-1)?.event).toBe("stdin-end");
    await host.list("one");
    expect(host.pids("one")).toHaveLength(2);
    expect(jsonOf(await host.run("mcp_list", { configPath: host.configPath, server: "one", action: "close" }))).toEqual(
      { server: "one", closed: true },
    );
    expect(jsonOf(await host.run("mcp_list", { configPath: host.configPath, server: "one", action: "close" }))).toEqual(
      { server: "one", closed: true },
    );
    expect(
      (await host.failure("mcp_list", { configPath: host.configPath, server: "none", action: "close" })).code,
    ).toBe("server_not_found");
  });

  test.each([
    ["entry", (host: PluginHarness) => host.configure("one", undefined)],
    ["file", (host: PluginHarness) => rmSync(host.configPath)],
    ["file, now unreadable,", (host: PluginHarness) => host.write("mcp.json", "{")],
  ])("close releases a connection whose %s is gone", async (_, remove) => {
    const host = make().serve("one", "processes", "plain").serve("two", "processes", "plain");
    const close = { configPath: host.configPath, server: "one", action: "close" };
    await host.list("one");
    remove(host);
    expect(jsonOf(await host.run("mcp_list", close))).toEqual({ server: "one", closed: true });
    await waitFor("its process is gone", () => !host.pids("one").some(isAlive));
    expect((await host.failure("mcp_list", close)).code).toMatch(/^(config_error|server_not_found)$/);
  });
});
