import { describe, expect, test } from "@jest/globals";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, type PluginHarness } from "../support/plugin-harness.ts";

const make = harnesses();
const SECRET = "s3cr3t-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGHIJKLMNOP";
/** Fewer characters of a secret than this give nothing away. */
const PIECE = 6;
const BEYOND = "z".repeat(100);

/** A text that is cut in the middle of the secret, where so many characters of it are shown. */
function cutAfter(characters: number): string {
  return `${"x".repeat(characters - 20)}${SECRET}${BEYOND}`;
}

/** The same where only so many at its end are kept. */
function keptLast(characters: number): string {
  return `${BEYOND}${SECRET}${"x".repeat(characters - 20)}`;
}

/** Nothing of the secret is shown, and that something was left out is. */
function expectMasked(shown: string): void {
  for (let at = 0; at + PIECE <= SECRET.length; at++) expect(shown).not.toContain(SECRET.slice(at, at + PIECE));
  expect(shown).toContain("[redacted]");
}

/** What a failed step shows, without the result that is the server's own. */
async function shownBy(failing: ReturnType<PluginHarness["callFailure"]>): Promise<string> {
  const { code, message, details } = await failing;
  return JSON.stringify({ code, message, details: { ...details, mcpResult: undefined } });
}

describe("a secret that is cut in two is not shown in part: over stdio", () => {
  const serve = (place: string, says: string, more: object = {}): PluginHarness =>
    make().serve("it", "quotes", place, { env: { API_TOKEN: SECRET, SAYS: says }, ...more });
  const MANY_ESCAPES = `${"\u001b[0m".repeat(110)}${"x".repeat(20)}`;

  test.each([
    ["the end of stderr", "stderr", keptLast(8192)],
    ["the end of stderr in lines", "stderr", `${BEYOND}${SECRET}\n${"x\n".repeat(4086)}`],
    ["a line of stdout that is no message", "stdout", cutAfter(120)],
    ["a line of stdout that hardly has anything to show", "stdout", `${MANY_ESCAPES}${SECRET}${BEYOND}`],
    ["a protocol version", "version", cutAfter(200)],
    ["protocol versions", "versions", cutAfter(20 + 1)],
    ["the protocol versions of a server that changed", "later-versions", cutAfter(20 + 1)],
    ["a cursor", "cursor", cutAfter(100)],
    ["the message of an error", "message", cutAfter(4000)],
    ["the data of an error", "data", cutAfter(4000)],
  ])("%s", async (_, place, says) => {
    expectMasked(await shownBy(serve(place, says).callFailure("it", "echo")));
  });

  test("the beginning and the end of a tool's long failure", async () => {
    // Wherever it is cut, it is in a secret.
    const host = serve("failure", `${SECRET} `.repeat(100), { maxResultBytes: 1200 });
    expectMasked(await shownBy(host.callFailure("it", "echo")));
  });

  test("a progress message", async () => {
    const host = serve("progress", cutAfter(1000));
    const step = host.callStep("it", "echo");
    const shown: string[] = [];
    await step.settled;
    step.poll((partial) => void shown.push(JSON.stringify(partial)));
    step.destroy();
    expectMasked(shown.join());
  });

  test("a server's name in the status", async () => {
    const host = serve("info", cutAfter(200));
    await host.call("it", "echo");
    expectMasked(JSON.stringify(await host.run("mcp_list", { action: "status" })));
  });

  test("a failure in the list of a search", async () => {
    const host = serve("stdout", cutAfter(120));
    expectMasked(JSON.stringify(await host.run("mcp_list", { configPath: host.configPath, query: "x" })));
  });
});

const refused = (status: number, headers: Record<string, string>, body = ""): Scenario => ({
  post: (exchange) => exchange.respond(status, headers, body),
});
const stalled = (end: (exchange: FaultExchange) => void): Scenario => ({
  post: (exchange) => {
    exchange.begin(503, { "content-type": "text/plain" });
    exchange.chunk(`sorry, ${SECRET.slice(0, 20)}`);
    end(exchange);
  },
});
const PLACES: Readonly<Record<string, Scenario>> = {
  "the body of a refusal": refused(400, {}, cutAfter(300)),
  "a web page that refuses": refused(
    502,
    { "content-type": "text/html" },
    `<html><style>${"x".repeat(16_384 - 35)}</style>${SECRET}${BEYOND}`,
  ),
  "a body of blanks": refused(400, {}, `${" ".repeat(16_384 - 20)}${SECRET}${BEYOND}`),
  "a body that breaks off": stalled((exchange) => exchange.reset()),
  "a body that does not end": stalled(() => undefined),
  "the reason phrase": {
    post: (exchange) => exchange.write(`HTTP/1.1 500 ${cutAfter(60)}\r\ncontent-length: 0\r\n\r\n`),
  },
  "Retry-After": refused(503, { "retry-after": cutAfter(60) }),
  Location: refused(307, { location: `/${cutAfter(1980)}` }),
  "a Location that is no URL": refused(307, { location: `http://[${cutAfter(2000 - 8)}` }),
  "WWW-Authenticate": refused(401, { "www-authenticate": cutAfter(1000) }),
  "the body of an answer that is none": refused(200, {}, cutAfter(300)),
  "a content type": refused(200, { "content-type": cutAfter(100) }, "not JSON"),
  "a content encoding": refused(200, { "content-encoding": cutAfter(40) }, "x"),
};

describe("a secret that is cut in two is not shown in part: over HTTP", () => {
  const server = FaultServer.forTests(
    Object.fromEntries(Object.values(PLACES).map((scenario, at) => [`place-${at}`, scenario])),
  );
  const headers = { Authorization: `Bearer ${SECRET}` };

  test.each(Object.keys(PLACES).map((name, at) => [name, at] as const))("%s", async (_, at) => {
    const entry = { url: server.url(`place-${at}`), headers, oauth: false };
    const host = make({ limits: { refusalMs: 200 } }).configure("it", entry);
    expectMasked(await shownBy(host.callFailure("it", "echo")));
  });

  test("what is no URL of an endpoint of the first revision's transport", async () => {
    const named = await FaultServer.start({
      scenarios: {
        sse: {
          get: (exchange) => {
            exchange.begin();
            exchange.chunk(`event: endpoint\ndata: http://[${cutAfter(200 - 8)}\n\n`);
          },
        },
      },
    });
    try {
      const host = make().configure("it", { type: "sse", url: named.url("sse"), headers });
      expectMasked(await shownBy(host.callFailure("it", "echo")));
    } finally {
      await named.dispose();
    }
  });
});

describe("a secret that is cut in two is not shown in part: in a sign-in", () => {
  test.each([
    ["the description of an OAuth error", { error: "invalid_client", error_description: cutAfter(300) }],
    ["an OAuth error", { error: cutAfter(300) }],
  ])("%s", async (_, answer) => {
    await signingIn(async (host, server) => {
      server.overrides.set("/token", (_seen, response) => json(response, 400, answer));
      expectMasked(await shownBy(host.callFailure("it", "echo")));
    });
  });

  test.each([
    ["metadata that is none", () => cutAfter(80), {}],
    ["the content type of metadata that is none", () => "no", { "content-type": cutAfter(300) }],
    ["a foreign issuer", () => JSON.stringify({ issuer: cutAfter(300) }), {}],
  ])("%s", async (_, body, headers) => {
    await signingIn(async (host, server) => {
      server.overrides.set("/.well-known/oauth-authorization-server", (_seen, response) => {
        response.writeHead(200, headers).end(body());
      });
      expectMasked(await shownBy(host.callFailure("it", "echo")));
    });
  });

  test("the token that was obtained, in a refusal", async () => {
    await signingIn(async (host, server, resource) => {
      server.tokenAnswer = (answer) => ({ ...answer, access_token: SECRET });
      resource.overrides.set("/mcp", ({ headers }, response) => {
        if (headers.authorization === undefined) resource.refuse(response, 401, resource.challenge());
        else response.writeHead(400).end(cutAfter(300));
      });
      expectMasked(await shownBy(host.callFailure("it", "echo")));
    }, "an-ordinary-secret");
  });

  async function signingIn(
    work: (host: PluginHarness, server: FakeAuthorizationServer, resource: FakeResource) => Promise<void>,
    clientSecret = SECRET,
  ): Promise<void> {
    const server = await new FakeAuthorizationServer().start();
    const resource = await new FakeResource(server).start();
    const oauth = { grantType: "client_credentials", clientId: "machine", clientSecret };
    const host = make().configure("it", { url: resource.url, oauth });
    try {
      await work(host, server, resource);
    } finally {
      await Promise.all([server.stop(), resource.stop()]);
    }
  }
});
