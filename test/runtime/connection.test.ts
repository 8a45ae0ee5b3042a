import { expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { Connection } from "../../src/runtime/connection.ts";
import type { ServerSpec } from "../../src/server-spec.ts";
import type { InputPort } from "../../src/session/input.ts";
import type { Session } from "../../src/session/session.ts";

function shown(info: Readonly<Record<string, unknown>>): unknown {
  const session = { dialect: { server: { info, capabilities: {} } } } as unknown as Session;
  return new Connection({ spec: {} as ServerSpec, session, input: {} as InputPort, limits: LIMITS }).serverInfo;
}

test("what a server says of itself is shown whole up to its bound, and then by its names alone, cut", () => {
  const info = { name: "n", version: "1", icons: [{ src: "x".repeat(1900) }] };
  expect(shown(info)).toEqual(info);
  expect(shown({ name: "n".repeat(300), title: 5, version: "1", icons: [{ src: "x".repeat(2000) }] })).toEqual({
    name: `${"n".repeat(200)}…`,
    version: "1",
  });
});
