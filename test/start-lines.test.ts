import { expect, test } from "@jest/globals";
import { startLines } from "../src/start-lines.ts";

const REQUEST = { server: "s", action: "start" } as const;

test("a program is shown with where it starts, the variables set for it and those of the host that it uses", () => {
  const lines = startLines({
    ...REQUEST,
    command: "npx",
    args: ["my server"],
    cwd: "/project/inner",
    env: { NODE_OPTIONS: "--require ./run.js", A: "1" },
    variables: ["TOKEN", "HOST"],
  });
  expect(lines).toEqual([
    'npx "my server"',
    "in /project/inner",
    'with "NODE_OPTIONS=--require ./run.js" A=1',
    "using your $TOKEN, $HOST",
  ]);
});

test("a folder whose name reads like another's is not shown like it", () => {
  const lines = startLines({ ...REQUEST, command: "./run", cwd: "/project/tools\u200b" });
  expect(lines).toEqual(["./run", String.raw`in "/project/tools\u200b"`]);
});

test("a URL is shown with the headers that it is sent", () => {
  const headers = { Authorization: "Bearer [redacted]" };
  const lines = startLines({ ...REQUEST, url: "https://example.org/", headers, variables: ["TOKEN"] });
  expect(lines).toEqual(["https://example.org/", 'sending "Authorization: Bearer [redacted]"', "using your $TOKEN"]);
});

test("a URL is shown with how the entry has it signed in to", () => {
  const oauth = {
    issuer: "https://id.example",
    dpop: true,
    identityProvider: { issuer: "https://idp.example", idToken: "a b" },
  };
  expect(startLines({ ...REQUEST, url: "https://example.org/", oauth })).toEqual([
    "https://example.org/",
    'signing in with "issuer: https://id.example" "dpop: true" "identityProvider.issuer: https://idp.example" "identityProvider.idToken: a b"',
  ]);
});

test("each is one line of bounded length, which says how much there is", () => {
  const lines = startLines({
    ...REQUEST,
    command: "sh",
    args: ["a\n\u202eb", "x".repeat(5000)],
    env: { A: "y".repeat(2000) },
  });
  expect(lines.map((line) => line.slice(line.indexOf("…")))).toEqual([
    "… (5016 characters in all)",
    "… (2007 characters in all)",
  ]);
  expect(lines[0]?.startsWith('sh "a\\n')).toBe(true);
  expect(lines.join("")).not.toMatch(/[\n\u202e]/);
});
