import { describe, expect, test } from "@jest/globals";
import type { ClientIdentity } from "../../src/protocol/dialect.ts";
import { handshakeDialect } from "../../src/protocol/handshake.ts";
import { statelessDialect } from "../../src/protocol/stateless.ts";
import { REVISIONS, SELF_DESCRIBING } from "../../src/protocol/versions.ts";
import { dialectContract } from "../contract/dialect.ts";

const CLIENT: ClientIdentity = { info: { name: "c", version: "1" }, capabilities: { roots: {} }, logLevel: "info" };
const SERVER = { info: { name: "s" }, capabilities: { tools: {} } };

for (const revision of REVISIONS) {
  dialectContract(revision, () =>
    revision === SELF_DESCRIBING ? statelessDialect(CLIENT, SERVER) : handshakeDialect(revision, SERVER, CLIENT),
  );
}

describe("what differs", () => {
  const stateless = statelessDialect(CLIENT, SERVER);
  const handshake = handshakeDialect("2025-11-25", SERVER, CLIENT);

  test("closing its own stream gives up on a request without a handshake, and needs a notice with one", () => {
    expect(stateless.cancelNotice(1, "x", true)).toBeUndefined();
    expect(handshake.cancelNotice(1, "x", true)).toBeDefined();
  });

  test("servers ask in requests of their own only with a handshake", () => {
    for (const method of ["ping", "roots/list", "sampling/createMessage", "elicitation/create"]) {
      expect(handshake.serverMayAsk(method)).toBe(true);
      expect(stateless.serverMayAsk(method)).toBe(false);
    }
  });

  test("sessions, resumption and a stream for questions belong to a handshake, the stream only to a client that answers", () => {
    expect(handshake.wire).toMatchObject({ sessions: true, resumable: true, listens: true });
    expect(handshakeDialect("2025-11-25", SERVER, { ...CLIENT, capabilities: {} }).wire.listens).toBe(false);
    expect(stateless.wire).toMatchObject({ sessions: false, resumable: false, listens: false });
  });

  test("metadata of ours wins over what a caller writes in its place", () => {
    const forged = { _meta: { "io.modelcontextprotocol/protocolVersion": "1999-01-01", traceparent: "t" } };
    expect(stateless.encode(1, "tools/list", forged).params?.["_meta"]).toEqual({
      traceparent: "t",
      "io.modelcontextprotocol/protocolVersion": SELF_DESCRIBING,
      "io.modelcontextprotocol/clientInfo": CLIENT.info,
      "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      "io.modelcontextprotocol/logLevel": "info",
    });
  });

  test("a question in a result is an outcome only where the revision has it, for the methods that may ask", () => {
    const question = {
      resultType: "input_required",
      inputRequests: { q: { method: "roots/list" } },
      requestState: "s",
    };
    for (const method of ["tools/call", "prompts/get", "resources/read"])
      expect(stateless.decode(method, question)).toEqual({
        kind: "input_required",
        requests: question.inputRequests,
        state: "s",
      });
    for (const method of ["tools/list", "completion/complete"])
      expect(stateless.decode(method, question).kind).toBe("invalid");
    expect(handshake.decode("tools/call", question)).toEqual({ kind: "complete", result: question });
  });

  test.each([
    [{ resultType: "later" }],
    [{ resultType: 7 }],
    [{ resultType: "input_required" }],
    [{ resultType: "input_required", inputRequests: [] }],
    [{ resultType: "input_required", requestState: 7 }],
  ])("%j is no result without a handshake", (result) => {
    expect(stateless.decode("tools/call", result)).toMatchObject({ kind: "invalid", reason: expect.any(String) });
  });

  test("a type of result that is unknown is told in reasonable length, however long it is", () => {
    const outcome = stateless.decode("tools/call", { resultType: "x".repeat(100_000) });
    expect(outcome).toMatchObject({
      kind: "invalid",
      reason: expect.stringMatching(/unknown resultType "x{90,200}…$/),
    });
  });

  const annotated = { type: "string", "x-mcp-header": "X" };
  test.each([
    ["a property", { properties: { a: annotated } }, true],
    ["a property of a property", { properties: { a: { type: "object", properties: { b: annotated } } } }, true],
    ["a property of that very name", { properties: { "x-mcp-header": annotated } }, true],
    ["a default, which is data", { properties: { a: { type: "object", default: { "x-mcp-header": 7 } } } }, true],
    ["a definition of that name, without an annotation", { $defs: { "x-mcp-header": { type: "string" } } }, true],
    ["the root", { ...annotated, properties: {} }, false],
    ["items", { properties: { a: { type: "array", items: annotated } } }, false],
    ["a choice", { anyOf: [{ properties: { a: annotated } }] }, false],
    ["a condition", { if: { properties: { a: annotated } } }, false],
    ["a definition", { $defs: { d: annotated } }, false],
    ["a pattern", { patternProperties: { "^a": annotated } }, false],
    ["two types", { properties: { a: { ...annotated, type: ["string", "null"] } } }, false],
    ["no type", { properties: { a: { "x-mcp-header": "X" } } }, false],
    ["a line end", { properties: { a: { type: "string", "x-mcp-header": "X\r\nY" } } }, false],
  ])("x-mcp-header on %s", (_where, schema, usable) => {
    expect(stateless.refuseTool(schema) === undefined).toBe(usable);
    expect(handshake.refuseTool(schema)).toBeUndefined();
  });
});
