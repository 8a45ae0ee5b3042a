import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { AuthorizedRequest, Authorizer, Challenge } from "../../src/authorizer.ts";
import { AdapterError } from "../../src/errors.ts";
import { FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { closeClients, failureOf, httpClient, type TransportClient, textOf } from "../support/transport-client.ts";

const BEARER = 'Bearer resource_metadata="https://rs.example/.well-known/oauth-protected-resource", scope="a"';

/** Wants the token that the path's number of challenges so far asks for. */
function wanting(token: string, refuse: { status: number; header: string }): Scenario {
  return {
    on: "*",
    post: (exchange) => {
      if (exchange.seen.headers["authorization"] === `Bearer ${token}`) exchange.good({ "dpop-nonce": "n-1" });
      else exchange.respond(refuse.status, { "www-authenticate": refuse.header }, "denied");
    },
    get: (exchange) => exchange.respond(405),
  };
}

const SCENARIOS: Record<string, Scenario> = {
  first: wanting("token-1", { status: 401, header: BEARER }),
  second: wanting("token-2", { status: 401, header: BEARER }),
  scope: wanting("token-1", { status: 403, header: 'Bearer error="insufficient_scope", scope="b"' }),
  never: wanting("none", { status: 401, header: BEARER }),
  forbidden: { on: "*", post: (exchange) => exchange.respond(403, { "www-authenticate": "Basic" }, "go away") },
  // The socket dies when it is used again.
  lazy: {
    on: "*",
    post: (exchange) => {
      if (exchange.seen.turn > 1) exchange.socket.resetAndDestroy();
      else if (exchange.seen.headers["authorization"] === "Bearer token-1") exchange.good();
      else exchange.respond(401, { "www-authenticate": BEARER }, "denied");
    },
  },
  "no-header": { on: "*", post: (exchange) => exchange.respond(401) },
};

class FakeAuthorizer implements Authorizer {
  readonly challenges: Challenge[] = [];
  readonly asked: AuthorizedRequest[] = [];
  readonly observed: unknown[] = [];
  fails: Error | undefined;
  before = (): unknown => undefined;
  waits = false;

  async headers(request: AuthorizedRequest): Promise<Readonly<Record<string, string>>> {
    this.asked.push(request);
    return this.challenges.length === 0
      ? {}
      : { authorization: `Bearer token-${this.challenges.length}`, DPoP: "proof" };
  }

  async challenge(challenge: Challenge, signal: AbortSignal): Promise<void> {
    this.before();
    if (this.fails !== undefined) throw this.fails;
    if (this.waits)
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new AdapterError("cancelled", { server: "srv" }))),
      );
    this.challenges.push(challenge);
  }

  observe(headers: Challenge["headers"], _status: number, sent: Challenge["sent"]): void {
    this.observed.push([headers["dpop-nonce"], sent["authorization"]]);
  }
}

const server = FaultServer.forTests(SCENARIOS);
afterEach(async () => {
  jest.restoreAllMocks();
  await closeClients();
  server.forget();
});

async function client(
  scenario: string,
  authorizer?: FakeAuthorizer,
  eager = false,
): Promise<TransportClient & { loads: () => number }> {
  let loads = 0;
  const load = async (): Promise<Authorizer> => {
    loads++;
    return authorizer as Authorizer;
  };
  const made = await httpClient(server.url(scenario), {
    headers: { Authorization: "Bearer from-the-entry" },
    ...(authorizer === undefined ? {} : { signIn: { eager, load } }),
  });
  return Object.assign(made, { loads: () => loads });
}

describe("without a way to sign in", () => {
  test.each(["first", "scope", "no-header"])(
    "a challenge is an error that says what is asked for (%s)",
    async (scenario) => {
      const made = await client(scenario);
      const failure = await failureOf(made.call("x"));
      expect(failure).toMatchObject({ code: "auth_required", details: { status: scenario === "scope" ? 403 : 401 } });
      expect(failure.details["wwwAuthenticate"]).toEqual(
        scenario === "no-header" ? "" : expect.stringContaining("Bearer "),
      );
      expect(failure.message).not.toContain("from-the-entry");
      expect(server.posts(scenario)).toHaveLength(1);
    },
  );

  test("the same on a connection that worked before", async () => {
    const made = await client("scope");
    await failureOf(made.call("x"));
    expect((await failureOf(made.call("x"))).details["wwwAuthenticate"]).toContain('scope="b"');
  });

  test("403 without a missing scope is an ordinary refusal", async () => {
    const made = await client("forbidden", new FakeAuthorizer());
    expect(await failureOf(made.call("x"))).toMatchObject({
      situation: "http.status",
      details: { status: 403, body: "go away" },
    });
    expect(made.loads()).toBe(0);
  });
});

describe("with a way to sign in", () => {
  test.each([
    ["first", 1],
    ["second", 2],
    ["scope", 1],
  ])("the refused request is sent once more after each authorization (%s)", async (scenario, authorizations) => {
    const authorizer = new FakeAuthorizer();
    const made = await client(scenario, authorizer);
    expect(textOf(await made.call("in"))).toBe("in");
    expect(server.posts(scenario)).toHaveLength(authorizations + 1);
    expect(server.executions(scenario)).toBe(1);
    expect(server.posts(scenario)[0]?.headers["authorization"]).toBe("Bearer from-the-entry");
    expect(server.posts(scenario).at(-1)?.headers).toMatchObject({
      authorization: `Bearer token-${authorizations}`,
      dpop: "proof",
    });
    expect(authorizer.challenges[0]).toMatchObject({
      method: "POST",
      url: server.url(scenario),
      status: scenario === "scope" ? 403 : 401,
    });
    expect(authorizer.challenges.map(({ sent }) => sent["authorization"])).toEqual(
      [undefined, "Bearer token-1"].slice(0, authorizations),
    );
    expect(authorizer.observed.at(-1)).toEqual(["n-1", `Bearer token-${authorizations}`]);
    expect(textOf(await made.call("again"))).toBe("again");
    expect(server.posts(scenario)).toHaveLength(authorizations + 2);
    expect(made.loads()).toBe(1);
  });

  test("nothing is loaded before a challenge, unless it is wanted", async () => {
    const lazy = await client("forbidden", new FakeAuthorizer());
    await failureOf(lazy.call("x"));
    expect(lazy.loads()).toBe(0);
    const authorizer = new FakeAuthorizer();
    const eager = await client("forbidden", authorizer, true);
    await failureOf(eager.call("x"));
    expect({ loads: eager.loads(), asked: authorizer.asked }).toEqual({
      loads: 1,
      asked: [{ method: "POST", url: server.url("forbidden") }],
    });
  });

  test("what could not be loaded for it is loaded anew by the next request", async () => {
    let loads = 0;
    const load = async (): Promise<Authorizer> => {
      if (++loads === 1) throw new Error("too many open files");
      return new FakeAuthorizer();
    };
    const made = await httpClient(server.url("first"), { signIn: { eager: false, load } });
    await expect(made.call("x")).rejects.toThrow("too many open files");
    expect(textOf(await made.call("x"))).toBe("x");
    expect(loads).toBe(2);
  });

  test("a server that is never satisfied is asked four times at most", async () => {
    const authorizer = new FakeAuthorizer();
    const made = await client("never", authorizer);
    expect((await failureOf(made.call("x"))).code).toBe("auth_required");
    expect({ posts: server.posts("never").length, challenges: authorizer.challenges.length }).toEqual({
      posts: 4,
      challenges: 3,
    });
  });

  test("what must not be lost goes out anew on no connection that was idle while the person signed in", async () => {
    const authorizer = new FakeAuthorizer();
    const made = await client("lazy", authorizer);
    const now = performance.now.bind(performance);
    authorizer.before = () => jest.spyOn(performance, "now").mockImplementation(() => now() + 300);
    expect(textOf(await made.call("in", { once: true }))).toBe("in");
    expect(server.posts("lazy")).toHaveLength(2);
    expect(server.executions("lazy")).toBe(1);
  });

  test("a message that nobody waits for is no reason to sign in, also on a connection that has signed in", async () => {
    const authorizer = new FakeAuthorizer();
    const made = await client("never", authorizer);
    expect((await failureOf(made.notify("notifications/cancelled", { quiet: true }))).code).toBe("auth_required");
    expect(made.loads()).toBe(0);
    await failureOf(made.call("x"));
    await failureOf(made.notify("notifications/cancelled", { quiet: true }));
    expect(authorizer.challenges).toHaveLength(3);
    expect(server.posts("never", "notifications/cancelled")).toHaveLength(2);
  });

  test("a sign-in that fails is the error, and nothing is sent again", async () => {
    const authorizer = new FakeAuthorizer();
    authorizer.fails = new AdapterError("auth.failed", { server: "srv", reason: "nobody came" });
    const made = await client("first", authorizer);
    expect(await failureOf(made.call("x"))).toMatchObject({ situation: "auth.failed" });
    expect(server.posts("first")).toHaveLength(1);
  });

  test("closing ends a sign-in that waits", async () => {
    const authorizer = new FakeAuthorizer();
    authorizer.waits = true;
    const made = await client("first", authorizer);
    const failure = failureOf(made.call("x"));
    while (made.loads() === 0) await new Promise((resolve) => setImmediate(resolve));
    await made.transport.close();
    expect((await failure).situation).toBe("cancelled");
    expect(server.posts("first")).toHaveLength(1);
  });
});
