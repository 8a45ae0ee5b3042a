import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FakeAuthorizationServer, FakeResource, json, type Seen } from "../support/fake-oauth.ts";
import { codeOf, harnesses, settle } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
let dataHome: string | undefined;
let server: FakeAuthorizationServer;
let resource: FakeResource;

beforeEach(async () => {
  dataHome = process.env["XDG_DATA_HOME"];
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
});
afterEach(async () => {
  if (dataHome === undefined) delete process.env["XDG_DATA_HOME"];
  else process.env["XDG_DATA_HOME"] = dataHome;
  await Promise.all([server.stop(), resource.stop()]);
});

/** What a session starts with needs no token; everything else does. */
function openToStrangers(): void {
  const tools = [{ name: "echo", inputSchema: { type: "object" } }];
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools },
  };
  resource.overrides.set(resource.path, ({ method, text }, response) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(text) as { id?: number; method: string };
    const result = results[message.method];
    if (result !== undefined) json(response, 200, { jsonrpc: "2.0", id: message.id, result });
    else if (message.method === "notifications/initialized") response.writeHead(202).end();
    else resource.refuse(response, 401, resource.challenge());
  });
}

function sent(method: string): Seen[] {
  return resource.requests(resource.path).filter(({ text }) => text.includes(`"method":"${method}"`));
}

describe("a call that is given up while a person is to sign in for it", () => {
  test("is taken back without asking the person again, though the server wants a sign-in for that too", async () => {
    openToStrangers();
    const opened: string[] = [];
    const services = { openUrl: async (address: string) => void opened.push(address) };
    const host = make({ services }).configure("remote", { url: resource.url });
    process.env["XDG_DATA_HOME"] = host.folder;
    const step = host.callStep("remote", "echo");
    await waitFor("the person is asked", () => opened.length > 0);
    step.cancel();
    expect(codeOf(await settle(step))).toBe("cancelled");
    await waitFor("the server is told", () => sent("notifications/cancelled").length > 0);
    for (let at = 0; at < 40; at++) await host.run("mcp_list", { server: "remote", configPath: host.configPath });
    expect(opened).toHaveLength(1);
    expect(resource.requests(resource.metadataPath)).toHaveLength(1);
    expect(sent("tools/call")).toHaveLength(1);
  });
});
