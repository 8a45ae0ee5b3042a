import { expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { Connection } from "../../src/runtime/connection.ts";
import type { ServerSpec } from "../../src/server-spec.ts";
import type { InputPort } from "../../src/session/input.ts";
import type { Session } from "../../src/session/session.ts";

type Said = Readonly<Record<string, unknown>>;

function connection(info: Said, capabilities: Said = {}): Connection {
  const session = { dialect: { server: { info, capabilities } } } as unknown as Session;
  return new Connection({ spec: {} as ServerSpec, session, input: {} as InputPort, limits: LIMITS });
}

function shown(info: Said): unknown {
  return connection(info).serverInfo;
}

test("what a server says of itself is shown whole up to its bound, and then by its names alone, cut", () => {
  const info = { name: "n", version: "1", icons: [{ src: "x".repeat(1900) }] };
  expect(shown(info)).toEqual(info);
  expect(shown({ name: "n".repeat(300), title: 5, version: "1", icons: [{ src: "x".repeat(2000) }] })).toEqual({
    name: `${"n".repeat(200)}…`,
    version: "1",
  });
});

test("of the capabilities that a server advertises the first are named, each in reasonable length", () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`c${at}`, {}]));
  expect(connection({}, { tools: {}, ["x".repeat(300)]: {} }).capabilities).toEqual(["tools", `${"x".repeat(100)}…`]);
  expect(connection({}, many).capabilities).toEqual(Array.from({ length: 50 }, (_, at) => `c${at}`));
});
