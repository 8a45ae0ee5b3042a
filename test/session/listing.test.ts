import { describe, expect, jest, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { factOf, harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";
import { monotonicUs, waitFor } from "../support/wait.ts";

const make = harnesses();

/** The names in an answer of mcp_list. */
function names(answer: { details?: Record<string, unknown> }): unknown[] {
  return factOf<{ name: unknown }[]>(answer, "tools").map(({ name }) => name);
}

describe("discovery", () => {
  test("malformed tools hide no good one: what has a name is listed as it is, the rest is counted with its reason [E01]", async () => {
    const host = make().serve("odd", "lists", "malformed");
    const answer = await host.list("odd");
    expect(names(answer)).toEqual([
      "null-description",
      "no-schema",
      "null-schema",
      "boolean-schema",
      "string-schema",
      "null-required",
      "recursive",
      "remote",
      "unknown-dialect",
      "numeric-title",
      "good",
    ]);
    expect(answer.details?.["leftOut"]).toEqual([
      { reason: "it has no usable name", count: 3 },
      { reason: "it is not an object", count: 3 },
    ]);
    for (const name of ["good", "null-schema", "remote", "string-schema"])
      expect(textOf(await host.call("odd", name))).toBe(`called ${JSON.stringify(name)}`);
    for (const name of names(answer)) await host.list("odd", { tool: name });
    await host.list("odd", { query: "good schema recursive" });
  });

  test("names are listed and called verbatim, whatever is in them [E03]", async () => {
    const host = make().serve("names", "lists", "names");
    const listed = names(await host.list("names")) as string[];
    expect(listed).toHaveLength(15);
    expect(listed).toEqual(
      expect.arrayContaining([
        "a.b",
        "a/b",
        "a b",
        "工具",
        "🎉",
        "__proto__",
        "constructor",
        "Echo",
        "echo",
        " leading",
        "trailing ",
        "new\nline",
        "x".repeat(200),
      ]),
    );
    for (const name of listed) expect(textOf(await host.call("names", name))).toBe(`called ${JSON.stringify(name)}`);
    for (const name of ["leading", "trailing", "ECHO", "hasOwnProperty", "a_b"])
      expect((await host.callFailure("names", name)).code).toBe("tool_not_found");
  });

  test("a name that came several times is shown once with a note, and the first counts [E03]", async () => {
    const host = make().serve("twins", "lists", "dup-tools");
    const answer = await host.list("twins");
    expect(answer.details).toMatchObject({
      tools: [{ name: "twin", description: "first" }, { name: "other" }],
      duplicates: ["twin"],
    });
    expect(jsonOf(answer)["duplicates"]).toEqual(["twin"]);
    expect(jsonOf(await host.list("twins", { tool: "twin" }))["duplicates"]).toEqual(["twin"]);
    expect(jsonOf(await host.list("twins", { tool: "other" }))).not.toHaveProperty("duplicates");
  });

  test.each(["same-cursor", "cursor-cycle"])("a cursor seen before is refused as a loop (%s) [E04]", async (mode) => {
    const host = make().serve("loop", "lists", mode);
    const { code, message } = await host.listFailure("loop");
    expect(code).toBe("protocol_error");
    expect(message).toMatch(/loop/);
    expect(host.received("loop", "tools/list").length).toBeLessThanOrEqual(3);
    expect((await host.callFailure("loop", "echo")).code).toBe("protocol_error");
  });

  test("a new cursor on every page is stopped at 100 pages [E05]", async () => {
    const host = make().serve("endless", "lists", "new-cursors");
    const { code, message } = await host.listFailure("endless");
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("100 pages");
    expect(host.received("endless", "tools/list")).toHaveLength(100);
  });

  test("pages that are too large in all are stopped, remembered or not, and the connection is kept", async () => {
    for (const rememberedListBytes of [LIMITS.rememberedListBytes, 1]) {
      const host = make({ limits: { discoveryBytes: 1000, rememberedListBytes } });
      host.serve("large", "lists", "new-cursors").serve("small", "lists", "pages 3");
      for (let round = 0; round < 2; round++) {
        const { code, message } = await host.listFailure("large");
        expect(code).toBe("limit_exceeded");
        expect(message).toMatch(/sent more than .* in tools\/list/);
        expect(names(await host.list("small"))).toEqual(["t0", "t1", "t2"]);
      }
      expect(host.received("large", "tools/list").length).toBeLessThan(40);
      expect(host.pids("large")).toHaveLength(1);
    }
  });

  test("the walk as a whole has one deadline [E05]", async () => {
    const host = make().serve("slow", "lists", "slow-cursors");
    await host.run("mcp_request", { configPath: host.configPath, server: "slow", method: "ping" });
    const begin = performance.now();
    const { code, details } = await host.listFailure("slow", { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(details).toMatchObject({ method: "tools/list", phase: "discovery", seconds: 1, outcomeUnknown: false });
    expect(performance.now() - begin).toBeGreaterThan(900);
    expect(host.received("slow", "tools/list").length).toBeLessThan(10);
  });

  test.each([99, 100])("%d pages are walked to their end [E08]", async (pages) => {
    const host = make().serve("pages", "lists", `pages ${pages}`);
    expect(names(await host.list("pages"))).toHaveLength(pages);
    expect(textOf(await host.call("pages", `t${pages - 1}`))).toBe(`called "t${pages - 1}"`);
  });

  test.each([
    ["as long as it is unchanged", {}, 0],
    ["each time where it is too large to be remembered", { rememberedListBytes: 50 }, 3],
  ])("a list is parsed anew %s", async (_, limits, parsedPages) => {
    const host = make({ limits }).serve("pages", "lists", "pages 3");
    // The second walk proves where the id of each remembered page stands.
    for (let round = 0; round < 2; round++) await host.list("pages");
    const parse = jest.spyOn(JSON, "parse");
    try {
      expect(names(await host.list("pages"))).toEqual(["t0", "t1", "t2"]);
      expect(parse.mock.calls.filter(([text]) => /^\{"jsonrpc".*"tools":/.test(text))).toHaveLength(parsedPages);
    } finally {
      parse.mockRestore();
    }
  });

  test("a list too large to be remembered is walked to its end all the same, every time", async () => {
    const host = make({ limits: { rememberedListBytes: 100 } }).serve("pages", "lists", "pages 6");
    for (let round = 0; round < 3; round++) expect(names(await host.list("pages"))).toHaveLength(6);
    expect(host.received("pages", "tools/list")).toHaveLength(18);
  });

  test("20,000 tools are refused by the limit, which is named; 16,384 are not [E08]", async () => {
    const host = make().serve("many", "lists", "many 20000").serve("full", "lists", `many ${LIMITS.discoveryTools}`);
    const { code, message } = await host.listFailure("many");
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("16384");
    expect(names(await host.list("full"))).toHaveLength(16_384);
  });

  test("only an absent or null cursor ends a walk", async () => {
    const host = make().serve("null", "lists", "null-cursor").serve("number", "lists", "number-cursor");
    expect(names(await host.list("null"))).toEqual(["one"]);
    expect(host.received("null", "tools/list")).toHaveLength(1);
    expect((await host.listFailure("number")).code).toBe("protocol_error");
  });

  test("an empty cursor is sent once, and a page that brings nothing new is the end", async () => {
    const host = make()
      .serve("empty", "lists", "empty-cursor")
      .serve("on", "lists", "empty-cursor-leads-on")
      .serve("ever", "lists", "empty-cursor-for-ever");
    expect(names(await host.list("empty"))).toEqual(["one", "two"]);
    expect(host.received("empty", "tools/list").map(({ message }) => message?.params)).toEqual([{}, { cursor: "" }]);
    expect((await host.list("empty")).details?.["duplicates"]).toBeUndefined();
    expect(names(await host.list("on"))).toEqual(["one", "two"]);
    expect((await host.listFailure("ever")).code).toBe("protocol_error");
  });

  test("a list that is no list, and a list that is an error, are told as such, and keep the connection", async () => {
    const host = make().serve("none", "lists", "no-list").serve("error", "lists", "list-error");
    expect((await host.listFailure("none")).code).toBe("protocol_error");
    const { code, details } = await host.listFailure("error");
    expect(code).toBe("rpc_error");
    expect(details).toMatchObject({ rpcError: { code: -32050, message: "no list today" } });
    expect(JSON.stringify(details).length).toBeLessThan(6000);
    await host.listFailure("error");
    expect(host.pids("error")).toHaveLength(1);
  });

  test("a list that is null, as servers in Go send an empty one, is empty", async () => {
    const host = make().serve("null", "lists", "null-lists");
    for (let round = 0; round < 2; round++) {
      expect(names(await host.list("null"))).toEqual(["one"]);
      expect(jsonOf(await host.list("null", { kind: "prompts" }))["prompts"]).toEqual([]);
    }
  });

  test.each(["resources", "prompts"])("what a server advertises and does not know is empty (%s)", async (kind) => {
    const host = make().serve("advertises", "lists", "advertised-only");
    expect(jsonOf(await host.list("advertises", { kind }))[kind]).toEqual([]);
  });

  test("a server with resources that knows no templates has none of them", async () => {
    const host = make().serve("plain", "lists", "resources-only");
    for (let round = 0; round < 2; round++)
      expect(jsonOf(await host.list("plain", { kind: "resource_templates" }))["resource_templates"]).toEqual([]);
    expect(host.received("plain", "resources/templates/list")).toHaveLength(2);
    expect((await host.listFailure("plain", { kind: "prompts" })).code).toBe("capability_missing");
  });

  test("a server that ends at the discovery is asked once more on a fresh connection, and the call is made once", async () => {
    const host = make().serve("mortal", "lists", "dies-at-second-list");
    for (let round = 0; round < 3; round++) expect(textOf(await host.call("mortal", "fine"))).toBe('called "fine"');
    expect(host.pids("mortal")).toHaveLength(3);
    expect(host.received("mortal", "tools/call")).toHaveLength(3);
    expect(host.received("mortal", "tools/list")).toHaveLength(5);
  });

  test("every call discovers anew: a tool that has just appeared can be called", async () => {
    const host = make().serve("growing", "lists", "growing");
    await host.call("growing", "tool-1");
    await host.call("growing", "tool-2");
    expect((await host.callFailure("growing", "tool-9")).code).toBe("tool_not_found");
    expect(host.received("growing", "tools/list")).toHaveLength(3);
  });

  test("an unknown tool is not called, and near names are told [E10]", async () => {
    const host = make().serve("plain", "processes", "plain");
    const { code, message, details } = await host.callFailure("plain", "ecoh");
    expect(code).toBe("tool_not_found");
    expect(message).toContain('"echo"');
    expect(details).toMatchObject({ server: "plain", tool: "ecoh", near: ["echo"], count: 1 });
    expect(host.received("plain", "tools/call")).toEqual([]);
  });

  test("50 parallel calls share at most 3 discoveries, and each call's discovery began after the call was made", async () => {
    const host = make().serve("slow", "lists", "slow 150");
    await host.list("slow");
    const before = host.received("slow", "tools/list").length;
    const made: { at: number; result: Promise<unknown> }[] = [];
    for (let group = 0; group < 5; group++) {
      for (let call = 0; call < 10; call++)
        made.push({ at: monotonicUs(), result: host.call("slow", "always", { call: made.length }) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(made.map(({ result }) => result));
    const lists = host.received("slow", "tools/list").slice(before);
    expect(lists.length).toBeLessThanOrEqual(3);
    const calls = host.received("slow", "tools/call");
    expect(calls).toHaveLength(50);
    for (const { at, message } of calls) {
      const { call } = (message?.params?.["arguments"] ?? {}) as { call: number };
      const madeAt = made[call]?.at ?? Number.POSITIVE_INFINITY;
      expect(lists.some((list) => list.at >= madeAt && list.at <= at)).toBe(true);
    }
  });

  test("a call that comes while a discovery is on the wire waits for the next one", async () => {
    const host = make().serve("slow", "lists", "slow 300");
    const first = host.call("slow", "always");
    await waitFor("the first discovery is on the wire", () => host.received("slow", "tools/list").length === 1);
    const at = monotonicUs();
    await Promise.all([first, host.call("slow", "always")]);
    const lists = host.received("slow", "tools/list");
    expect(lists).toHaveLength(2);
    expect(lists[1]?.at).toBeGreaterThan(at);
  });

  test("one caller's timeout or cancellation of a shared discovery does not harm the others", async () => {
    const host = make().serve("slow", "lists", "slow 1500");
    await host.run("mcp_request", { configPath: host.configPath, server: "slow", method: "ping" });
    const impatient = host.listFailure("slow", { timeoutSeconds: 1 });
    const cancelled = host.callStep("slow", "always");
    const patient = host.list("slow");
    cancelled.cancel();
    expect(cancelled.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    cancelled.destroy();
    expect((await impatient).code).toBe("timeout");
    expect(names(await patient)).toContain("always");
    expect(host.received("slow", "notifications/cancelled")).toEqual([]);
  });

  test("a discovery that all its callers gave up is cancelled on the wire, and the next one is another", async () => {
    const host = make().serve("silent", "lists", "silent");
    const step = host.callStep("silent", "x");
    await waitFor("the discovery is on the wire", () => host.received("silent", "tools/list").length === 1);
    step.cancel();
    step.destroy();
    await waitFor("the server is told", () => host.received("silent", "notifications/cancelled").length === 1);
    expect(host.received("silent", "notifications/cancelled")[0]?.message?.params).toMatchObject({
      requestId: host.received("silent", "tools/list")[0]?.message?.id,
    });
    expect((await host.listFailure("silent", { timeoutSeconds: 1 })).code).toBe("timeout");
    expect(host.received("silent", "tools/list")).toHaveLength(2);
    expect(host.pids("silent")).toHaveLength(1);
  });
});
