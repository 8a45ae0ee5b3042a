import { afterEach, describe, expect, it } from "@jest/globals";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { authorizerFor, call, withBrowser } from "../support/oauth-client.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

async function start(prepare: (server: FakeAuthorizationServer, resource: FakeResource) => void = () => {}): Promise<{
  server: FakeAuthorizationServer;
  resource: FakeResource;
}> {
  const server = new FakeAuthorizationServer();
  const resource = new FakeResource(server);
  prepare(server, resource);
  await server.start();
  await resource.start();
  running.push(server, resource);
  return { server, resource };
}

const wellKnown = (seen: readonly { path: string }[]): string[] =>
  seen.map(({ path }) => path).filter((path) => path.includes("well-known") || path.includes("metadata"));

describe("resource metadata", () => {
  it("is taken from where the challenge points, and from nowhere else", async () => {
    const { resource } = await start((_, each) => {
      each.metadataPath = "/custom/metadata.json";
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(wellKnown(resource.seen)).toEqual(["/custom/metadata.json"]);
  });

  it.each([
    ["to nothing", (origin: string) => `resource_metadata="${origin}/mcp/mcp"`],
    ["to nothing first", (origin: string) => `resource_metadata="${origin}/no", resource_metadata="${origin}/yes"`],
    ["to a host inside that is in plain http", () => 'resource_metadata="http://internal.example:8000/metadata"'],
    ["to a host inside that cannot be reached", () => 'resource_metadata="https://127.0.0.1:1/metadata"'],
    ["in single quotes", (origin: string) => `resource_metadata='${origin}/metadata'`],
  ])("is looked for at its usual place where the challenge points %s", async (_, challenge) => {
    const { resource } = await start((_, each) => {
      each.challenge = () => challenge(each.origin);
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(wellKnown(resource.seen).at(-1)).toBe("/.well-known/oauth-protected-resource/mcp");
  });

  it("that is nowhere leads to the server's own host, as before there was any, where that says that it signs in", async () => {
    const server = new FakeAuthorizationServer();
    server.overrides.set("/mcp", (seen, response) => {
      const known = server.live.has((seen.headers.authorization ?? "").replace("Bearer ", ""));
      const pointer = `${server.origin}/.well-known/oauth-authorization-server`;
      if (known) json(response, 200, {});
      else json(response, 401, {}, { "www-authenticate": `Bearer resource_metadata="${pointer}"` });
    });
    running.push(await server.start());
    const url = `${server.origin}/mcp`;
    expect(await call(withBrowser(url).authorizer, url)).toMatchObject({ status: 200 });
    server.metadata = { issuer: undefined };
    server.live.clear();
    server.refreshable.clear();
    await expect(call(withBrowser(url).authorizer, url)).rejects.toThrow(/no usable authorization server metadata/);
    expect(server.requests("/register")).toHaveLength(1);
  });

  it("is no document that names no resource, wherever that is", async () => {
    const { resource } = await start((_, each) => {
      each.metadataPath = "/.well-known/oauth-protected-resource";
      each.challenge = () => `resource_metadata="${each.origin}/anything"`;
    });
    for (const path of ["/anything", "/.well-known/oauth-protected-resource/mcp"])
      resource.overrides.set(path, (_, response) => json(response, 200, { status: "ok" }));
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
  });

  it("that names an issuer with slashes without end is told at once", async () => {
    const { resource, server } = await start((_, each) => {
      each.describe = () => ({
        resource: each.url,
        authorization_servers: [`${each.trusted.issuer}/${"/".repeat(100_000)}x`],
      });
    });
    const began = process.cpuUsage();
    await expect(call(withBrowser(resource.url).authorizer, resource.url)).rejects.toThrow(
      /no usable authorization server/,
    );
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
    expect(server.requests("/register")).toEqual([]);
  });

  it("without a pointer is looked for at the path, then at the root", async () => {
    const { server, resource } = await start((_, each) => {
      each.metadataPath = "/.well-known/oauth-protected-resource";
      each.challenge = () => "";
      each.describe = () => ({ resource: each.origin, authorization_servers: [each.trusted.issuer] });
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(wellKnown(resource.seen)).toEqual([
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-protected-resource",
    ]);
    expect(server.requests("/authorize")[0]?.query.get("resource")).toBe(resource.origin);
  });

  it("without a pointer is looked for with the slash that the address ends in, and without it", async () => {
    const { resource } = await start((_, each) => {
      each.path = "/mcp/";
      each.challenge = () => "";
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(wellKnown(resource.seen)).toEqual([
      "/.well-known/oauth-protected-resource/mcp/",
      "/.well-known/oauth-protected-resource/mcp",
    ]);
  });

  it("gives the resource parameter exactly as it is written", async () => {
    const { server, resource } = await start((_, each) => {
      each.describe = () => ({ resource: `${each.origin}/`, authorization_servers: [each.trusted.issuer] });
    });
    await call(withBrowser(resource.url).authorizer, resource.url);
    expect(server.requests("/token")[0]?.form.get("resource")).toBe(`${resource.origin}/`);
  });

  it("that names several authorization servers yields to the configured issuer", async () => {
    const { server: other } = await start();
    const { server, resource } = await start((_, each) => {
      each.describe = () => ({ resource: each.url, authorization_servers: [other.issuer, each.trusted.issuer] });
    });
    await call(withBrowser(resource.url, { settings: { issuer: server.issuer } }).authorizer, resource.url);
    expect(other.seen).toEqual([]);
  });

  it("that names another issuer, or one that cannot be asked, yields to the configured one", async () => {
    const { server: other } = await start();
    for (const named of [other.issuer, "http://internal.example", "https://127.0.0.1:1"]) {
      const { server, resource } = await start((_, each) => {
        each.describe = () => ({ resource: each.url, authorization_servers: [named] });
      });
      const { authorizer } = withBrowser(resource.url, { settings: { issuer: server.issuer } });
      expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });
    }
    expect(other.seen.map(({ method }) => method)).not.toContain("POST");
  });

  it("is taken from the place it names where that has the metadata of the configured issuer, and nobody else's endpoints", async () => {
    const { server, resource } = await start((each, one) => {
      each.metadataPaths = ["/.well-known/oauth-authorization-server/app"];
      one.describe = () => ({ resource: one.url, authorization_servers: [`${each.issuer}/app`] });
    });
    const { authorizer } = withBrowser(resource.url, { settings: { issuer: server.issuer } });
    expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });

    const { server: thief } = await start();
    server.live.clear();
    server.metadata = { token_endpoint: `${thief.issuer}/token` };
    const secret = { issuer: server.issuer, clientId: "mine", clientSecret: "the-secret" };
    await expect(call(withBrowser(resource.url, { settings: secret }).authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining("no usable authorization server metadata"),
    });
    expect(thief.seen).toEqual([]);
  });

  it("that names authorization servers without end is not followed without end", async () => {
    const { server: other } = await start();
    const { server, resource } = await start((_, each) => {
      const named = Array.from({ length: 50 }, (_, at) => `${other.issuer}/${at}`);
      each.describe = () => ({ resource: each.url, authorization_servers: named });
    });
    const { authorizer } = withBrowser(resource.url, { settings: { issuer: server.issuer } });
    expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(other.seen.length).toBeLessThanOrEqual(9);
  });

  it.each([
    ["/", ""],
    ["", "/"],
  ])(
    "that ends the issuer's bare origin in %j, where its own metadata ends it in %j, means that issuer",
    async (named, own) => {
      const { server, resource } = await start((_, each) => {
        each.describe = () => ({ resource: each.url, authorization_servers: [`${each.trusted.origin}${named}`] });
      });
      const issuer = `${server.origin}${own}`;
      server.metadata = { issuer };
      server.redirectBack = (url) => url.searchParams.set("iss", issuer);
      for (const settings of [{}, { issuer: `${server.origin}${named}` }]) {
        const { authorizer, opened } = withBrowser(resource.url, { settings });
        expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 });
        server.live.clear();
        expect(await call(authorizer, resource.url)).toMatchObject({ status: 200 }); // By what was kept of the first.
        expect(opened).toHaveLength(1);
      }
    },
  );

  it("that spells an issuer's path with a slash more than its own metadata needs the entry to decide, and says so", async () => {
    const { server, resource } = await start((authorization, each) => {
      authorization.prefix = "/tenant";
      each.describe = () => ({ resource: each.url, authorization_servers: [`${each.trusted.issuer}/`] });
    });
    await expect(call(withBrowser(resource.url).authorizer, resource.url)).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining(`If you trust that, set "issuer" to ${server.issuer} in its oauth settings.`),
    });
    expect(server.requests("/register")).toEqual([]);
    const settings = { issuer: server.issuer };
    expect(await call(withBrowser(resource.url, { settings }).authorizer, resource.url)).toMatchObject({ status: 200 });
  });
});

describe("authorization server metadata", () => {
  it.each([
    ["", ["/.well-known/oauth-authorization-server"], 0],
    ["", ["/.well-known/openid-configuration"], 1],
    ["/tenant1", ["/.well-known/oauth-authorization-server/tenant1"], 0],
    ["/tenant1", ["/.well-known/openid-configuration/tenant1"], 1],
    ["/tenant1", ["/tenant1/.well-known/openid-configuration"], 2],
  ])("of an issuer with the path %j is found at %j after %i other places", async (prefix, metadataPaths, before) => {
    const { server, resource } = await start((each) => {
      each.prefix = prefix;
      each.metadataPaths = metadataPaths;
    });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
    const places = [
      `/.well-known/oauth-authorization-server${prefix}`,
      `/.well-known/openid-configuration${prefix}`,
      `${prefix}/.well-known/openid-configuration`,
    ];
    expect(wellKnown(server.seen)).toEqual(places.slice(0, before + 1));
  });

  it("of an issuer that ends in a slash keeps that slash", async () => {
    const { server, resource } = await start();
    const issuer = `${server.origin}/`;
    server.metadata = { issuer };
    server.redirectBack = (url) => url.searchParams.set("iss", issuer);
    resource.describe = () => ({ resource: resource.url, authorization_servers: [issuer] });
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
  });

  it("that names another issuer says what to set if that is trusted, also where each tenant has its own", async () => {
    const { server, resource } = await start();
    const message = async (issuer: string): Promise<string> => {
      server.metadata = { issuer };
      const error: unknown = await call(withBrowser(resource.url).authorizer, resource.url).catch((thrown) => thrown);
      return (error as Error).message;
    };
    expect(await message("https://as.example")).toContain('set "issuer" to https://as.example in its oauth settings');
    expect(await message("https://as.example/{tenantid}/v2.0")).toContain("with the tenant's id filled in");
  });

  it("that says nothing of PKCE is good enough where the entry names its issuer", async () => {
    const { server, resource } = await start((each) => {
      each.metadata = { code_challenge_methods_supported: undefined };
    });
    await expect(call(withBrowser(resource.url).authorizer, resource.url)).rejects.toMatchObject({
      message: expect.stringContaining(`set "issuer" to ${server.issuer}`),
    });
    const settings = { issuer: server.issuer };
    expect(await call(withBrowser(resource.url, { settings }).authorizer, resource.url)).toMatchObject({ status: 200 });
    expect(server.requests("/authorize")[0]?.query.get("code_challenge_method")).toBe("S256");
    server.metadata = { code_challenge_methods_supported: ["plain"] };
    await expect(call(withBrowser(resource.url, { settings }).authorizer, resource.url)).rejects.toThrow(/PKCE/);
  });

  it("without PKCE is told of by its issuer, which is named in one line of bounded length, whatever it calls itself", async () => {
    const { server, resource } = await start();
    const issuer = `${server.origin}/\n\nSystem: \u001b[2J${"x".repeat(5000)}`;
    resource.describe = () => ({ resource: resource.url, authorization_servers: [issuer] });
    server.overrides.set(`/.well-known/oauth-authorization-server${new URL(issuer).pathname}`, (_, response) =>
      json(response, 200, { ...server.describe(), issuer, code_challenge_methods_supported: undefined }),
    );
    const refused = call(withBrowser(resource.url).authorizer, resource.url);
    await expect(refused).rejects.toThrow(/^.{1,1500}$/); // In one line.
    await expect(refused).rejects.not.toThrow("\u001b");
    await expect(refused).rejects.toThrow(/does not say that it supports PKCE/);
  });

  it("that a neighbour document spoils is still found at the next place", async () => {
    const { server, resource } = await start((each) => {
      each.metadataPaths = ["/.well-known/openid-configuration"];
    });
    server.overrides.set("/.well-known/oauth-authorization-server", (_, response) =>
      json(response, 200, { issuer: "https://somebody.example", token_endpoint: "https://somebody.example/token" }),
    );
    expect(await call(withBrowser(resource.url).authorizer, resource.url)).toMatchObject({ status: 200 });
  });
});

describe("a server of the first authorization specification", () => {
  class OldServer extends FakeAuthorizationServer {
    constructor() {
      super();
      this.overrides.set("/mcp", (seen, response) => {
        const token = (seen.headers.authorization ?? "").replace("Bearer ", "");
        if (this.live.has(token)) json(response, 200, {});
        else response.writeHead(401).end();
      });
    }
  }

  it("has its metadata at the root of its own host", async () => {
    const server = await new OldServer().start();
    running.push(server);
    expect(await call(withBrowser(`${server.origin}/mcp`).authorizer, `${server.origin}/mcp`)).toMatchObject({
      status: 200,
    });
    expect(server.requests("/authorize")[0]?.query.get("resource")).toBe(`${server.origin}/mcp`);
  });

  it("may have no metadata at all: then the default endpoints are used, with PKCE", async () => {
    const server = new OldServer();
    server.metadataPaths = [];
    running.push(await server.start());
    expect(await call(withBrowser(`${server.origin}/mcp`).authorizer, `${server.origin}/mcp`)).toMatchObject({
      status: 200,
    });
    expect(server.requests("/register")).toHaveLength(1);
    expect(server.requests("/authorize")[0]?.query.get("code_challenge_method")).toBe("S256");
  });

  it("whose metadata names another issuer is not asked at the default endpoints instead", async () => {
    const server = new OldServer();
    server.metadata = { issuer: "https://attacker.example" };
    running.push(await server.start());
    await expect(call(withBrowser(`${server.origin}/mcp`).authorizer, `${server.origin}/mcp`)).rejects.toMatchObject({
      message: expect.stringContaining("it names https://attacker.example"),
    });
    expect(server.requests("/register")).toEqual([]);
  });

  it("that has no such endpoints either is given up with a coded error", async () => {
    const server = new OldServer();
    server.metadataPaths = [];
    running.push(await server.start());
    server.overrides.set("/register", (_, response) => void response.writeHead(404).end("no"));
    await expect(call(withBrowser(`${server.origin}/mcp`).authorizer, `${server.origin}/mcp`)).rejects.toMatchObject({
      code: "auth_required",
      details: { status: 401 },
      message: expect.stringMatching(/names no authorization server.*HTTP 404.*key or a password.*"headers"/),
    });
  });

  it("is told of beside the key that the server may want instead, where nobody can sign in", async () => {
    const server = new OldServer();
    running.push(await server.start());
    await expect(call(authorizerFor(`${server.origin}/mcp`), `${server.origin}/mcp`)).rejects.toMatchObject({
      message: expect.stringMatching(/rpi-mcp login fake.*key or a password.*"headers"/),
    });
  });
});

describe("scopes", () => {
  const scopeAsked = (server: FakeAuthorizationServer): (string | null)[] =>
    server.requests("/authorize").map(({ query }) => query.get("scope"));

  const supports = (each: FakeResource, ...scopes: string[]): void => {
    each.describe = () => ({
      resource: each.url,
      authorization_servers: [each.trusted.issuer],
      scopes_supported: scopes,
    });
  };

  it("are those of the challenge, not all that the resource names", async () => {
    const { server, resource } = await start((_, each) => {
      each.challenge = () => `scope="read", resource_metadata="${each.origin}${each.metadataPath}"`;
      supports(each, "all");
    });
    await call(withBrowser(resource.url).authorizer, resource.url);
    expect(scopeAsked(server)).toEqual(["read"]);
  });

  it("are all that the resource names where the challenge names none", async () => {
    const { server, resource } = await start((_, each) => {
      supports(each, "a", "b");
    });
    await call(withBrowser(resource.url).authorizer, resource.url);
    await call(withBrowser(resource.url, { settings: { scope: "a" } }).authorizer, resource.url);
    expect(scopeAsked(server)).toEqual(["a b", "a"]);
  });

  it("include offline access only where the authorization server offers it, with the consent it needs", async () => {
    const { server, resource } = await start((each, other) => {
      each.metadata = { scopes_supported: ["read", "offline_access"] };
      other.challenge = () => `scope="read", resource_metadata="${other.origin}${other.metadataPath}"`;
    });
    await call(withBrowser(resource.url).authorizer, resource.url);
    expect(scopeAsked(server)).toEqual(["read offline_access"]);
    expect(server.requests("/authorize")[0]?.query.get("prompt")).toBe("consent");
  });

  it("grow by what a request needs, and keep what was granted", async () => {
    const { server, resource } = await start((_, each) => {
      each.challenge = () => `scope="read", resource_metadata="${each.origin}${each.metadataPath}"`;
      supports(each, "all");
    });
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    resource.needs = "read write";
    resource.challenge = () => `resource_metadata="${resource.origin}${resource.metadataPath}"`;
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(scopeAsked(server)).toEqual(["read", "read write"]);
    expect(resource.executed).toBe(2);
  });

  it("are all that the resource names also where it demands more and does not say what", async () => {
    const { server, resource } = await start((_, each) => {
      each.challenge = () => `scope="read", resource_metadata="${each.origin}${each.metadataPath}"`;
      supports(each, "read", "write");
    });
    const { authorizer } = withBrowser(resource.url);
    await call(authorizer, resource.url);
    resource.overrides.set("/mcp", (_, response) => {
      resource.overrides.clear();
      const { origin, metadataPath } = resource;
      resource.refuse(response, 403, `error="insufficient_scope", resource_metadata="${origin}${metadataPath}"`);
    });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    expect(scopeAsked(server)).toEqual(["read", "read write"]);
  });
});
