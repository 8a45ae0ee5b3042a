import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { jwtVerify } from "jose";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import { FakeAuthorizationServer, FakeResource, FakeServer, json, type Seen } from "../support/fake-oauth.ts";
import { authorizerFor, call, refuse } from "../support/oauth-client.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

let server: FakeAuthorizationServer;
let resource: FakeResource;

beforeEach(async () => {
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all([server.stop(), resource.stop()]);
});

const formOf = (seen: Seen | undefined): Record<string, string> => Object.fromEntries(seen?.form ?? []);

describe("client credentials", () => {
  const settings = {
    grantType: "client_credentials",
    clientId: "machine",
    clientSecret: "the machine's secret",
  } as const;

  it("need no person, no redirect and no registration, and stay out of the store", async () => {
    const store = new MemoryStore();
    expect(await call(authorizerFor(resource.url, { settings, store }), resource.url)).toEqual({
      status: 200,
      answered: 1,
    });
    expect(formOf(server.requests("/token")[0])).toEqual({ grant_type: "client_credentials", resource: resource.url });
    expect([server.requests("/authorize"), server.requests("/register")]).toEqual([[], []]);
    expect(JSON.stringify(await store.read(resource.url))).not.toMatch(/access-|refresh-|secret/);
  });

  it("are asked for with the entry's parameters, instead of ours or in addition", async () => {
    const parameters = { audience: "https://api.example", resource: "", client_id: "another", grant_type: "another" };
    await call(authorizerFor(resource.url, { settings: { ...settings, parameters } }), resource.url);
    const form = formOf(server.requests("/token")[0]);
    expect(form).toMatchObject({ grant_type: "client_credentials", audience: "https://api.example" });
    expect(form).not.toHaveProperty("resource");
    expect(JSON.stringify(server.requests("/token")[0]?.headers)).toMatch(/Basic/);
  });

  it("are asked for again before the token ends, once for all calls", async () => {
    const authorizer = authorizerFor(resource.url, { settings });
    await call(authorizer, resource.url);
    const now = Date.now;
    jest.spyOn(Date, "now").mockImplementation(() => now() + 3595_000);
    const results = await Promise.all([call(authorizer, resource.url), call(authorizer, resource.url)]);
    expect(results).toEqual(Array(2).fill({ status: 200, answered: 0 }));
    await call(authorizer, resource.url);
    const [first, second, ...more] = server.requests("/token").map(formOf);
    expect(second).toEqual(first);
    expect(more).toEqual([]);
    const [, old, ...renewed] = resource.requests("/mcp").map(({ headers }) => headers.authorization);
    expect(renewed).toEqual(Array(3).fill(renewed[0]));
    expect(renewed).not.toContain(old);
  });

  it("that another call got meanwhile are used instead of new ones", async () => {
    const authorizer = authorizerFor(resource.url, { settings });
    const signal = new AbortController().signal;
    await call(authorizer, resource.url);
    const sent = await authorizer.headers({ method: "POST", url: resource.url }, { signal });
    server.live.clear();
    await call(authorizer, resource.url);
    await refuse(authorizer, resource.url, sent);
    expect(server.requests("/token")).toHaveLength(2);
  });

  it("step up without a person", async () => {
    const authorizer = authorizerFor(resource.url, { settings: { ...settings, scope: "read" } });
    await call(authorizer, resource.url);
    resource.needs = "write";
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/token").map(({ form }) => form.get("scope"))).toEqual(["read", "read write"]);
  });

  it("that are refused are not asked for again", async () => {
    server.overrides.set("/token", (_, response) => json(response, 401, { error: "invalid_client" }));
    await expect(call(authorizerFor(resource.url, { settings }), resource.url)).rejects.toMatchObject({
      code: "auth_required",
      details: { oauthError: "invalid_client", status: 401 },
    });
    expect(server.requests("/token")).toHaveLength(1);
  });

  it("are not shown to an authorization server that the resource names later", async () => {
    const store = new MemoryStore();
    await call(authorizerFor(resource.url, { settings, store }), resource.url);
    const other = await new FakeAuthorizationServer().start();
    try {
      resource.trusted = other;
      const later = authorizerFor(resource.url, { settings: { ...settings, scope: "x" }, store });
      await expect(call(later, resource.url)).rejects.toMatchObject({ message: expect.stringContaining("belongs to") });
      expect(other.requests("/token")).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it.each([
    [{}, 'needs a "clientId"'],
    [{ clientId: "c", tokenEndpointAuthMethod: "client_secret_post" }, 'client_secret_post needs a "clientSecret"'],
    [{ clientId: "c", tokenEndpointAuthMethod: "private_key_jwt" }, 'private_key_jwt needs a "privateKey"'],
    [{ clientId: "c", tokenEndpointAuthMethod: "tls_client_auth" }, "tls_client_auth is not supported"],
  ])("say what %j lacks", async (more, lack) => {
    const authorizer = authorizerFor(resource.url, { settings: { grantType: "client_credentials", ...more } });
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({ message: expect.stringContaining(lack) });
    expect(server.requests("/token")).toEqual([]);
  });
});

describe("a client that signs", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const settings = { grantType: "client_credentials", clientId: "machine" } as const;

  it.each([
    ["PKCS #8", pem],
    ["SEC 1", privateKey.export({ format: "pem", type: "sec1" }).toString()],
    ["one line, as in an environment variable", pem.trim().replaceAll("\n", "\\n")],
    ["JWK", JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "a key" })],
  ])("says who it is to this one server, for a minute (key: %s)", async (form, key) => {
    server.metadata = { token_endpoint_auth_methods_supported: ["private_key_jwt"] };
    const authorizer = authorizerFor(resource.url, { settings: { ...settings, privateKey: key } });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    const sent = formOf(server.requests("/token")[0]);
    expect(sent.client_assertion_type).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const { payload, protectedHeader } = await jwtVerify(sent.client_assertion ?? "", publicKey, {
      audience: server.issuer,
    });
    expect(payload).toMatchObject({ iss: "machine", sub: "machine", jti: expect.any(String) });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
    expect(protectedHeader).toMatchObject({ alg: "ES256", ...(form === "JWK" ? { kid: "a key" } : {}) });
  });

  it.each(["RS256", "RS512", "PS256"])("uses the algorithm that the server takes (%s)", async (algorithm) => {
    server.metadata = { token_endpoint_auth_signing_alg_values_supported: [algorithm] };
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const rsa = pair.privateKey.export({ format: "pem", type: "pkcs1" }).toString();
    await call(authorizerFor(resource.url, { settings: { ...settings, privateKey: rsa } }), resource.url);
    const { protectedHeader } = await jwtVerify(
      server.requests("/token")[0]?.form.get("client_assertion") ?? "",
      pair.publicKey,
    );
    expect(protectedHeader.alg).toBe(algorithm);
  });

  it.each([
    ["ES384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["ES512", generateKeyPairSync("ec", { namedCurve: "P-521" })],
    ["EdDSA", generateKeyPairSync("ed25519")],
  ])("uses the algorithm of its key (%s)", async (algorithm, pair) => {
    const key = pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    await call(authorizerFor(resource.url, { settings: { ...settings, privateKey: key } }), resource.url);
    const assertion = server.requests("/token")[0]?.form.get("client_assertion") ?? "";
    expect((await jwtVerify(assertion, pair.publicKey)).protectedHeader.alg).toBe(algorithm);
  });

  it("refuses a key that is none, or does not fit, without showing it", async () => {
    for (const [more, reason] of [
      [{ privateKey: "not a key at all" }, '"privateKey" is not a private key in PEM or JWK form'],
      [{ privateKey: pem, signingAlgorithm: "RS256" }, '"privateKey" does not fit the algorithm RS256'],
    ] as const) {
      const authorizer = authorizerFor(resource.url, { settings: { ...settings, ...more } });
      const error = await call(authorizer, resource.url).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "auth_required", message: expect.stringContaining(reason) });
      expect(JSON.stringify([error.message, error.details])).not.toContain(more.privateKey.slice(0, 16));
    }
    expect(server.requests("/token")).toEqual([]);
  });
});

describe("a workload's assertion", () => {
  it("is exchanged for a token, with or without a client of its own", async () => {
    for (const clientId of ["workload", undefined]) {
      const settings = {
        grantType: "jwt_bearer",
        assertion: "a.signed.assertion",
        ...(clientId && { clientId }),
      } as const;
      expect(await call(authorizerFor(resource.url, { settings }), resource.url)).toEqual({ status: 200, answered: 1 });
    }
    const base = { grant_type: JWT_BEARER, assertion: "a.signed.assertion", resource: resource.url };
    expect(server.requests("/token").map(formOf)).toEqual([{ ...base, client_id: "workload" }, base]);
  });

  it("that is refused is neither sent again nor shown", async () => {
    const settings = { grantType: "jwt_bearer", clientId: "workload", assertion: "an-expired-assertion" } as const;
    server.overrides.set("/token", ({ form }, response) =>
      json(response, 400, { error: "invalid_grant", error_description: `${form.get("assertion")} is expired` }),
    );
    await expect(call(authorizerFor(resource.url, { settings }), resource.url)).rejects.toMatchObject({
      message: expect.stringContaining("invalid_grant ([redacted] is expired)"),
    });
    expect(server.requests("/token")).toHaveLength(1);
  });

  it("is needed", async () => {
    const authorizer = authorizerFor(resource.url, { settings: { grantType: "jwt_bearer" } });
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining('"assertion"'),
    });
  });
});

describe("enterprise-managed authorization", () => {
  let provider: FakeServer;
  const answer = {
    access_token: "the-identity-assertion-grant",
    issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
    token_type: "N_A",
  };

  beforeEach(async () => {
    provider = await new FakeServer().start();
    provider.overrides.set("/.well-known/openid-configuration", (_, response) =>
      json(response, 200, { issuer: provider.origin, token_endpoint: `${provider.origin}/exchange` }),
    );
    provider.overrides.set("/exchange", (_, response) => json(response, 200, answer));
  });
  afterEach(async () => await provider.stop());

  const identity = { clientId: "at-the-provider", idToken: "an.id.token" };
  const client = { clientId: "at-the-server", clientSecret: "the secret at the server" };

  it("turns the ID token into a grant at the provider, and the grant into a token at the server", async () => {
    for (const where of [{ issuer: provider.origin }, { tokenEndpoint: `${provider.origin}/exchange` }]) {
      const settings = { grantType: "enterprise", ...client, identityProvider: { ...identity, ...where } } as const;
      const authorizer = authorizerFor(resource.url, { settings: { ...settings, scope: "chat" } });
      expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    }
    expect(formOf(provider.requests("/exchange")[0])).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      subject_token: "an.id.token",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      audience: server.issuer,
      resource: resource.url,
      scope: "chat",
      client_id: "at-the-provider",
    });
    expect(formOf(server.requests("/token")[0])).toMatchObject({
      grant_type: JWT_BEARER,
      assertion: answer.access_token,
      resource: resource.url,
      scope: "chat",
    });
    expect(server.requests("/token")[0]?.headers.authorization).toMatch(/^Basic /);
    expect(JSON.stringify(server.seen)).not.toContain("an.id.token");
    expect(JSON.stringify(provider.seen)).not.toContain("the secret at the server");
  });

  it.each([
    [undefined, undefined],
    [["client_secret_post"], "the provider's secret"],
  ])("shows its secret at the provider as that takes it (%j)", async (methods, inForm) => {
    provider.overrides.set("/.well-known/openid-configuration", (_, response) =>
      json(response, 200, {
        issuer: provider.origin,
        token_endpoint: `${provider.origin}/exchange`,
        token_endpoint_auth_methods_supported: methods,
      }),
    );
    const identityProvider = { ...identity, issuer: provider.origin, clientSecret: "the provider's secret" };
    const settings = { grantType: "enterprise", ...client, identityProvider } as const;
    expect(await call(authorizerFor(resource.url, { settings }), resource.url)).toMatchObject({ status: 200 });
    const [exchange] = provider.requests("/exchange");
    expect(exchange?.form.get("client_secret") ?? undefined).toBe(inForm);
    expect(exchange?.headers.authorization !== undefined).toBe(inForm === undefined);
    expect(JSON.stringify(server.seen)).not.toContain("the provider's secret");
  });

  it("takes nothing else for the grant", async () => {
    provider.overrides.set("/exchange", (_, response) =>
      json(response, 200, { ...answer, issued_token_type: "other" }),
    );
    const identityProvider = { ...identity, issuer: provider.origin };
    const authorizer = authorizerFor(resource.url, {
      settings: { grantType: "enterprise", ...client, identityProvider },
    });
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({ code: "auth_required" });
    expect(server.requests("/token")).toEqual([]);
  });

  it.each([
    [{}, 'needs "idToken" and "clientId" of the "identityProvider"'],
    [{ clientId: "x" }, 'needs "idToken" and "clientId"'],
    [{ idToken: "y" }, 'needs "idToken" and "clientId"'],
    [{ clientId: "x", idToken: "y" }, 'the "identityProvider" needs an "issuer" or a "tokenEndpoint"'],
  ])("says what %j lacks", async (identityProvider, lack) => {
    const authorizer = authorizerFor(resource.url, {
      settings: { grantType: "enterprise", ...client, identityProvider },
    });
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining(lack),
    });
  });
});
