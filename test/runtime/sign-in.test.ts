import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { shellLine } from "../../src/command-line.ts";
import { FakeAuthorizationServer, FakeResource, json, type Seen } from "../support/fake-oauth.ts";
import { browse } from "../support/oauth-client.ts";
import { codeOf, harnesses, settle, textOf } from "../support/plugin-harness.ts";
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

const TIMEOUT_MS = 2000;
const RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};

/** The resource is an MCP server that takes these methods from anybody, and everything else only with a token. */
function serve(free: readonly string[] = [], at: FakeResource = resource, isSilent = false): void {
  at.overrides.set(at.path, ({ method: httpMethod, text, headers }, response) => {
    if (httpMethod !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    const known = server.live.has((headers.authorization ?? "").replace("Bearer ", ""));
    if (!known && !free.includes(method)) at.refuse(response, 401, at.challenge());
    else if (known && isSilent) return;
    else if (id === undefined) response.writeHead(202).end();
    else json(response, 200, { jsonrpc: "2.0", id, result: RESULTS[method] ?? {} });
  });
}

function sent(method: string): Seen[] {
  return resource.requests(resource.path).filter(({ text }) => text.includes(`"method":"${method}"`));
}

describe("a call that is given up while a person is to sign in for it", () => {
  test("is taken back without asking the person again, though the server wants a sign-in for that too", async () => {
    serve(["initialize", "notifications/initialized", "tools/list"]);
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

describe("a call whose sign-in needs a person who cannot be reached", () => {
  test("names the command that signs in to this very server, with the file that was named for it", async () => {
    serve();
    const host = make().configure("remote", { url: resource.url });
    process.env["XDG_DATA_HOME"] = host.folder;
    const { code, message } = await host.callFailure("remote", "echo");
    expect(code).toBe("auth_required");
    expect(message).toContain(`Run \`rpi-mcp login remote --config ${shellLine([host.configPath])}\`.`);
    const { message: byUrl } = await host.failure("mcp_call", { url: resource.url, tool: "echo" });
    expect(byUrl).toContain(`Run \`rpi-mcp login ${resource.url}\`.`);
    const url = `${resource.url}?tenant=a&b=$(exit)`;
    const { message: withQuery } = await host.failure("mcp_call", { url, tool: "echo" });
    expect(withQuery).toContain(`Run \`${shellLine(["rpi-mcp", "login", url])}\`.`);
  });
});

describe("a server that demands a new permission for each of its messages", () => {
  test("has a person asked three times within one call, however many messages that takes, and as often for the next", async () => {
    let demanded = 0;
    const refused = new Map<string, number>();
    resource.overrides.set(resource.path, ({ method: httpMethod, text, headers }, response) => {
      if (httpMethod !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      const times = refused.get(method) ?? 0;
      if (id === undefined) return void response.writeHead(202).end();
      if (headers.authorization === undefined) return resource.refuse(response, 401, resource.challenge());
      if (times === 2) return json(response, 200, { jsonrpc: "2.0", id, result: RESULTS[method] ?? {} });
      refused.set(method, times + 1);
      const scope = `s${++demanded}`;
      resource.refuse(response, 403, `error="insufficient_scope", scope="${scope}", ${resource.challenge()}`);
    });
    const opened: string[] = [];
    const openUrl = async (address: string): Promise<void> => {
      opened.push(address);
      await browse(address);
    };
    const host = make({ services: { openUrl } }).configure("remote", { url: resource.url });
    process.env["XDG_DATA_HOME"] = host.folder;
    expect((await host.callFailure("remote", "echo")).code).toBe("auth_required");
    expect(opened).toHaveLength(3);
    expect(sent("tools/call")).toEqual([]);
    expect(textOf(await host.call("remote", "echo"))).toBe("done");
    expect(opened.length).toBeLessThanOrEqual(6);
    expect(sent("tools/call")).toHaveLength(3);
  });
});

test.each([
  ["is refused", ["initialize", "notifications/initialized", "tools/list"]],
  ["waits for the same connection", []],
])("a call that %s while a person signs in waits for the same sign-in, and says so", async (_, free) => {
  serve(free);
  const opened: string[] = [];
  const services = { openUrl: async (address: string) => void opened.push(address) };
  const host = make({ services }).configure("remote", { url: resource.url });
  process.env["XDG_DATA_HOME"] = host.folder;
  const first = host.call("remote", "echo");
  await waitFor("the person is asked", () => opened.length > 0);
  const second = host.callStep("remote", "echo");
  const shown: string[] = [];
  await waitFor("it says so", () => {
    second.poll((partial) => shown.push(textOf(partial)));
    return shown.length > 0;
  });
  expect(shown).toEqual([`Waiting for the sign-in at ${new URL(server.origin).host} …`]);
  await browse(opened[0] ?? "");
  expect([textOf(await first), codeOf(await settle(second))]).toEqual(["done", "done"]);
  expect(opened).toHaveLength(1);
});

describe("the time in which a person signs in", () => {
  const HANDSHAKE = ["initialize", "notifications/initialized"];
  const STAGES: readonly (readonly string[])[] = [[], HANDSHAKE, [...HANDSHAKE, "tools/list"]];
  const resources: FakeResource[] = [];
  afterEach(async () => {
    await Promise.all(resources.splice(0).map((each) => each.stop()));
  });

  test("is not that of the handshake, the discovery or the call, each of which has its own afterwards", async () => {
    let signIns = 0;
    const openUrl = async (address: string): Promise<void> => {
      const since = performance.now();
      signIns++;
      void waitFor("the deadline has passed", () => performance.now() - since > 1.3 * TIMEOUT_MS).then(() =>
        browse(address),
      );
    };
    const host = make({ services: { openUrl } });
    process.env["XDG_DATA_HOME"] = host.folder;
    const ends = ["answers", "silent"].flatMap((kind) =>
      STAGES.map(async (free, stage) => {
        const each = await new FakeResource(server).start();
        resources.push(each);
        serve(free, each, kind === "silent");
        host.configure(`${kind}-${stage}`, { url: each.url });
        const step = host.callStep(`${kind}-${stage}`, "echo", {}, { timeoutSeconds: TIMEOUT_MS / 1000 });
        await step.settled;
        const shown: string[] = [];
        const end = step.poll((partial) => shown.push(textOf(partial)));
        step.destroy();
        // Of the sign-in that it waited for itself, and of no other.
        expect(shown).toEqual([`Waiting for the sign-in at ${new URL(server.origin).host} …`]);
        return end;
      }),
    );
    expect((await Promise.all(ends)).map(codeOf)).toEqual(["done", "done", "done", "timeout", "timeout", "timeout"]);
    expect(signIns).toBe(6);
  });
});

describe("a shutdown", () => {
  test("resolves when a renewal that was under way is over, in bounded time", async () => {
    serve();
    const services = { openUrl: async (address: string) => void browse(address).catch(() => undefined) };
    const host = make({ services }).configure("remote", { url: resource.url });
    process.env["XDG_DATA_HOME"] = host.folder;
    expect(textOf(await host.call("remote", "echo"))).toBe("done");
    let held = 0;
    server.beforeToken = () => new Promise(() => void held++);
    server.live.clear();
    const end = settle(host.callStep("remote", "echo"));
    await waitFor("the token is being renewed", () => held > 0);
    await host.shutdown();
    expect(codeOf(await end)).toBe("closed");
    await waitFor("nothing is sent to the authorization server", async () => (await server.connections()) === 0, 500);
    expect(await readdir(join(host.folder, "rpi-mcp"))).toEqual([expect.stringMatching(/\.json$/)]);
  });
});

test("a sign-in that failed is not begun again on another connection, though the refusal speaks of a session", async () => {
  let isOpen = true;
  resource.overrides.set(resource.path, ({ method: httpMethod, text }, response) => {
    if (httpMethod !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    const challenge = { "www-authenticate": `Bearer ${resource.challenge()}` };
    if (!isOpen) json(response, 401, { error: "your session has ended" }, challenge);
    else if (id === undefined) response.writeHead(202).end();
    else json(response, 200, { jsonrpc: "2.0", id, result: RESULTS[method] ?? {} }, { "mcp-session-id": "s" });
  });
  let opened = 0;
  const openUrl = async (): Promise<void> => {
    opened++;
    throw new Error("no display");
  };
  const host = make({ services: { openUrl } }).configure("remote", { url: resource.url });
  process.env["XDG_DATA_HOME"] = host.folder;
  expect(textOf(await host.call("remote", "echo"))).toBe("done");
  isOpen = false;
  const { code, message } = await host.callFailure("remote", "echo");
  expect(code).toBe("auth_required");
  expect(message).toContain("no display");
  expect(opened).toBe(1);
  expect(sent("initialize")).toHaveLength(1);
});
