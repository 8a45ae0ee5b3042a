import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import type { SignInRecord } from "../../src/auth/store/record.ts";
import type { Change } from "../../src/auth/store/token-store.ts";
import { AdapterError } from "../../src/errors.ts";
import { Redactor } from "../../src/redactor.ts";
import { sendPlain } from "../../src/transport/send-plain.ts";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { ForwardProxy } from "../support/http-proxy.ts";
import { authorizerFor, call, withBrowser } from "../support/oauth-client.ts";
import { waitFor } from "../support/wait.ts";

let server: FakeAuthorizationServer;
let resource: FakeResource;

beforeEach(async () => {
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
});
afterEach(async () => {
  await Promise.all([server.stop(), resource.stop()]);
});

describe("signing in through the browser", () => {
  it("sends the refused request again with a token, and later requests with it at once", async () => {
    const { authorizer, opened, pages } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 0 });
    expect(opened).toHaveLength(1);
    expect(resource.executed).toBe(2);
    const page = await pages[0];
    expect(page?.status).toBe(200);
    expect(page?.text).toContain("You may close this page");
    expect(page?.text).not.toMatch(/code-|<script|<a /);
    expect(Object.fromEntries(page?.headers ?? [])).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
  });

  it("asks with PKCE, a state and the resource, and redeems the code with the same resource", async () => {
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    const asked = server.requests("/authorize")[0]?.query;
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      resource: resource.url,
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    expect(asked?.has("scope")).toBe(false);
    expect(server.requests("/token")[0]?.form.get("resource")).toBe(resource.url);
  });

  it("sends the entry's parameters instead of its own or in addition, and never for those that keep it safe", async () => {
    server.metadata = { scopes_supported: ["offline_access"] };
    const parameters = { audience: "https://api.example", resource: "", prompt: "", state: "mine", redirect_uri: "x" };
    const settings = { scope: "read", parameters };
    const { authorizer } = withBrowser(resource.url, { settings });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    const { query } = server.requests("/authorize")[0] ?? { query: new URLSearchParams() };
    expect(Object.fromEntries(query)).toMatchObject({ audience: "https://api.example", scope: "read offline_access" });
    for (const left of ["resource", "prompt"]) expect(query.has(left)).toBe(false);
    expect(query.get("state")).not.toBe("mine");
    server.live.clear();
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/token").map(({ form }) => [form.get("grant_type"), form.get("resource")])).toEqual([
      ["authorization_code", null],
      ["refresh_token", null],
    ]);
  });

  it("says where it waits before the browser is opened", async () => {
    const order: string[] = [];
    const { authorizer } = withBrowser(resource.url, { onWaiting: (host) => order.push(host) });
    await call(authorizer, resource.url);
    expect(order).toEqual([new URL(server.origin).host]);
  });

  it("says where it waits also when a call that was refused with it has been cancelled before", async () => {
    const hosts: string[] = [];
    const controller = new AbortController();
    resource.overrides.set(resource.metadataPath, (_seen, response) => {
      controller.abort();
      setImmediate(() => json(response, 200, resource.describe?.() ?? {}));
    });
    const { authorizer } = withBrowser(resource.url, { onWaiting: (host) => hosts.push(host) });
    const [first, second] = [call(authorizer, resource.url, controller.signal), call(authorizer, resource.url)];
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    expect(await second).toEqual({ status: 200, answered: 1 });
    expect(hosts).toEqual([new URL(server.origin).host]);
  });

  it("asks once for all calls that were refused at the same time", async () => {
    const hosts: string[] = [];
    const { authorizer, opened } = withBrowser(resource.url, { onWaiting: (host) => hosts.push(host) });
    const results = await Promise.all(Array.from({ length: 8 }, () => call(authorizer, resource.url)));
    expect(results.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(opened).toHaveLength(1);
    expect(server.requests("/token")).toHaveLength(1);
  });

  it("signs in to two servers at once, each with its own callback", async () => {
    const other = await new FakeResource(server).start();
    try {
      const store = new MemoryStore();
      const [a, b] = [withBrowser(resource.url, { store }), withBrowser(other.url, { store })];
      const results = await Promise.all([call(a.authorizer, resource.url), call(b.authorizer, other.url)]);
      expect(results.map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await other.stop();
    }
  });

  it("that is given up while its code is redeemed ends with that in the browser", async () => {
    server.beforeToken = () => new Promise(() => undefined);
    const giving = new AbortController();
    const { authorizer, pages } = withBrowser(resource.url);
    const end = call(authorizer, resource.url, giving.signal);
    end.catch(() => undefined);
    await waitFor("the code is being redeemed", () => server.requests("/token").length > 0);
    giving.abort();
    await expect(end).rejects.toMatchObject({ code: "cancelled" });
    expect(await pages[0]).toMatchObject({ status: 400, text: expect.stringContaining("Sign-in failed") });
  });

  it("is good for this process where the store refuses its tokens", async () => {
    class Held extends MemoryStore {
      override update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T> {
        const held = async (record: SignInRecord): ReturnType<Change<T>> => {
          const changed = await change(record);
          if (changed.record === undefined || changed.record.grants.length === 0) return changed;
          throw new AdapterError("auth.store", {
            path: "it",
            reason: "process 7 holds its lock and does not release it",
          });
        };
        return super.update(url, held, signal);
      }
    }
    const { authorizer, opened } = withBrowser(resource.url, { store: new Held() });
    for (const answered of [1, 0]) expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered });
    expect(opened).toHaveLength(1);
  });

  it("keeps neither a connection nor the callback open", async () => {
    const { authorizer, pages } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    await Promise.all(pages);
    const deadline = Date.now() + 2000;
    while (Date.now() < deadline && (await server.connections()) + (await resource.connections()) > 0);
    expect([await server.connections(), await resource.connections()]).toEqual([0, 0]);
    const redirect = server.requests("/authorize")[0]?.query.get("redirect_uri") ?? "";
    await expect(fetch(redirect)).rejects.toThrow("fetch failed");
  });

  it("reaches everybody through the environment's proxy, as requests to servers do", async () => {
    const proxy = await ForwardProxy.start();
    const saved = process.env["http_proxy"];
    process.env["http_proxy"] = `http://127.0.0.1:${proxy.port}`;
    const far = (url: string): string => url.replace("//127.0.0.1:", "//oauth.example:");
    // Nothing on this machine is reached through a proxy.
    const send: typeof sendPlain = (request, signal) =>
      sendPlain({ ...request, url: new URL(far(request.url.href)) }, signal);
    try {
      await call(withBrowser(resource.url, { send }).authorizer, resource.url);
      expect(proxy.asked).toEqual([
        `GET ${far(resource.origin)}${resource.metadataPath}`,
        `GET ${far(server.origin)}/.well-known/oauth-authorization-server`,
        `POST ${far(server.origin)}/register`,
        `POST ${far(server.origin)}/token`,
      ]);
    } finally {
      if (saved === undefined) delete process.env["http_proxy"];
      else process.env["http_proxy"] = saved;
      await proxy.dispose();
    }
  });

  it("sends nothing to another origin than the server's", async () => {
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    const request = { method: "POST", url: `${server.origin}/mcp` } as const;
    expect(await authorizer.headers(request, new AbortController())).toEqual({});
  });

  it("needs a person who can be reached, and says how", async () => {
    const authorizer = authorizerFor(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("rpi-mcp login fake"),
      details: { status: 401, wwwAuthenticate: expect.stringContaining("resource_metadata=") },
    });
    expect(server.seen).toEqual([]);
  });

  it("leaves servers alone that want another scheme", async () => {
    resource.scheme = "Basic";
    resource.challenge = () => 'realm="x"';
    const { authorizer, opened } = withBrowser(resource.url);
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      situation: "auth.required",
      message: expect.stringContaining('That is not OAuth: set its credentials in the "headers" of its entry.'),
    });
    expect(opened).toEqual([]);
  });
});

describe("the client", () => {
  it("registers itself as a native application with its loopback address", async () => {
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    expect(JSON.parse(server.requests("/register")[0]?.text ?? "")).toEqual({
      client_name: "rpi-mcp-adapter tests",
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: [server.requests("/authorize")[0]?.query.get("redirect_uri")],
      token_endpoint_auth_method: "none",
    });
  });

  it("does not ask for refresh tokens where the server says that it has none", async () => {
    server.metadata = { grant_types_supported: ["authorization_code"] };
    await call(withBrowser(resource.url).authorizer, resource.url);
    const { grant_types } = JSON.parse(server.requests("/register")[0]?.text ?? "");
    expect(grant_types).toEqual(["authorization_code"]);
  });

  it("registers for the scopes it asks for, without which some servers let it ask for none", async () => {
    server.limitsScopes = true;
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(JSON.parse(server.requests("/register")[0]?.text ?? "")).toMatchObject({ scope: "read" });
  });

  it("registers for the scopes of the entry's parameters, which it asks for in place of any other", async () => {
    server.limitsScopes = true;
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    const { authorizer } = withBrowser(resource.url, { settings: { parameters: { scope: "granted" } } });
    expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });
    await authorizer.signIn(new AbortController().signal);
    expect(server.requests("/register").map(({ text }) => JSON.parse(text).scope)).toEqual(["granted"]);
  });

  it("registers anew for a scope that it has not registered for", async () => {
    server.limitsScopes = true;
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    await authorizer.signIn(new AbortController().signal);
    expect(server.requests("/register")).toHaveLength(1);
    resource.needs = "read write";
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(JSON.parse(server.requests("/register")[1]?.text ?? "")).toMatchObject({ scope: "read write" });
  });

  it("registers without scopes where the server lets nobody register for them, and once only", async () => {
    resource.challenge = () => `scope="read", resource_metadata="${resource.origin}${resource.metadataPath}"`;
    server.overrides.set("/register", ({ text }, response) => {
      const { scope, ...asked } = JSON.parse(text);
      if (scope === undefined) json(response, 201, { client_id: "client", ...asked });
      else json(response, 403, { error: "insufficient_scope", error_description: "not permitted" });
    });
    const { authorizer } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });
    await authorizer.signIn(new AbortController().signal);
    expect(server.requests("/register")).toHaveLength(2);
  });

  it("uses its registration again, with the same address, for the next sign-in", async () => {
    const { authorizer } = withBrowser(resource.url);
    const signal = new AbortController().signal;
    await authorizer.signIn(signal);
    await authorizer.signIn(signal);
    expect(server.requests("/register")).toHaveLength(1);
    const addresses = server.requests("/authorize").map(({ query }) => query.get("redirect_uri"));
    expect(addresses[0]).toBe(addresses[1]);
  });

  it("registers anew when the port of its registration is taken", async () => {
    const { authorizer } = withBrowser(resource.url);
    const signal = new AbortController().signal;
    await authorizer.signIn(signal);
    const { port } = new URL(server.requests("/authorize")[0]?.query.get("redirect_uri") ?? "");
    const other = createServer().listen(Number(port), "127.0.0.1");
    try {
      await once(other, "listening");
      await authorizer.signIn(signal);
      expect(server.requests("/register")).toHaveLength(2);
    } finally {
      other.close();
    }
  });

  it("registers anew when its secret has ended", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    server.registered = { client_secret: "a short-lived secret", client_secret_expires_at: 1 };
    const { authorizer } = withBrowser(resource.url);
    await authorizer.signIn(new AbortController().signal);
    await authorizer.signIn(new AbortController().signal);
    expect(server.requests("/register")).toHaveLength(2);
  });

  it("is the configured one where there is one, with a secret by basic authentication", async () => {
    server.metadata = {
      registration_endpoint: undefined,
      token_endpoint_auth_methods_supported: ["client_secret_basic"],
    };
    const settings = { clientId: "my client", clientSecret: "s+cr/t:with=marks" };
    const { authorizer } = withBrowser(resource.url, { settings });
    await call(authorizer, resource.url);
    const [, credentials = ""] = server.requests("/token")[0]?.headers.authorization?.split(" ") ?? [];
    expect(Buffer.from(credentials, "base64").toString()).toBe("my+client:s%2Bcr%2Ft%3Awith%3Dmarks");
  });

  it("shows its secret by basic authentication where the server does not say how it takes one", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: undefined };
    const settings = { clientId: "me", clientSecret: "secret-in-a-header" };
    await call(withBrowser(resource.url, { settings }).authorizer, resource.url);
    expect(server.requests("/token")[0]?.headers.authorization).toMatch(/^Basic /);
    expect(server.requests("/token")[0]?.text).not.toContain("secret-in-a-header");
  });

  it("puts the secret in the form where the server takes it only there", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const { authorizer } = withBrowser(resource.url, {
      settings: { clientId: "me", clientSecret: "secret-in-the-form" },
    });
    await call(authorizer, resource.url);
    expect(server.requests("/token")[0]?.form.get("client_secret")).toBe("secret-in-the-form");
  });

  it("takes the secret and the method its registration gave", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    server.registered = { client_secret: "registered-secret" };
    const redactor = new Redactor();
    const { authorizer } = withBrowser(resource.url, { redactor });
    await call(authorizer, resource.url);
    const { authorization = "" } = server.requests("/token")[0]?.headers ?? {};
    expect(authorization).toMatch(/^Basic /);
    expect(redactor.text(`registered-secret and ${authorization}`)).toBe("[redacted] and Basic [redacted]");
  });

  it("registers to show its secret in the form where the server takes nobody without one: those in Python look for its name there", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] };
    server.registered = { client_secret: "registered-secret" };
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    const { client_id: id } = Object.fromEntries(server.requests("/authorize")[0]?.query ?? []);
    const { form } = server.requests("/token")[0] ?? {};
    expect([form?.get("client_id"), form?.get("client_secret")]).toEqual([id, "registered-secret"]);
  });

  it.each([
    ["shows", undefined, /^Basic /],
    ["does not show", ["none"], /^$/],
  ])(
    "%s a secret that its registration gave without a method, where the server takes %j",
    async (_, methods, shown) => {
      server.metadata = { token_endpoint_auth_methods_supported: methods };
      server.registered = { client_secret: "registered-secret", token_endpoint_auth_method: undefined };
      expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
      expect(server.requests("/token")[0]?.headers.authorization ?? "").toMatch(shown);
    },
  );

  it("shows no secret where its registration gave none, whatever method that names", async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    server.registered = { token_endpoint_auth_method: "client_secret_post" };
    const { authorizer } = withBrowser(resource.url);
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/token")[0]?.headers.authorization).toBeUndefined();
  });

  it("is its metadata document where the server takes one, else registers itself", async () => {
    const settings = { clientMetadataUrl: "https://client.example/metadata.json" };
    await call(withBrowser(resource.url, { settings }).authorizer, resource.url);
    expect(server.requests("/register")).toHaveLength(1);
    server.metadata = { client_id_metadata_document_supported: true };
    await call(withBrowser(resource.url, { settings }).authorizer, resource.url);
    expect(server.requests("/register")).toHaveLength(1);
    expect(server.requests("/authorize")[1]?.query.get("client_id")).toBe(settings.clientMetadataUrl);
  });

  it.each(["http://client.example/metadata.json", "https://client.example/", "client.json"])(
    "is refused where its metadata document cannot be at %s",
    async (clientMetadataUrl) => {
      server.metadata = { client_id_metadata_document_supported: true };
      const { authorizer } = withBrowser(resource.url, { settings: { clientMetadataUrl } });
      await expect(call(authorizer, resource.url)).rejects.toMatchObject({
        code: "auth_required",
        message: expect.stringContaining('"clientMetadataUrl" is not an https address with a path'),
      });
      expect(server.requests("/authorize")).toEqual([]);
    },
  );

  it("says what to configure where nobody can register", async () => {
    server.metadata = { registration_endpoint: undefined };
    await expect(call(withBrowser(resource.url).authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining('set "clientId"'),
    });
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    ["an error", (response) => json(response, 400, { error: "invalid_redirect_uri" }), "invalid_redirect_uri"],
    ["a word that is no JSON", (response) => void response.writeHead(403).end("Forbidden"), "HTTP 403"],
  ])("says what to configure where its registration is refused with %s", async (_, refuse, said) => {
    server.overrides.set("/register", (_, response) => refuse(response));
    await expect(call(withBrowser(resource.url).authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringMatching(new RegExp(`${said}.*set "clientId"`)),
    });
  });

  it.each([
    ["null", { client_secret: null, client_secret_expires_at: null, redirect_uris: [] }],
    ["an empty text", { client_secret: "", token_endpoint_auth_method: "" }],
  ])("needs no secret where its registration holds %s", async (_, registered) => {
    server.registered = registered;
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
  });

  it("registers anew with another authorization server, which sees nothing of the first", async () => {
    const other = await new FakeAuthorizationServer().start();
    try {
      const { authorizer } = withBrowser(resource.url);
      await call(authorizer, resource.url);
      const first = server.requests("/authorize")[0]?.query.get("client_id") ?? "";
      resource.trusted = other;
      expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
      expect(other.requests("/register")).toHaveLength(1);
      expect(JSON.stringify(other.seen)).not.toContain(first);
    } finally {
      await other.stop();
    }
  });

  it("does not show configured credentials to an authorization server they were not made for", async () => {
    const other = await new FakeAuthorizationServer().start();
    try {
      const { authorizer } = withBrowser(resource.url, {
        settings: { clientId: "mine", clientSecret: "only-for-the-first" },
      });
      server.refreshTokens = false;
      await call(authorizer, resource.url);
      // Nor is it forgotten whom they were made for, where a sign-in there comes to nothing.
      server.overrides.set("/token", (_, response) => json(response, 400, { error: "invalid_grant" }));
      await expect(authorizer.signIn(new AbortController().signal)).rejects.toMatchObject({ code: "auth_required" });
      resource.trusted = other;
      await expect(call(authorizer, resource.url)).rejects.toMatchObject({
        code: "auth_required",
        message: expect.stringMatching(RegExp(`belongs to ${server.issuer}.*set "issuer" in its oauth settings`)),
      });
      expect(other.requests("/token")).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it("is dropped when a sign-in with it comes to nothing: the server may have forgotten it", async () => {
    const store = new MemoryStore();
    const signal = new AbortController().signal;
    await withBrowser(resource.url, { store }).authorizer.signIn(signal);
    const nobody = authorizerFor(resource.url, { store, openUrl: async () => {}, limits: { signInMs: 50 } });
    await expect(nobody.signIn(signal)).rejects.toMatchObject({ code: "auth_required" });
    await withBrowser(resource.url, { store }).authorizer.signIn(signal);
    expect(server.requests("/register")).toHaveLength(2);
  });

  it("is kept when it was the person who refused", async () => {
    const store = new MemoryStore();
    const signal = new AbortController().signal;
    await withBrowser(resource.url, { store }).authorizer.signIn(signal);
    server.redirectBack = (url) => url.searchParams.set("error", "access_denied");
    await expect(withBrowser(resource.url, { store }).authorizer.signIn(signal)).rejects.toMatchObject({
      details: { oauthError: "access_denied" },
    });
    server.redirectBack = () => {};
    await withBrowser(resource.url, { store }).authorizer.signIn(signal);
    expect(server.requests("/register")).toHaveLength(1);
  });

  it("registers anew when the server has forgotten it", async () => {
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    server.live.clear();
    server.overrides.set("/token", (_, response) =>
      json(response, 401, { error: "invalid_client" }, { "www-authenticate": "Basic" }),
    );
    await expect(call(authorizer, resource.url)).rejects.toMatchObject({ details: { oauthError: "invalid_client" } });
    server.overrides.clear();
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(server.requests("/register")).toHaveLength(2);
  });
});
