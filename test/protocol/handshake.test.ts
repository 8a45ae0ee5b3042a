import { describe, expect, test } from "@jest/globals";
import { handshakeDialect } from "../../src/protocol/handshake.ts";
import { REVISIONS } from "../../src/protocol/versions.ts";

const CLIENT = { info: { name: "client", version: "1" }, capabilities: {} };
const HANDSHAKES = REVISIONS.slice(0, 4);

describe.each(HANDSHAKES)("the way of speaking of %s", (version) => {
  const dialect = handshakeDialect(version, { capabilities: {} }, CLIENT);

  test("adds nothing to a request but the token of its progress, and keeps the caller's metadata", () => {
    expect(dialect.encode(7, "tools/list", {})).toEqual({ jsonrpc: "2.0", id: 7, method: "tools/list", params: {} });
    const params = { name: "x", _meta: { mine: 1, progressToken: "theirs" } };
    expect(dialect.encode(7, "tools/call", params, { progressToken: 7 })).toEqual({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "x", _meta: { mine: 1, progressToken: 7 } },
    });
    expect(params).toEqual({ name: "x", _meta: { mine: 1, progressToken: "theirs" } });
  });

  test("takes every result as complete", () => {
    for (const result of [{}, null, { resultType: "input_required" }])
      expect(dialect.decode("tools/call", result)).toEqual({ kind: "complete", result });
  });

  test("gives up on a request by a notice, also where the request has a stream of its own", () => {
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, reason: "why" } };
    for (const ownStream of [true, false]) expect(dialect.cancelNotice(7, "why", ownStream)).toEqual(notice);
  });

  test("lets servers ask, and knows no discovery of servers", () => {
    for (const method of ["ping", "roots/list", "sampling/createMessage", "elicitation/create"])
      expect(dialect.serverMayAsk(method)).toBe(true);
    expect(dialect.serverMayAsk("tools/list")).toBe(false);
    expect(dialect.aliveMethod).toBe("ping");
    expect(dialect.knows("ping")).toBe(true);
    expect(dialect.knows("server/discover")).toBe(false);
    expect(dialect.knows("vendor/own")).toBe(true);
    expect(dialect.wire).toMatchObject({ sessions: true });
  });
});
