import { describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { REVISIONS } from "../../src/protocol/versions.ts";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();
const IMPATIENT = { stdinEndMs: 300, terminateMs: 300 };

describe("the handshake", () => {
  test("initialize goes first and offers 2025-11-25, then the server is told that we are ready, then tools are listed", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    const methods = host
      .ledger("plain")
      .filter(({ event }) => event === "in")
      .map(({ message }) => message?.method);
    expect(methods).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    expect(host.received("plain", "initialize")[0]?.message?.params).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "rpi-mcp-adapter", version: expect.any(String) },
    });
  });

  test("a refusal of the handshake is told in reasonable length, however long the server's words are", async () => {
    const host = make().serve("wordy", "quotes", "refusal", { env: { SAYS: "no! ".repeat(20_000) } });
    const { code, message, details } = await host.listFailure("wordy");
    expect(code).toBe("connect_failed");
    expect(message).toContain("error -32000: no! no! ");
    expect(message.length).toBeLessThan(6000);
    expect(JSON.stringify(details).length).toBeLessThan(12_000);
  });

  test("an unknown revision is refused by name, and the server killed although it ignores signals [D01]", async () => {
    const host = make({ limits: IMPATIENT }).serve("odd", "versions", "proto-unknown");
    const { code, message, details } = await host.listFailure("odd");
    expect(code).toBe("unsupported_protocol");
    expect(message).toContain("1999-01-01");
    expect(details).toMatchObject({ server: "odd", answered: "1999-01-01", offered: "2025-11-25" });
    await waitFor("it is killed", () => host.pids("odd").every((pid) => !isAlive(pid)));
    expect(host.received("odd", "notifications/initialized")).toEqual([]);
  });

  test.each(["proto-missing", "proto-number"])(
    "an answer without a usable revision is unsupported_protocol (%s) [D01]",
    async (mode) => {
      const host = make({ limits: IMPATIENT }).serve("odd", "versions", mode);
      const { code, message, details } = await host.listFailure("odd");
      expect(code).toBe("unsupported_protocol");
      expect(message).toContain("without a protocol version");
      expect(details).toMatchObject({ answered: null });
    },
  );

  test("an answer that is no object is a refused handshake", async () => {
    const host = make({ limits: IMPATIENT }).serve("odd", "versions", "proto-null");
    expect((await host.listFailure("odd")).code).toBe("connect_failed");
  });

  test.each(REVISIONS.slice(0, 4))("revision %s is accepted when a server answers it [D01]", async (revision) => {
    const host = make().serve("server", "versions", `proto ${revision}`);
    expect(textOf(await host.call("server", "echo"))).toBe(revision);
    expect(jsonOf(await host.list("server"))["protocolVersion"]).toBe(revision);
  });

  test("a pinned revision is offered, and another one in the answer is refused", async () => {
    const host = make().serve("pinned", "versions", "proto 2025-06-18", { protocol: "2025-06-18" });
    await host.list("pinned");
    expect(host.received("pinned", "initialize")[0]?.message?.params).toMatchObject({ protocolVersion: "2025-06-18" });
    host.serve("other", "versions", "proto 2025-03-26", { protocol: "2025-06-18" });
    const { code, details } = await host.listFailure("other");
    expect(code).toBe("unsupported_protocol");
    expect(details).toMatchObject({ offered: "2025-06-18", answered: "2025-03-26" });
  });

  test("a pinned revision that the server does not know is unsupported_protocol, and the way out is told", async () => {
    const host = make().serve("older", "versions", "proto 2025-06-18", { protocol: "2026-07-28" });
    const { code, message, details } = await host.listFailure("older");
    expect(code).toBe("unsupported_protocol");
    expect(details).toMatchObject({ offered: "2026-07-28", supported: ["2026-07-28"] });
    expect(message).toMatch(/pins "protocol" to 2026-07-28: .*"auto"\.$/);
    host.serve("refuses", "versions", "refuses", { protocol: "2025-06-18" });
    const refused = await host.listFailure("refuses");
    expect(refused.code).toBe("connect_failed");
    expect(refused.message).toMatch(/no licence\. .*pins "protocol" to 2025-06-18: if that is why, /);
  });

  test("a server that refuses initialize is connect_failed with its own words", async () => {
    const host = make().serve("refuses", "versions", "refuses");
    const { code, message, details } = await host.listFailure("refuses");
    expect(code).toBe("connect_failed");
    expect(message).toContain("no licence");
    expect(details).toMatchObject({ rpcError: { code: -32000, message: "no licence" } });
  });

  test("a refusal is not lost where the server says nothing to what is tried after it", async () => {
    const host = make({ limits: { guessMs: 300 } }).serve("refuses", "versions", "refuses-silently");
    const { code, message } = await host.listFailure("refuses");
    expect(code).toBe("connect_failed");
    expect(message).toContain("no licence");
    expect(host.received("refuses", "server/discover")).toHaveLength(1);
    expect(host.pids("refuses")).toHaveLength(1);
  });

  test.each([
    { id: null, error: { code: -32700, message: "ids are strings" } },
    { id: "", error: { code: -32700, message: "ids are strings" } },
    { error: { code: -32700, message: "ids are strings" } },
  ])("a server that could not read the request itself refuses the handshake: %j", async (answer) => {
    const host = make().serve("odd", "versions", `string-ids ${JSON.stringify(answer).replaceAll(" ", "\\u0020")}`);
    const { code, message } = await host.listFailure("odd");
    expect(code).toBe("connect_failed");
    expect(message).toContain("ids are strings");
  });

  test("an answer under an id that is nobody's is told with the timeout", async () => {
    const host = make().serve("odd", "versions", "own-ids");
    const { code, message } = await host.listFailure("odd", { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(message).toContain('\\"id\\":0');
  });

  test("a server whose messages have null for what they do not have is understood, and its progress counts", async () => {
    const host = make().serve("nulls", "versions", "nulls");
    expect(textOf(await host.call("nulls", "echo", {}, { timeoutSeconds: 1 }))).toBe("late");
  });

  test("a server that cannot read what the newest revision declares is spoken to in words that it knows", async () => {
    const services: HostServices = { elicit: async () => ({ action: "accept", content: { name: "Ada" } }) };
    const host = make({ services }).serve("strict", "versions", "strict");
    expect(textOf(await host.call("strict", "echo", { text: "hi" }))).toBe("hi");
    const declared = host.received("strict", "initialize").map(({ message }) => message?.params?.["capabilities"]);
    expect(declared).toEqual([{ elicitation: { form: {}, url: {} } }, { elicitation: {} }]);
    expect(host.pids("strict")).toHaveLength(1);
  });

  test("a server without serverInfo is shown as unknown", async () => {
    const host = make().serve("anonymous", "versions", "no-server-info");
    expect(jsonOf(await host.list("anonymous"))["serverInfo"]).toEqual({ name: "unknown" });
  });

  test.each(["no-tools", "no-capabilities"])(
    "a server that does not advertise tools is refused by list and call, and asked for none (%s)",
    async (mode) => {
      const host = make().serve("bare", "versions", mode);
      for (const { code, message } of [await host.listFailure("bare"), await host.callFailure("bare", "x")]) {
        expect(code).toBe("capability_missing");
        expect(message).toContain("tools");
      }
      expect(host.received("bare", "tools/list")).toEqual([]);
      expect(host.received("bare", "tools/call")).toEqual([]);
      expect(host.received("bare", "initialize")).toHaveLength(1);
    },
  );

  test("what a server does offer is reached without tools", async () => {
    const host = make().serve("bare", "versions", "no-tools");
    expect(jsonOf(await host.list("bare", { kind: "resources" }))["resources"]).toEqual([
      { uri: "a://1", name: "one" },
    ]);
    const result = await host.run("mcp_request", {
      configPath: host.configPath,
      server: "bare",
      method: "resources/list",
    });
    expect(jsonOf(result)).toEqual({ resources: [{ uri: "a://1", name: "one" }] });
  });
});

describe("servers that exit at any moment", () => {
  test.each([
    ["start", "connect_failed"],
    ["input", "connect_failed"],
    ["list", "closed"],
    ["call", "closed"],
  ])("an exit at %s is told at once as %s", async (when, expected) => {
    const host = make().serve("exits", "processes", `exits-at ${when} 7`);
    const { code, details } = await host.callFailure("exits", "fine", {}, { timeoutSeconds: 60 });
    expect(code).toBe(expected);
    expect(details).toMatchObject({ exitCode: 7, signal: null });
  });

  test("an exit right after the handshake is told at once", async () => {
    const host = make().serve("exits", "processes", "exits-at initialized 0");
    const { code } = await host.callFailure("exits", "fine", {}, { timeoutSeconds: 60 });
    expect(["connect_failed", "closed"]).toContain(code);
  });

  test("an exit after the answer spoils neither the answer nor the next call", async () => {
    const host = make().serve("exits", "processes", "exits-at answered 0");
    for (let round = 0; round < 3; round++) {
      expect(textOf(await host.call("exits", "fine"))).toBe("fine");
      const pids = host.pids("exits");
      await waitFor("it is gone", () => !isAlive(pids.at(-1) ?? 0));
    }
    expect(host.pids("exits")).toHaveLength(3);
  });
});
