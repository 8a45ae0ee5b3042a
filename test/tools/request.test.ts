import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { harnesses, jsonOf, type PluginHarness } from "../support/plugin-harness.ts";

const make = harnesses();

function request(host: PluginHarness, server: string, method: string, params: object = {}): Record<string, unknown> {
  return { configPath: host.configPath, server, method, params };
}

describe("mcp_request on the managed connection", () => {
  test("gives the result as one JSON text and as details", async () => {
    const host = make().serve("kinds", "lists", "kinds");
    const result = await host.run("mcp_request", request(host, "kinds", "resources/list"));
    expect(jsonOf(result)).toEqual({ resources: [{ uri: "file:///a", name: "a" }, { name: "no uri" }] });
    expect(result.details).toEqual(jsonOf(result));
    await host.run("mcp_request", request(host, "kinds", "prompts/list"));
    expect(host.pids("kinds")).toHaveLength(1);
  });

  test("leaves base64 out of the text, but not out of the details", async () => {
    const host = make().serve("kinds", "lists", "kinds");
    const result = await host.run("mcp_request", request(host, "kinds", "resources/read", { uri: "file:///a" }));
    expect(jsonOf(result)).toEqual({
      contents: [
        { uri: "file:///a", text: "content" },
        { uri: "file:///a", blob: "[4 characters of base64]" },
      ],
    });
    expect(result.details).toEqual({
      contents: [
        { uri: "file:///a", text: "content" },
        { uri: "file:///a", blob: "AAAA" },
      ],
    });
  });

  test("leaves the base64 of a prompt out of the text, too", async () => {
    const host = make().serve("kinds", "lists", "kinds");
    const result = await host.run("mcp_request", request(host, "kinds", "prompts/get", { name: "a" }));
    expect(jsonOf(result)["messages"]).toEqual([
      { role: "user", content: { type: "image", data: "[4 characters of base64]", mimeType: "image/png" } },
      { role: "user", content: { type: "resource", resource: { uri: "file:///a", blob: "[4 characters of base64]" } } },
      { role: "user", content: { type: "text", text: "what is it?" } },
    ]);
    expect(JSON.stringify(result.details)).not.toContain("characters of base64");
  });

  test("passes a method of the server's own on, and its JSON-RPC error back", async () => {
    const host = make().serve("plain", "processes", "plain");
    const { code, message, details } = await host.failure(
      "mcp_request",
      request(host, "plain", "vendor/method", { a: 1 }),
    );
    expect(code).toBe("rpc_error");
    expect(message).toContain("vendor/method");
    expect(details).toMatchObject({ rpcError: { code: -32601 } });
    expect(host.received("plain", "vendor/method")[0]?.message?.params).toMatchObject({ a: 1 });
  });

  test("treats tools/call exactly as mcp_call: rediscovery, unknown tools, arguments, tool errors", async () => {
    const host = make().serve("results", "results");
    const result = await host.run("mcp_request", request(host, "results", "tools/call", { name: "structured" }));
    expect(jsonOf(result)).toEqual({ structuredContent: { temperature: 36, unit: "C" } });
    expect(host.received("results", "tools/list")).toHaveLength(1);
    expect((await host.failure("mcp_request", request(host, "results", "tools/call", { name: "unknown" }))).code).toBe(
      "tool_not_found",
    );
    for (const [params, path] of [
      [{}, "params.name"],
      [{ name: 7 }, "params.name"],
      [{ name: "empty", arguments: [1] }, "params.arguments"],
    ] as const)
      expect(await host.failure("mcp_request", request(host, "results", "tools/call", params))).toMatchObject({
        code: "invalid_params",
        details: { path },
      });
    expect(await host.failure("mcp_request", request(host, "results", "tools/call", { name: "quota" }))).toMatchObject({
      code: "tool_error",
      message: expect.stringContaining("quota exceeded"),
    });
    expect(host.received("results", "tools/call")).toHaveLength(2);
  });

  test("keeps the caller's arguments and _meta in tools/call", async () => {
    const host = make().serve("plain", "processes", "plain");
    const params = { name: "echo", arguments: { text: "x" } };
    await host.run("mcp_request", request(host, "plain", "tools/call", params));
    await host.run("mcp_request", request(host, "plain", "tools/call", { ...params, _meta: { trace: "t1" } }));
    const [first, second] = host.received("plain", "tools/call").map(({ message }) => message?.params);
    expect(first).toMatchObject(params);
    expect(second).toMatchObject({ ...params, _meta: { trace: "t1" } });
  });

  test.each([
    "initialize",
    "notifications/initialized",
    "notifications/anything",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
  ])("refuses %s, and starts nothing", async (method) => {
    const host = make().serve("plain", "processes", "plain");
    const { code, message } = await host.failure("mcp_request", request(host, "plain", method));
    expect(code).toBe("invalid_params");
    expect(message).toContain(method);
    expect(host.ledger("plain")).toEqual([]);
  });

  test("refuses a method that the server's revision does not have, and sends nothing", async () => {
    const host = make().serve("plain", "versions", "proto 2025-06-18");
    expect((await host.failure("mcp_request", request(host, "plain", "server/discover"))).code).toBe(
      "capability_missing",
    );
    expect((await host.failure("mcp_request", request(host, "plain", "tasks/list"))).code).toBe("capability_missing");
    expect(host.received("plain", "server/discover")).toEqual([]);
  });
});

describe("mcp_request with a url", () => {
  test("that wants a sign-in says what a raw request cannot do, and names no entry, which there is none of", async () => {
    const server = createServer((_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      const { code, message, details } = await make().failure("mcp_request", { url, method: "tools/list" });
      expect(code).toBe("auth_required");
      expect(message).toContain("A raw request does not sign in");
      expect(message).not.toContain("of its entry");
      expect(details).toMatchObject({ status: 401, wwwAuthenticate: "Bearer" });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
