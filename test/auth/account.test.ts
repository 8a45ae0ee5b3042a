import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type AccountOptions, logout, signInState } from "../../src/auth/account.ts";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import { resolveLimits } from "../../src/limits.ts";
import { Redactor } from "../../src/redactor.ts";
import { sendPlain } from "../../src/transport/send-plain.ts";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { authorizerFor, call, withBrowser } from "../support/oauth-client.ts";

let server: FakeAuthorizationServer;
let resource: FakeResource;
let store: MemoryStore;
let account: AccountOptions;
const signal = new AbortController().signal;

beforeEach(async () => {
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
  store = new MemoryStore();
  const who = { server: "fake", url: resource.url, clientInfo: { name: "t", version: "0" } };
  account = {
    ...who,
    store,
    limits: resolveLimits({ oauthRequestMs: 2000 }),
    redactor: new Redactor(),
    send: sendPlain,
  };
});
afterEach(async () => {
  await Promise.all([server.stop(), resource.stop()]);
});

describe("the state of a sign-in", () => {
  it("says who signed in where, until when, and shows no token", async () => {
    expect(await signInState(account)).toEqual({ state: "signed_out", store: { kind: "memory" } });
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    const state = await signInState(account);
    expect(state).toEqual({
      state: "signed_in",
      issuer: server.issuer,
      clientId: expect.stringMatching(/^client-/),
      scope: "read",
      expiresAt: expect.stringMatching(/^20\d\d-.*Z$/),
      renewable: true,
      store: { kind: "memory" },
    });
    expect(JSON.stringify(state)).not.toMatch(/access-|refresh-/);
  });

  it("is expired when the token has ended and nothing renews it", async () => {
    server.refreshTokens = false;
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    expect(await signInState(account)).toMatchObject({ state: "signed_in", renewable: false });
    const { grants, ...record } = await store.read(resource.url);
    const ended = grants.map((grant) => ({ ...grant, expiresAt: Date.now() - 1 }));
    store.put({ ...record, grants: ended });
    expect(await signInState(account)).toMatchObject({ state: "expired", renewable: false });
    store.put({ ...record, grants: ended.map((grant) => ({ ...grant, refreshToken: "r" })) });
    expect(await signInState(account)).toMatchObject({ state: "signed_in", renewable: true });
  });

  it("belongs to the client of the entry", async () => {
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    expect(await signInState({ ...account, settings: { clientId: "another" } })).toMatchObject({ state: "signed_out" });
  });

  it("remembers the scope that a server demanded when nobody was there, for the login", async () => {
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    resource.needs = "write";
    await expect(call(authorizerFor(resource.url, { store }), resource.url)).rejects.toMatchObject({
      situation: "auth.required",
      details: { status: 403, wwwAuthenticate: expect.stringContaining('scope="write"') },
    });
    expect(await signInState(account)).toMatchObject({ wantedScope: "read write" });
    await withBrowser(resource.url, { store }).authorizer.signIn(signal);
    expect(await call(authorizerFor(resource.url, { store }), resource.url)).toEqual({ status: 200, answered: 0 });
    expect(await signInState(account)).not.toHaveProperty("wantedScope");
  });
});

describe("a login", () => {
  it("signs in before any call, by what the server says to a stranger", async () => {
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    const { authorizer } = withBrowser(resource.url, { store });
    await authorizer.signIn(signal);
    const [asked] = resource.requests("/mcp");
    expect(asked).toMatchObject({
      method: "POST",
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    });
    expect(JSON.parse(asked?.text ?? "")).toEqual({ jsonrpc: "2.0", id: 0, method: "ping" });
    expect(server.requests("/authorize")[0]?.query.get("scope")).toBe("read");
    expect(await call(authorizerFor(resource.url, { store }), resource.url)).toEqual({ status: 200, answered: 0 });
  });

  it("to a server that does not ask for one says so", async () => {
    resource.describe = undefined;
    resource.overrides.set("/mcp", (_, response) => json(response, 200, { jsonrpc: "2.0", id: 0, result: {} }));
    await expect(withBrowser(resource.url, { store }).authorizer.signIn(signal)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("does not ask for a sign-in"),
    });
    expect(resource.requests("/register")).toEqual([]);
  });

  it("signs in anew where there is a sign-in, so that another person can", async () => {
    const { authorizer, opened } = withBrowser(resource.url, { store });
    await authorizer.signIn(signal);
    await authorizer.signIn(signal);
    expect(opened).toHaveLength(2);
  });

  it("on a machine without a browser takes the pasted address", async () => {
    const addresses: string[] = [];
    const authorizer = authorizerFor(resource.url, { store, openUrl: async (url) => void addresses.push(url) });
    expect(() => authorizer.completeFromPastedUrl("x")).toThrow("no sign-in is waiting");
    const login = authorizer.signIn(signal);
    while (addresses.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const answer = await fetch(addresses[0] ?? "", { redirect: "manual", headers: { connection: "close" } });
    const ended = answer.headers.get("location") ?? "";
    for (const wrong of ["", "http://127.0.0.1/callback", ended.replace(/state=[^&]+/, "state=guessed")]) {
      expect(() => authorizer.completeFromPastedUrl(wrong)).toThrow("Paste the whole address");
    }
    authorizer.completeFromPastedUrl(`  ${ended}\n`);
    await login;
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 0 });
  });
});

describe("a logout", () => {
  it("tells the server, forgets everything, and running authorizers too", async () => {
    const { authorizer } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    const refresh = [...server.refreshable.keys()][0];
    expect(await logout(account, signal)).toEqual({ ended: 1, revoked: 1 });
    expect(server.requests("/revoke").map(({ form }) => form.get("token"))).toEqual([refresh]);
    expect(await store.read(resource.url)).toEqual({ url: resource.url, clients: [], grants: [] });
    expect(await authorizer.headers({ method: "POST", url: resource.url }, { signal })).toEqual({});
  });

  it("that comes while the tokens are renewed ends the new ones", async () => {
    const { authorizer } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    server.live.clear();
    let renew = (): void => {};
    const renewing = new Promise<void>((asked) => {
      server.beforeToken = async () => {
        asked();
        await new Promise<void>((go) => {
          renew = go;
        });
      };
    });
    const calling = call(authorizer, resource.url);
    await renewing;
    const leaving = logout(account, signal);
    renew();
    expect(await leaving).toEqual({ ended: 1, revoked: 1 });
    expect(server.requests("/revoke").map(({ form }) => form.get("token"))).toEqual([...server.refreshable.keys()]);
    server.beforeToken = async () => {};
    await calling;
  });

  it("forgets also when the server cannot be told", async () => {
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    await server.stop();
    expect(await logout(account, signal)).toEqual({ ended: 1, revoked: 0 });
    expect((await store.read(resource.url)).grants).toEqual([]);
    await server.start();
  });

  it("sends no token where it could be read", async () => {
    server.metadata = { revocation_endpoint: "http://as.example/revoke" };
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    const sent: string[] = [];
    const send: typeof account.send = async (request) => {
      sent.push(request.url.href);
      return { status: 200, headers: {}, body: Buffer.alloc(0) };
    };
    expect(await logout({ ...account, send }, signal)).toEqual({ ended: 1, revoked: 0 });
    expect(sent).toEqual([]);
  });

  it("of a server nobody signed in to does nothing", async () => {
    expect(await logout(account, signal)).toEqual({ ended: 0, revoked: 0 });
  });

  it("in another process is respected: a token that ends is not renewed", async () => {
    const { authorizer } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    store.put({ url: resource.url, clients: [], grants: [] });
    server.live.clear();
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/token").map(({ form }) => form.get("grant_type"))).toEqual([
      "authorization_code",
      "authorization_code",
    ]);
  });
});
