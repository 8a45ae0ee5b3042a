import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect, Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { CallbackListener } from "../../src/auth/callback-listener.ts";
import type { AuthContext } from "../../src/auth/context.ts";
import { checkedUrl, exchange } from "../../src/auth/oauth-request.ts";
import { workOver } from "../../src/auth/resource-state.ts";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import { type AdapterError, isAdapterError } from "../../src/errors.ts";
import { LIMITS } from "../../src/limits.ts";
import type { SendPlain } from "../../src/plain-request.ts";
import { Redactor } from "../../src/redactor.ts";
import { sendPlain } from "../../src/transport/send-plain.ts";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { authorizerFor, browse, call, withBrowser } from "../support/oauth-client.ts";
import { busy, waitFor } from "../support/wait.ts";

const PRM = "/.well-known/oauth-protected-resource/mcp";
const AS = "/.well-known/oauth-authorization-server";

let server: FakeAuthorizationServer;
let resource: FakeResource;

beforeEach(async () => {
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
});
afterEach(async () => {
  await expectNoListener();
  await Promise.all([server.stop(), resource.stop()]);
});

function contextFor(url: URL, limits = LIMITS, send: SendPlain = sendPlain): AuthContext {
  const clientInfo = { name: "t", version: "0" };
  return { server: "fake", url, settings: {}, clientInfo, limits, redactor: new Redactor(), send };
}

/** Every sign-in's callback address is dead, whatever happened. */
async function expectNoListener(): Promise<void> {
  for (const { query } of server.requests("/authorize")) {
    await expect(fetch(query.get("redirect_uri") ?? "")).rejects.toThrow("fetch failed");
  }
}

/** The call fails with a coded error that shows nothing secret, and nothing was executed. */
async function refusal(options: Parameters<typeof withBrowser>[1] = {}): Promise<AdapterError> {
  const { authorizer } = withBrowser(resource.url, options);
  const error: unknown = await call(authorizer, resource.url).catch((thrown: unknown) => thrown);
  if (!isAdapterError(error)) throw new Error(`no coded error: ${String(error)}`);
  expect(error.code).toBe("auth_required");
  const shown = `${error.message}${JSON.stringify(error.details)}`;
  const codes = server.requests("/token").map(({ form }) => form.get("code") ?? "no code");
  for (const secret of [...server.live.keys(), ...server.refreshable.keys(), ...codes])
    expect(shown).not.toContain(secret);
  expect(resource.executed).toBe(0);
  return error;
}

describe("metadata", () => {
  it.each([
    [
      "of a foreign issuer",
      AS,
      (body: object) => ({ ...body, issuer: "https://attacker.example" }),
      /names https:\/\/attacker.*If you trust that/,
    ],
    [
      "of another issuer of the same host",
      AS,
      (body: { issuer: string }) => ({ ...body, issuer: `${body.issuer}/other` }),
      /names/,
    ],
    ["without an issuer", AS, (body: object) => ({ ...body, issuer: undefined }), /no issuer/],
    [
      "for another resource",
      PRM,
      (body: object) => ({ ...body, resource: "https://evil.example/mcp" }),
      /another resource \(https:\/\/evil\.example\/mcp\), not for http:/,
    ],
    [
      "for a neighbour",
      PRM,
      (body: { resource: string }) => ({ ...body, resource: `${body.resource}x` }),
      /another resource/,
    ],
    [
      "for another query",
      PRM,
      (body: { resource: string }) => ({ ...body, resource: `${body.resource}?tenant=other` }),
      /another resource/,
    ],
    [
      "for a part of it",
      PRM,
      (body: { resource: string }) => ({ ...body, resource: `${body.resource}#part` }),
      /another resource/,
    ],
    ["for no address", PRM, (body: object) => ({ ...body, resource: "/mcp" }), /another resource \(\/mcp\)/],
    ["for nothing", PRM, (body: object) => ({ ...body, resource: undefined }), /it names no resource/],
    ["without PKCE", AS, (body: object) => ({ ...body, code_challenge_methods_supported: undefined }), /PKCE/],
    ["with only plain PKCE", AS, (body: object) => ({ ...body, code_challenge_methods_supported: ["plain"] }), /PKCE/],
    [
      "with a token endpoint in plain http",
      AS,
      (body: object) => ({ ...body, token_endpoint: "http://as.example/token" }),
      /does not use https/,
    ],
    [
      "with a script for an authorization endpoint",
      AS,
      (body: object) => ({ ...body, authorization_endpoint: "javascript:alert(1)" }),
      /does not use https/,
    ],
    [
      "with credentials in an endpoint",
      AS,
      (body: object) => ({ ...body, authorization_endpoint: "https://a:b@as.example/" }),
      /contains credentials/,
    ],
  ] as const)("%s is refused", async (_, path, change, reason) => {
    const body = path === AS ? server.describe() : (resource.describe?.() ?? {});
    const changed = (change as (value: object) => Record<string, unknown>)(body);
    (path === AS ? server : resource).overrides.set(path, (_seen, response) => json(response, 200, changed));
    expect((await refusal()).message).toMatch(reason);
    expect([...server.requests("/authorize"), ...server.requests("/token")]).toEqual([]);
  });

  it.each([
    [
      "a redirect",
      PRM,
      (): [number, object, string] => [302, { location: `${resource.origin}/elsewhere` }, ""],
      /redirect, which is not followed/,
    ],
    [
      "a redirect to itself",
      AS,
      (): [number, object, string] => [307, { location: `${server.origin}${AS}` }, ""],
      /redirect, which is not followed/,
    ],
    [
      "a page",
      PRM,
      (): [number, object, string] => [200, { "content-type": "text/html" }, "<html>\u001b[31mLog in"],
      /without a JSON object \(text\/html\): <html>Log in/,
    ],
    [
      "a page",
      AS,
      (): [number, object, string] => [200, { "content-type": "text/html" }, "<html>Log in"],
      /without a JSON object/,
    ],
    [
      "a list",
      AS,
      (): [number, object, string] => [200, { "content-type": "application/json" }, "[]"],
      /without a JSON object/,
    ],
    [
      "10 MB",
      PRM,
      (): [number, object, string] => [200, {}, `{"x":"${"x".repeat(10 << 20)}"}`],
      /more than 1048576 bytes/,
    ],
    [
      "10 MB",
      AS,
      (): [number, object, string] => [200, {}, `{"x":"${"x".repeat(10 << 20)}"}`],
      /more than 1048576 bytes/,
    ],
    ["an error", PRM, (): [number, object, string] => [500, {}, "no"], /HTTP 500/],
  ] as const)("that is %s is not used (%s)", async (_, path, answer, reason) => {
    (path === AS ? server : resource).overrides.set(path, (_seen, response) => {
      const [status, headers, body] = answer();
      response.on("error", () => undefined); // The client hangs up.
      response.writeHead(status, headers as Record<string, string>).end(body);
    });
    expect((await refusal()).message).toMatch(reason);
    expect(resource.requests("/elsewhere")).toEqual([]);
    expect(server.requests(AS).length).toBeLessThanOrEqual(1);
  });

  it("that never comes ends the sign-in in bounded time", async () => {
    resource.overrides.set(PRM, () => undefined);
    const { message } = await refusal({ limits: { oauthRequestMs: 100 } });
    expect(message).toContain("did not answer within 0.1 s");
  });

  it("of any length, and a challenge of any length, are shown in part", async () => {
    resource.challenge = () => `realm="${"y".repeat(3000)}", resource_metadata="${resource.origin}${PRM}"`;
    const issuer = `${server.issuer}/${"x".repeat(3000)}`;
    resource.describe = () => ({ resource: resource.url, authorization_servers: [issuer] });
    const { details } = await refusal();
    expect(details.reason).toHaveLength(1001);
    expect(details.wwwAuthenticate).toHaveLength(1001);
  });

  it("of a host that does not exist says so", async () => {
    const gone = await new FakeAuthorizationServer().start();
    const { issuer } = gone;
    resource.describe = () => ({ resource: resource.url, authorization_servers: [issuer] });
    await gone.stop();
    expect((await refusal()).message).toMatch(/cannot be reached: .*ECONNREFUSED/);
  });

  it("that the challenge points to on another origin is followed, but counts only if it is for this server", async () => {
    const other = await new FakeResource(server).start();
    try {
      resource.challenge = () => `resource_metadata="${other.origin}${PRM}"`;
      resource.describe = undefined;
      const { message, details } = await refusal();
      expect(message).toContain(`${other.origin}${PRM}: it is for another resource (${other.url})`);
      expect(details.status).toBe(401);
      // Its own place is still asked.
      resource.describe = () => ({ resource: resource.url, authorization_servers: [server.issuer] });
      expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
      resource.describe = undefined;
      other.describe = () => ({ resource: resource.url, authorization_servers: [server.issuer] });
      expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
      expect(server.requests("/authorize")[0]?.query.get("resource")).toBe(resource.url);
    } finally {
      await other.stop();
    }
  });

  it.each([
    ["http://as.example/", false, /does not use https/],
    ["http://127.0.0.1:1/", false, /does not use https/],
    ["http://localhost.example/", true, /does not use https/],
    ["ftp://127.0.0.1/", true, /does not use https/],
    ["https://user@as.example/", false, /contains credentials/],
    ["https://:word@as.example/", false, /contains credentials/],
    ["no address", false, /is not a URL/],
    [7, false, /is not a URL/],
    ["https://as.example/", false, undefined],
    ["http://[::1]:1/", true, undefined],
    ["http://127.1.2.3:1/", true, undefined],
    ["http://sub.localhost:1/", true, undefined],
  ])("may name the address %j for a server that is local or not (%j)", (address, local, refusal) => {
    const url = new URL(local ? "http://localhost:1/mcp" : "https://mcp.example/mcp");
    const check = (): URL => checkedUrl(contextFor(url), address, "it");
    if (refusal === undefined) expect(check().href).toBe(address);
    else expect(check).toThrow(refusal);
  });

  it("reached through a proxy that ends TLS may be named with plain http, and is asked for with https", async () => {
    const authorizer = authorizerFor("https://127.0.0.1:1/mcp", {
      openUrl: async () => {},
      limits: { oauthRequestMs: 200 },
    });
    const challenge = { method: "POST", url: "https://127.0.0.1:1/mcp", status: 401, headers: {}, sent: {} } as const;
    const pointed = { ...challenge, wwwAuthenticate: `Bearer resource_metadata="http://127.0.0.1:1${PRM}"` };
    await expect(authorizer.challenge(pointed, new AbortController().signal)).rejects.toMatchObject({
      message: expect.stringContaining("127.0.0.1:1 cannot be reached"),
    });
  });
});

describe("a token answer", () => {
  it("that came in time counts, also where the host was stopped or busy meanwhile", async () => {
    const url = new URL("https://as.example/token");
    const send: SendPlain = async (_, signal) => {
      await stat(".");
      signal.throwIfAborted();
      return { status: 200, headers: {}, body: Buffer.from('{"access_token":"t"}') };
    };
    const context = contextFor(url, { ...LIMITS, oauthRequestMs: 20 }, send);
    const answer = new Promise((resolve, reject) => {
      setImmediate(() => {
        exchange(context, { url, method: "POST" }, new AbortController().signal).then(resolve, reject);
        busy(200);
      });
    });
    await expect(answer).resolves.toMatchObject({ json: { access_token: "t" } });
  });

  it.each([
    ["without a token", () => json, { token_type: "Bearer" }, 200, /access_token/],
    [
      "with a token that would smuggle a header",
      () => json,
      { access_token: "issued-access-token\r\nx-evil: 1", token_type: "Bearer" },
      200,
      /cannot be sent in a header/,
    ],
    ["that is a page", undefined, "<html>issued-access-token", 200, /without a JSON object/],
    ["that is a redirect", undefined, "", 302, /redirect/],
    ["that is a 503", undefined, "busy", 503, /HTTP 503/],
    [
      "that is an OAuth error",
      () => json,
      { error: "invalid_request", error_description: "no\u0007 way" },
      400,
      /invalid_request \(no way\)/,
    ],
  ] as const)("%s ends the sign-in", async (_, send, body, status, reason) => {
    server.overrides.set("/token", (_seen, response) => {
      if (send !== undefined) json(response, status, body as Record<string, unknown>);
      else
        response.writeHead(status, { "content-type": "text/html", location: `${server.origin}/elsewhere` }).end(body);
    });
    const error = await refusal();
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain("issued-access-token");
    expect(server.requests("/token")).toHaveLength(1);
    expect(server.requests("/elsewhere")).toEqual([]);
  });

  it("that does not come ends the sign-in in bounded time, and the page says that it failed", async () => {
    server.overrides.set("/token", () => undefined);
    const { authorizer, pages } = withBrowser(resource.url, { limits: { oauthRequestMs: 150 } });
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({ code: "auth_required" });
    expect(await pages[0]).toMatchObject({ status: 400, text: expect.stringContaining("Sign-in failed") });
  });

  it("with a token that is not bound to a key is refused where the resource takes only bound ones", async () => {
    resource.describe = () => ({
      resource: resource.url,
      authorization_servers: [server.issuer],
      dpop_bound_access_tokens_required: true,
    });
    const { message, details } = await refusal();
    expect(message).toContain("not bound to a key");
    expect(details.asked).toBe(true);
    expect(server.requests("/token")[0]?.headers.dpop).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it.each([
    ["nulls", { scope: null, refresh_token: null }],
    ["empty texts", { scope: "", refresh_token: "" }],
    ["a number as text and an unreadable id_token", { expires_in: "3600", id_token: "x.y.z" }],
    ["a type of its own", { ok: true, token_type: "user" }],
    ["no type", { token_type: undefined }],
    ["a list of scopes", { scope: ["read", "write"] }],
  ])("with %s is good enough", async (_, odd) => {
    server.tokenAnswer = (answer) => ({ ...answer, ...odd });
    const { authorizer } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
  });

  it("that parts its scopes by commas grants each of them", async () => {
    server.tokenAnswer = (answer) => ({ ...answer, scope: "read,write" });
    resource.needs = "read";
    const store = new MemoryStore();
    const { authorizer } = withBrowser(resource.url, { store, settings: { scope: "read" } });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect((await store.read(resource.url)).grants[0]?.scope).toBe("read write");
    server.live.clear();
    server.refreshable.clear();
    await call(authorizer, resource.url);
    expect(server.requests("/authorize")[1]?.query.get("scope")).toBe("read write");
  });

  it.each([
    ["Slack's", { ok: false, error: "invalid_code" }, "invalid_code"],
    ["GitHub's", { error: "bad_verification_code", error_description: "It is expired." }, "It is expired."],
  ])("that is %s error with HTTP 200 is told as the error it is", async (_, answer, said) => {
    server.tokenAnswer = () => answer;
    const { authorizer } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      details: { oauthError: answer.error },
      message: expect.stringContaining(said),
    });
  });

  it.each([0, -1, 9_223_372_036_854_775_807n, "1e400", "never", {}])(
    "with a lifetime that is none (%p) is good until it is refused",
    async (lifetime) => {
      server.tokenAnswer = (answer) => ({
        ...answer,
        expires_in: typeof lifetime === "bigint" ? Number(lifetime) : lifetime,
      });
      const store = new MemoryStore();
      const { authorizer } = withBrowser(resource.url, { store });
      expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
      expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 0 });
      const [grant] = (await store.read(resource.url)).grants;
      expect(grant).not.toHaveProperty("expiresAt");
      expect(server.requests("/token")).toHaveLength(1);
    },
  );
});

describe("the authorization response", () => {
  it.each([
    ["of another issuer", (url: URL) => url.searchParams.set("iss", "https://attacker.example"), true, /"iss"/],
    [
      "of an issuer equal only after normalization",
      (url: URL) => url.searchParams.set("iss", `${server.issuer}/`),
      true,
      /"iss"/,
    ],
    ["without the promised issuer", (url: URL) => url.searchParams.delete("iss"), true, /"iss"/],
    [
      "of another issuer, none promised",
      (url: URL) => url.searchParams.set("iss", "https://attacker.example"),
      undefined,
      /"iss"/,
    ],
  ])("%s is refused before the code is sent anywhere", async (_, change, promised, reason) => {
    server.metadata = { authorization_response_iss_parameter_supported: promised };
    server.redirectBack = (url) => {
      change(url);
      url.searchParams.set("error", "shown-by-nobody");
    };
    const error = await refusal();
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain("shown-by-nobody");
    expect(server.requests("/token")).toEqual([]);
  });

  it("without an issuer is taken where none was promised", async () => {
    server.metadata = { authorization_response_iss_parameter_supported: undefined };
    server.redirectBack = (url) => url.searchParams.delete("iss");
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
  });

  it("with an error ends the sign-in with its code and words", async () => {
    server.redirectBack = (url) => {
      url.searchParams.delete("code");
      url.searchParams.set("error", "access_denied");
      url.searchParams.set("error_description", "not today");
    };
    const { message, details } = await refusal();
    expect(message).toContain("access_denied (not today)");
    expect(details.oauthError).toBe("access_denied");
  });

  it.each([
    ["invalid_scope", /Set "parameters" in its oauth settings to \{"scope": "…"\}/],
    ["invalid_target", /Set "parameters" in its oauth settings to \{"resource": ""\}/],
  ])("with %s says what to set", async (code, hint) => {
    server.redirectBack = (url) => {
      url.searchParams.delete("code");
      url.searchParams.set("error", code);
    };
    expect((await refusal()).message).toMatch(hint);
  });

  it("with an error about the configured client says what to check", async () => {
    server.overrides.set("/token", (_, response) => json(response, 401, { error: "invalid_client" }));
    const { authorizer } = withBrowser(resource.url, { settings: { clientId: "mine", clientSecret: "its-secret" } });
    await expect(call(authorizer, resource.url)).rejects.toThrow('Check "clientId", "clientSecret" and');
    expect((await refusal()).message).not.toContain("Check");
  });

  it("with another state is a stranger's: told so, and the wait goes on", async () => {
    const strangers: Promise<{ status: number }>[] = [];
    const { authorizer } = withBrowser(resource.url, {
      openUrl: async (address) => {
        const redirect = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
        for (const query of ["?code=stolen&state=guessed", "?code=stolen", "?error=access_denied"]) {
          strangers.push(browse(`${redirect.href}${query}`));
        }
        strangers.push(browse(`${redirect.origin}/favicon.ico`), browse(redirect.origin));
        const answer = `${redirect.href}?code=stolen&state=${new URL(address).searchParams.get("state")}`;
        strangers.push(fetch(answer, { method: "POST", headers: { connection: "close" } }));
        await Promise.all(strangers);
        void browse(address);
      },
    });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect((await Promise.all(strangers)).map(({ status }) => status)).toEqual([400, 400, 400, 404, 404, 404]);
  });

  it("is waited for although the system could not accept some connection", async () => {
    const openUrl = async (address: string): Promise<void> => {
      const { port } = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
      const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles: () => unknown[] };
      const listens = (each: unknown): boolean =>
        each instanceof Server && (each.address() as AddressInfo | null)?.port === Number(port);
      const listener = handles().find(listens) as Server;
      listener.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
      void browse(address);
    };
    const authorizer = authorizerFor(resource.url, { openUrl });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
  });

  it("that comes twice is used once", async () => {
    let second: Promise<{ status: number; text: string }> | undefined;
    server.overrides.set("/token", (seen, response) => {
      // While the first answer is being redeemed, the browser loads the page again.
      const state = server.requests("/authorize")[0]?.query.get("state");
      second = browse(`${seen.form.get("redirect_uri")}?code=again&state=${state}`);
      void second.then(() =>
        json(response, 200, {
          access_token: server.issue({ scope: "", resource: "", clientId: "" }),
          token_type: "bearer",
        }),
      );
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(await second).toMatchObject({ status: 409, text: expect.stringContaining("has had its answer") });
    expect(server.requests("/token")).toHaveLength(1);
  });

  it("with a code that does not fit the verifier is refused by the server, and that is the end", async () => {
    server.redirectBack = (url) => url.searchParams.set("code", "injected");
    expect((await refusal()).details.oauthError).toBe("invalid_grant");
  });
});

describe("the person's side", () => {
  it("names a callback port that is taken", async () => {
    const taken = createServer();
    taken.listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    try {
      const { message } = await refusal({ settings: { redirectUri: `http://127.0.0.1:${port}/callback` } });
      expect(message).toContain(`port ${port}`);
      expect(message).toContain('another "redirectUri"');
    } finally {
      taken.close();
    }
  });

  it("listens at both addresses of localhost, since browsers ask the one of IPv6 first, or tells that one is taken", async () => {
    const other = createServer().on("connection", (socket) => socket.destroy());
    other.listen(0, "::1");
    const isThere = await once(other, "listening").then(
      () => true,
      () => false, // There is no IPv6 on this machine.
    );
    if (!isThere) return;
    const { port } = other.address() as AddressInfo;
    const settings = { redirectUri: `http://localhost:${port}/callback` };
    try {
      expect((await refusal({ settings, limits: { signInMs: 1000 } })).message).toContain(`port ${port}`);
    } finally {
      other.close();
      await once(other, "close");
    }
    server.redirectBack = (callback) => {
      callback.hostname = "[::1]";
    };
    expect(await call(withBrowser(resource.url, { settings }).authorizer, resource.url)).toMatchObject({ status: 200 });
  });

  it("gives up where ten ports in a row are free at one address of localhost alone", async () => {
    const listen = Server.prototype.listen;
    let taken = 0;
    const spy = jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, ...where: unknown[]) {
      if (where[1] !== "::1") return Reflect.apply(listen, this, where) as Server;
      taken++;
      setImmediate(() => this.emit("error", Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE" })));
      return this;
    });
    try {
      await expect(CallbackListener.open("http://localhost/callback", 0)).rejects.toThrow("EADDRINUSE");
      expect(taken).toBe(10);
    } finally {
      spy.mockRestore();
    }
  });

  it.each([
    "http://127.0.0.1:PORT/callback",
    "http://localhost:PORT/a/b",
    "http://localhost:PORT",
    "http://[::1]:PORT/x",
    ...(process.platform === "linux" ? ["http://127.0.0.2:PORT/x"] : []), // Elsewhere it has to be set up first.
  ])("comes back to the configured address (%s)", async (written) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1");
    await once(probe, "listening");
    const redirectUri = written.replace("PORT", String((probe.address() as AddressInfo).port));
    probe.close();
    await once(probe, "close");
    const { authorizer } = withBrowser(resource.url, { settings: { redirectUri } });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/authorize")[0]?.query.get("redirect_uri")).toBe(redirectUri);
  });

  it("comes back to any free port where the configured address has none, the next time to the same", async () => {
    const store = new MemoryStore();
    const settings = { redirectUri: "http://localhost/oauth/callback" };
    await call(withBrowser(resource.url, { settings, store }).authorizer, resource.url);
    server.live.clear();
    server.refreshable.clear();
    await call(withBrowser(resource.url, { settings, store }).authorizer, resource.url);
    const [first, second] = server.requests("/authorize").map(({ query }) => query.get("redirect_uri"));
    expect(first).toMatch(/^http:\/\/localhost:\d+\/oauth\/callback$/);
    expect(second).toBe(first);
    expect(server.requests("/register")).toHaveLength(1);
  });

  it.each(["https://localhost:1/callback", "http://as.example/callback", "http://localhost/?a=b", "callback"])(
    "is sent to no other address than this machine's (%s)",
    async (redirectUri) => {
      const { message } = await refusal({ settings: { redirectUri } });
      expect(message).toContain('"redirectUri" is not an address of this machine');
      expect(server.requests("/register")).toEqual([]);
    },
  );

  it("ends when the browser cannot be opened", async () => {
    const { message } = await refusal({ openUrl: () => Promise.reject(new Error("no display")) });
    expect(message).toContain("the browser could not be opened: no display");
    expect(message).toContain("rpi-mcp login fake");
  });

  it("ends when nobody comes", async () => {
    const { message } = await refusal({ openUrl: async () => {}, limits: { signInMs: 100 } });
    expect(message).toMatch(/nobody finished it at 127\.0\.0\.1:\d+ within 0\.1 s/);
  });

  it("stops waiting at once when the call is cancelled, and closes the tab's way back", async () => {
    const controller = new AbortController();
    let redirect = "";
    let told: AbortSignal | undefined;
    const authorizer = authorizerFor(resource.url, {
      openUrl: async (address, signal) => {
        redirect = new URL(address).searchParams.get("redirect_uri") ?? "";
        told = signal;
        controller.abort();
      },
    });
    await expect(call(authorizer, resource.url, controller.signal)).rejects.toMatchObject({ code: "cancelled" });
    const refused = (): Promise<boolean> =>
      fetch(redirect).then(
        () => false,
        () => true,
      );
    await waitFor("the way back is closed", refused, 2000);
    await expect(fetch(redirect)).rejects.toThrow("fetch failed");
    expect(told?.aborted).toBe(true);
    expect(resource.executed).toBe(0);
  });

  it("is not shown a page for a call that was cancelled while the sign-in was prepared", async () => {
    const controller = new AbortController();
    const store = new MemoryStore();
    const register = store.update.bind(store);
    store.update = async (...change) => {
      const value = await register(...change);
      controller.abort();
      return value;
    };
    const { authorizer, opened } = withBrowser(resource.url, { store });
    await expect(call(authorizer, resource.url, controller.signal)).rejects.toMatchObject({ code: "cancelled" });
    await workOver(store);
    expect(opened).toEqual([]);
  });

  it("goes on for the others when one of several waiting calls is cancelled", async () => {
    const controller = new AbortController();
    let finish = (): void => {};
    const authorizer = authorizerFor(resource.url, {
      openUrl: async (address) => {
        controller.abort();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        void browse(address);
      },
    });
    const [first, second] = [call(authorizer, resource.url, controller.signal), call(authorizer, resource.url)];
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    finish();
    expect(await second).toEqual({ status: 200, answered: 1 });
  });

  it("starts afresh after a cancelled sign-in, also while that one is still closing", async () => {
    const controller = new AbortController();
    const idle: Socket[] = [];
    const authorizer = authorizerFor(resource.url, {
      openUrl: async (address) => {
        if (idle.length > 0) {
          void browse(address);
          return;
        }
        // A connection without a request, as browsers make them in advance.
        const { port } = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
        const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
        idle.push(socket);
        await once(socket, "connect");
        controller.abort();
      },
    });
    await expect(call(authorizer, resource.url, controller.signal)).rejects.toMatchObject({ code: "cancelled" });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    idle[0]?.destroy();
  });
});

describe("a server that is never satisfied", () => {
  it("with 401 after a fresh sign-in does not send the person round again", async () => {
    resource.overrides.set("/mcp", (_, response) => resource.refuse(response, 401, resource.challenge()));
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("refuses the token"),
    });
    expect(opened).toHaveLength(1);
  });

  it("with 401 that does not say what it wants does not send the person round again either", async () => {
    resource.overrides.set("/mcp", (_, response) => json(response, 401, {}));
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("refuses the token"),
    });
    expect(opened).toHaveLength(1);
  });

  it("with 403 for a scope it was granted ends at once", async () => {
    resource.overrides.set("/mcp", (seen, response) => {
      if (seen.headers.authorization === undefined)
        resource.refuse(response, 401, `scope="admin", ${resource.challenge()}`);
      else resource.refuse(response, 403, `error="insufficient_scope", scope="admin", ${resource.challenge()}`);
    });
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining("already granted"),
      details: { status: 403 },
    });
    expect(opened).toHaveLength(1);
  });

  it("with 403 for a scope that nobody names ends at once", async () => {
    resource.overrides.set("/mcp", (seen, response) => {
      if (seen.headers.authorization === undefined) resource.refuse(response, 401, resource.challenge());
      else resource.refuse(response, 403, `error="insufficient_scope", ${resource.challenge()}`);
    });
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining("the server demands a scope that it does not name"),
    });
    expect(opened).toHaveLength(1);
  });

  it.each([
    [["HS256"], "accepts DPoP proofs only with HS256, not supported here"],
    [[], "accepts no DPoP proofs"],
    [Array.from({ length: 20_000 }, (_, at) => `X${at}`), /only with X0, X1, .*…, not supported here/],
  ])("with no way to bind a token to a key that is known here is told at once (%#)", async (algorithms, reason) => {
    server.metadata = { dpop_signing_alg_values_supported: algorithms };
    const { message } = await refusal({ settings: { dpop: true } });
    expect(message).toMatch(reason);
    expect(message.length).toBeLessThan(1000);
    expect(server.requests("/authorize")).toEqual([]);
  });

  it("with 403 for a scope the authorization server does not grant asks for it once", async () => {
    server.tokenAnswer = (answer) => ({ ...answer, scope: "basic" });
    resource.overrides.set("/mcp", (seen, response) => {
      if (seen.headers.authorization === undefined) resource.refuse(response, 401, resource.challenge());
      else resource.refuse(response, 403, `error="insufficient_scope", scope="admin", ${resource.challenge()}`);
    });
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining("did not grant"),
    });
    expect(opened).toHaveLength(2);
  });

  it("with a new scope each time is given up after three authorizations", async () => {
    let round = 0;
    resource.overrides.set("/mcp", (seen, response) => {
      round += 1;
      if (seen.headers.authorization === undefined) resource.refuse(response, 401, resource.challenge());
      else resource.refuse(response, 403, `error="insufficient_scope", scope="s${round}", ${resource.challenge()}`);
    });
    const { authorizer, opened } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 403, answered: 3 });
    expect(opened).toHaveLength(3);
  });
});
