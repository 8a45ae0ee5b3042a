import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { logout } from "../../src/auth/account.ts";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import { resolveLimits } from "../../src/limits.ts";
import { Redactor } from "../../src/redactor.ts";
import { sendPlain } from "../../src/transport/send-plain.ts";
import { authorizerFor, call, withBrowser } from "../support/oauth-client.ts";
import { RealAuthorizationServer, StrictResource } from "../support/real-oauth.ts";
import { waitFor } from "../support/wait.ts";

const MACHINE = {
  client_id: "machine",
  client_secret: "a secret of the machine, 32 bytes +",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  scope: "read write",
};

let server: RealAuthorizationServer;
let resource: StrictResource;

beforeEach(async () => {
  server = await RealAuthorizationServer.start([MACHINE]);
  resource = await StrictResource.start(server);
});
afterEach(async () => {
  await Promise.all([server.stop(), resource.stop()]);
});

describe("with a certified authorization server and a resource that checks its tokens", () => {
  it("a person signs in, and the token has the right audience and scope", async () => {
    const { authorizer, pages } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(await pages[0]).toMatchObject({ status: 200, text: expect.stringContaining("Signed in") });
    expect(resource.refusals).toEqual(["no token"]);
  });

  it("an expired token is refreshed, with a refresh token that rotates", async () => {
    server.accessTokenSeconds = 3;
    const store = new MemoryStore();
    const { authorizer, opened } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    const first = (await store.read(resource.url)).grants[0];
    server.accessTokenSeconds = 300;
    await waitFor("the token has ended", () => Date.now() >= (first?.expiresAt ?? 0));
    expect((await call(authorizer, resource.url)).status).toBe(200);
    const second = (await store.read(resource.url)).grants[0];
    expect(second?.accessToken).not.toBe(first?.accessToken);
    expect(second?.refreshToken).not.toBe(first?.refreshToken);
    expect(opened).toHaveLength(1);
  });

  it("a step-up in mid-call gets the union of scopes", async () => {
    const store = new MemoryStore();
    const { authorizer, opened } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    resource.needs = "write";
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect((await store.read(resource.url)).grants[0]?.scope?.split(" ")).toEqual(
      expect.arrayContaining(["read", "write"]),
    );
    expect(opened).toHaveLength(2);
  });

  it("a machine gets its token with its secret, and no browser is opened", async () => {
    const settings = {
      grantType: "client_credentials",
      clientId: "machine",
      clientSecret: MACHINE.client_secret,
    } as const;
    const { authorizer, opened } = withBrowser(resource.url, { settings });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(opened).toEqual([]);
  });

  it("a logout ends the sign-in on both sides", async () => {
    const store = new MemoryStore();
    const { authorizer } = withBrowser(resource.url, { store });
    await call(authorizer, resource.url);
    const { clients, grants } = await store.read(resource.url);
    const who = { server: "fake", url: resource.url, clientInfo: { name: "t", version: "0" }, limits: resolveLimits() };
    const result = await logout(
      { ...who, store, redactor: new Redactor(), send: sendPlain },
      new AbortController().signal,
    );
    expect(result).toEqual({ ended: 1, revoked: 1 });
    expect(await authorizer.headers({ method: "POST", url: resource.url }, new AbortController())).toEqual({});
    const before = new MemoryStore();
    before.put({ url: resource.url, clients, grants: grants.map((grant) => ({ ...grant, accessToken: "old" })) });
    await expect(call(authorizerFor(resource.url, { store: before }), resource.url)).rejects.toMatchObject({
      situation: "auth.required",
    });
  });
});

describe("tokens bound to a key (DPoP)", () => {
  it("are asked for where the resource requires them, and every request proves the key anew", async () => {
    resource.bound = true;
    const { authorizer } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 0 });
    expect(resource.schemes).toEqual(["DPoP", "DPoP"]);
  });

  it("carry the authorization server's nonce where it demands one", async () => {
    resource.bound = true;
    server.requireNonce = true;
    const { authorizer } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.tokenRequests).toHaveLength(2);
  });

  it("are asked for where the entry says so", async () => {
    const { authorizer } = withBrowser(resource.url, { settings: { dpop: true } });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(resource.schemes).toEqual(["DPoP"]);
  });

  it("stay usable for another process, which has the key from the store, and through a refresh", async () => {
    resource.bound = true;
    const store = new MemoryStore();
    server.accessTokenSeconds = 3;
    await call(withBrowser(resource.url, { store }).authorizer, resource.url);
    server.accessTokenSeconds = 300;
    const other = authorizerFor(resource.url, { store, settings: { scope: "read" } });
    const { expiresAt = 0 } = (await store.read(resource.url)).grants[0] ?? {};
    await waitFor("the token has ended", () => Date.now() >= expiresAt);
    expect((await call(other, resource.url)).status).toBe(200);
    expect(resource.schemes.every((scheme) => scheme === "DPoP")).toBe(true);
  });

  it("take up the server's nonce, and the new one when it changes, without a new sign-in", async () => {
    resource.bound = true;
    const { authorizer, opened } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    resource.renewNonce();
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 0 });
    resource.renewNonce();
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(resource.refusals).toEqual(["no token", "use_dpop_nonce", "use_dpop_nonce"]);
    expect(server.tokenRequests).toHaveLength(1);
    expect(opened).toHaveLength(1);
  });
});
