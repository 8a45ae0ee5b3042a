import { describe, expect, test } from "@jest/globals";
import { FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";

const make = harnesses();

describe("the arguments of mcp_call", () => {
  test.each([
    ["an object", { text: "a" }, { text: "a" }],
    ["a string that holds an object", '{"text":"a \\"q\\" b"}', { text: 'a "q" b' }],
    ["an empty string", "", {}],
    ["null", null, {}],
    ["nothing", undefined, {}],
    ['the string "null"', "null", {}],
    [
      "keys of every sort",
      { __proto__x: 1, constructor: 2, "a.b": null },
      { __proto__x: 1, constructor: 2, "a.b": null },
    ],
    [
      "a text with half a character, which many servers cannot read and do not answer",
      { text: "a\ud83d b🎉 \\ud83d", list: ["\udf89"] },
      { text: "a\ufffd b🎉 \\ud83d", list: ["\ufffd"] },
    ],
  ])("may be %s [L01]", async (_, given, sent) => {
    const host = make().serve("plain", "processes", "plain");
    await host.run("mcp_call", { configPath: host.configPath, server: "plain", tool: "echo", arguments: given });
    expect(host.received("plain", "tools/call").map(({ message }) => message?.params)).toEqual([
      expect.objectContaining({ name: "echo", arguments: sent }),
    ]);
  });

  test.each([["[1]"], ["{bad"], ["7"], ['"text"'], ["true"], [[1]], [7], [true]])(
    "may not be %j, which is told with the expected form, and nothing is started [L01]",
    async (given) => {
      const host = make().serve("plain", "processes", "plain");
      const { code, message } = await host.failure("mcp_call", {
        configPath: host.configPath,
        server: "plain",
        tool: "echo",
        arguments: given,
      });
      expect(code).toBe("invalid_params");
      expect(message).toContain("arguments");
      expect(message).toContain('{"text": "hello"}');
      expect(host.ledger("plain")).toEqual([]);
    },
  );

  test("may hold an object as JSON text, which the tool gets as an object where it takes no text, and is approved as such", async () => {
    const approved: unknown[] = [];
    const approve = async (request: { readonly arguments?: unknown }): Promise<boolean> => {
      approved.push(request.arguments);
      return true;
    };
    const host = make({ services: { approve } }).serve("shower", "results");
    const args = { fields: '{"a":1}', note: '{"b":2}' };
    const read = { fields: { a: 1 }, note: '{"b":2}' };
    const params = { configPath: host.configPath, server: "shower" };
    expect(jsonOf(await host.run("mcp_call", { ...params, tool: "shows", arguments: args }))).toEqual(read);
    const request = { ...params, method: "tools/call", params: { name: "shows", arguments: args } };
    expect(textOf(await host.run("mcp_request", request))).toContain('{\\"a\\":1}');
    expect(approved).toEqual([undefined, read, read]);
  });

  test("with a key named __proto__ reach the server as they are", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.run("mcp_call", {
      configPath: host.configPath,
      server: "plain",
      tool: "echo",
      arguments: '{"__proto__": {"a": 1}, "text": "x"}',
    });
    const [call] = host.received("plain", "tools/call");
    expect(JSON.stringify(call?.message?.params?.["arguments"])).toBe('{"__proto__":{"a":1},"text":"x"}');
  });
});

describe("what a tool takes", () => {
  test.each([
    ["beside", { text: "a", extra: { a: 1 } }, "text"],
    ["in an object of another name", { params: { text: "a" }, arguments: "" }, "params"],
  ])("given %s of the arguments is told as not sent", async (_, given, name) => {
    const host = make().serve("plain", "processes", "plain");
    const params = { configPath: host.configPath, server: "plain", tool: "echo", ...given };
    const note = `[Not sent: "${name}". What the tool takes belongs in "arguments".]`;
    expect(textOf(await host.run("mcp_call", params))).toBe(`undefined\n${note}`);
    const sent = { ...params, arguments: { text: "b" } };
    expect(textOf(await host.run("mcp_call", sent))).toBe("b");
  });

  test.each([null, ""])("is not told as not sent where it is %j, and nothing is meant", async (nothing) => {
    const host = make().serve("plain", "processes", "plain");
    const params = { configPath: host.configPath, server: "plain", tool: "echo", text: nothing };
    expect(textOf(await host.run("mcp_call", params))).toBe("undefined");
  });

  test.each([
    "MCP error -32602: Input validation error: Invalid arguments for tool refuses: []",
    "Input validation error: 'fields' is a required property",
    "Error executing tool refuses: 1 validation error for refusesArguments\nfields\n  Field required",
    "2 validation errors for call[refuses]\nfields\n  Missing required argument",
  ])("is told where a server refuses the arguments: %s", async (note) => {
    const host = make().serve("taker", "results");
    const told = `${note}\n[It takes: fields?: object, note?: string]`;
    const details = { takes: "fields?: object, note?: string" };
    const failed = { code: "tool_error", message: told, details };
    expect(await host.callFailure("taker", "refuses", { note })).toMatchObject(failed);
    const params = { server: "taker", method: "tools/call", params: { name: "refuses", arguments: { note } } };
    const failure = await host.failure("mcp_request", { ...params, configPath: host.configPath });
    expect(failure).toMatchObject({ code: "tool_error", message: told });
  });

  test("is told where a server refuses the arguments with a JSON-RPC error, as FastMCP for TypeScript does", async () => {
    const host = make().serve("taker", "results");
    const note = "Tool 'rejects' parameter validation failed: fields: Required";
    const details = { takes: "fields?: object, note?: string", rpcError: { code: -32602, message: note } };
    const message = `Server "taker" answered tools/call with error -32602: ${note} [It takes: ${details.takes}]`;
    expect(await host.callFailure("taker", "rejects", { note })).toMatchObject({ code: "rpc_error", message, details });
    const params = { server: "taker", method: "tools/call", params: { name: "rejects", arguments: { note } } };
    const failure = await host.failure("mcp_request", { ...params, configPath: host.configPath });
    expect(failure).toMatchObject({ code: "rpc_error", message, details });
  });

  test("is not told of another failure", async () => {
    const host = make().serve("taker", "results");
    for (const note of ["no such issue", "1 validation error for Issue", "Error: Input validation error"])
      expect(await host.callFailure("taker", "refuses", { note })).toMatchObject({ message: note });
  });

  test("is told as not sent in a failure, too", async () => {
    const host = make().serve("taker", "results");
    const params = { configPath: host.configPath, server: "taker", tool: "takes", quota: 1 };
    const { code, message } = await host.failure("mcp_call", params);
    expect(code).toBe("tool_error");
    expect(message).toBe('quota is missing\n[Not sent: "quota". What the tool takes belongs in "arguments".]');
  });
});

describe("the parameters of the tools", () => {
  const good = { server: "plain", tool: "echo" };
  test.each([
    ["mcp_call", { tool: "echo" }, "server"],
    ["mcp_call", { server: "plain" }, "tool"],
    ["mcp_call", { ...good, tool: "" }, "tool"],
    ["mcp_call", { ...good, tool: "x".repeat(201) }, "tool"],
    ["mcp_call", { ...good, tool: 7 }, "tool"],
    ["mcp_call", { ...good, server: "" }, "server"],
    ["mcp_call", { ...good, server: ["plain"] }, "server"],
    ["mcp_call", { ...good, url: "http://127.0.0.1:1/" }, "url"],
    ["mcp_call", { tool: "echo", url: "http://127.0.0.1:1/", configPath: "mcp.json" }, "url"],
    ["mcp_call", { ...good, timeoutSeconds: 0 }, "timeoutSeconds"],
    ["mcp_call", { ...good, timeoutSeconds: 301 }, "timeoutSeconds"],
    ["mcp_call", { ...good, timeoutSeconds: 1.5 }, "timeoutSeconds"],
    ["mcp_call", { ...good, timeoutSeconds: "5" }, "timeoutSeconds"],
    ["mcp_list", { kind: "tool" }, "kind"],
    ["mcp_list", { action: "open" }, "action"],
    ["mcp_list", { action: "close" }, "server"],
    ["mcp_list", { query: 7 }, "query"],
    ["mcp_request", { server: "plain" }, "method"],
    ["mcp_request", { server: "plain", method: "x".repeat(201) }, "method"],
    ["mcp_request", { method: "ping" }, "server"],
    ["mcp_request", { server: "plain", method: "ping", params: [] }, "params"],
    ["mcp_request", { url: "http://127.0.0.1:1/", method: "ping", id: {} }, "id"],
    ["mcp_request", { url: "http://127.0.0.1:1/", method: "ping", id: 1.5 }, "id"],
    ["mcp_request", { url: "http://127.0.0.1:1/", method: "ping", id: "x".repeat(201) }, "id"],
  ] as const)("of %s: %j is refused before anything starts, naming %s", async (tool, params, place) => {
    const host = make().serve("plain", "processes", "plain");
    const { code, message } = await host.failure(
      tool,
      "url" in params ? params : { ...params, configPath: host.configPath },
    );
    expect(code).toBe("invalid_params");
    expect(message).toMatch(new RegExp(`^${tool}: ${place} (?:is missing|must|cannot)`));
    expect(host.ledger("plain")).toEqual([]);
  });

  test.each([null, ""])("may hold unknown keys, and %j where nothing is meant", async (nothing) => {
    const host = make().serve("plain", "processes", "plain");
    const params = { configPath: host.configPath, server: "plain", url: nothing, timeoutSeconds: nothing };
    const args = { text: "ok" };
    const more = { ...params, extra: { a: 1 } };
    expect(textOf(await host.run("mcp_call", { ...more, tool: "echo", arguments: args }))).toBe("ok");
    const unused = { kind: nothing, query: nothing, tool: nothing, action: nothing };
    expect(jsonOf(await host.run("mcp_list", { ...more, ...unused }))).toMatchObject({ tools: [{ name: "echo" }] });
    expect(jsonOf(await host.run("mcp_request", { ...more, method: "ping", params: nothing }))).toEqual({});
    const configured = jsonOf(await host.run("mcp_list", { ...more, ...unused, server: nothing }));
    expect(configured).toMatchObject({ servers: [{ server: "plain" }] });
  });

  test.each([null, ""])("may all be there and hold %j, an empty url too; alone it is refused", async (nothing) => {
    const host = make();
    const params = { server: nothing, configPath: nothing, url: "", kind: nothing };
    expect(jsonOf(await host.run("mcp_list", params))).toMatchObject({ servers: [] });
    expect(await host.failure("mcp_list", { url: "" })).toMatchObject({
      message: expect.stringMatching(/url is empty/),
    });
  });

  test("say of a url beside a server where one for the tool belongs", async () => {
    const { message } = await make().failure("mcp_call", { ...good, url: "http://127.0.0.1:1/" });
    expect(message).toContain('for the tool belongs in "arguments"');
  });

  test("of 200 characters are not too long", async () => {
    const host = make().serve("names", "lists", "names");
    expect(textOf(await host.call("names", "x".repeat(200)))).toContain("called");
  });

  test("name a config file that is missing, broken or no config as config_error", async () => {
    const host = make().write("broken.json", "{ not json").write("list.json", "[]").write("top.json", { servers: {} });
    for (const configPath of ["missing.json", "broken.json", "list.json", "top.json", "."]) {
      const { code, message } = await host.failure("mcp_call", { configPath, server: "x", tool: "y" });
      expect(code).toBe("config_error");
      expect(message).toContain(configPath === "." ? host.folder : configPath);
    }
  });
});

/** A server with these capabilities beside its tools, one of which asks to be run as a task. */
function taskServer(capabilities: object): Scenario {
  const tools = ["required", "optional"].map((taskSupport) => ({
    name: taskSupport,
    inputSchema: { type: "object" },
    execution: { taskSupport },
  }));
  return {
    on: "*",
    post: (exchange) => {
      const { id, method, params } = exchange.seen.rpc;
      const { protocolVersion } = params ?? {};
      const opening = { protocolVersion, capabilities: { tools: {}, ...capabilities } };
      const result = { initialize: opening, "tools/list": { tools } }[method ?? ""];
      if (result === undefined) exchange.good();
      else exchange.json(JSON.stringify({ jsonrpc: "2.0", id, result }));
    },
  };
}

describe("a tool that runs as a task", () => {
  const server = FaultServer.forTests({
    offered: taskServer({ tasks: { requests: { tools: { call: {} } } } }),
    none: taskServer({}),
    "of-others": taskServer({ tasks: { requests: { sampling: {} } } }),
    odd: taskServer({ tasks: 7 }),
  });

  test("only is refused where its server offers tasks, and nothing is sent", async () => {
    const host = make().configure("tasks", { url: server.url("offered") });
    const { code, message } = await host.callFailure("tasks", "required");
    expect(code).toBe("capability_missing");
    expect(message).toContain("runs only as a task");
    expect(server.posts("offered")).toEqual([]);
    await host.call("tasks", "optional");
    expect(server.executions("offered")).toBe(1);
  });

  test.each(["none", "of-others", "odd"])("is called plainly where its server offers none (%s)", async (scenario) => {
    const host = make().configure("tasks", { url: server.url(scenario) });
    await host.call("tasks", "required");
    expect(server.executions(scenario)).toBe(1);
  });
});
