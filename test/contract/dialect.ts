import { describe, expect, test } from "@jest/globals";
import type { Dialect } from "../../src/protocol/dialect.ts";
import type { JsonRpcRequest } from "../../src/protocol/jsonrpc.ts";

/** What every way of speaking holds to, whichever revision it is. */
export function dialectContract(revision: string, make: () => Dialect): void {
  describe(`the dialect of ${revision}`, () => {
    const dialect = make();

    test("names its revision, and the server as it was described", () => {
      expect(dialect.version).toBe(revision);
      expect(dialect.server).toEqual({ info: { name: "s" }, capabilities: { tools: {} } });
      expect(dialect.wire.versionHeader).toBe(revision);
    });

    test("encodes a request with the given id, and leaves the caller's parameters alone", () => {
      const params = Object.freeze({
        name: "t",
        arguments: Object.freeze({ a: 1 }),
        _meta: Object.freeze({ mine: true }),
      });
      const message = dialect.encode(7, "tools/call", params, { progressToken: "p" });
      expect(message).toMatchObject({
        jsonrpc: "2.0",
        id: 7,
        method: "tools/call",
        params: { name: "t", arguments: { a: 1 } },
      });
      expect(message.params?.["arguments"]).toBe(params.arguments);
      expect(message.params?.["_meta"]).toMatchObject({ mine: true, progressToken: "p" });
    });

    test("asks for progress only where it is wanted", () => {
      const { params } = dialect.encode("id", "tools/list", {});
      expect(JSON.stringify(params)).not.toContain("progressToken");
    });

    test("gives a complete result back untouched", () => {
      const result = Object.freeze({ content: [], resultType: "complete", extra: Object.freeze({}) });
      const outcome = dialect.decode("tools/call", result);
      expect(outcome).toEqual({ kind: "complete", result });
      if (outcome.kind === "complete") expect(outcome.result).toBe(result);
      for (const odd of [null, [], "text", 7, {}])
        expect(dialect.decode("tools/call", odd)).toEqual({ kind: "complete", result: odd });
    });

    test("gives up on a request by a notice where the channel is shared", () => {
      expect(dialect.cancelNotice(7, "timed out", false)).toEqual({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 7, reason: "timed out" },
      });
    });

    test("knows its own way to ask whether the server is alive", () => {
      expect(dialect.knows(dialect.aliveMethod)).toBe(true);
    });

    test("knows what all revisions have, and leaves unknown methods to the server", () => {
      for (const method of ["tools/list", "tools/call", "resources/read", "prompts/get", "completion/complete", "x/y"])
        expect(dialect.knows(method)).toBe(true);
    });

    test("lets no server send what only clients send", () => {
      for (const method of ["tools/call", "initialize", "server/discover", "x/y"])
        expect(dialect.serverMayAsk(method)).toBe(false);
    });

    test("has headers that a header can carry, whatever the message holds", () => {
      const schema = { type: "object", properties: { v: { type: "string", "x-mcp-header": "V" } } };
      for (const value of ["", " x ", "\r\nEvil: yes", "ü", "=?base64?eA==?=", "\u0000", "plain", "a".repeat(5000)]) {
        const message: JsonRpcRequest = dialect.encode(1, "tools/call", { name: value, arguments: { v: value } });
        for (const [name, header] of Object.entries(dialect.headers(message, schema))) {
          expect(name).toMatch(/^[A-Za-z-]+$/);
          expect(header).toMatch(/^([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?$/);
        }
      }
    });
  });
}
