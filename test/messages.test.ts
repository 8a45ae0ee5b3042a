import { expect, test } from "@jest/globals";
import { AdapterError } from "../src/errors.ts";
import { SENTENCES } from "../src/messages.ts";

function said(stderr: string): string {
  return SENTENCES.closed.say({ server: "s", reason: "it ended", outcomeUnknown: false, stderr });
}

test.each([
  ["a short stderr is shown whole", "one\ntwo", "one\ntwo"],
  [
    "of a long one the newest is shown",
    `${"old\n".repeat(1000)}${"1234567\n".repeat(248)}12345678`,
    `…${"old\n".repeat(2)}${"1234567\n".repeat(248)}12345678`,
  ],
  [
    "a long line is shown from its middle, also where a short one follows",
    `${"x".repeat(5000)}\nend`,
    `…${"x".repeat(1996)}\nend`,
  ],
  ["none is cut within a character", "🎉".repeat(3000), `…${"🎉".repeat(1000)}`],
])("%s", (_, stderr, shown) => {
  expect(said(stderr).split("Its stderr ends:\n")[1]).toBe(shown);
});

test("a stderr of which only the frames of a deep stack are kept is told as that", () => {
  const frames = `\tat com.example.Parser.parse(Parser.java:12)\n`.repeat(180);
  expect(said(frames)).toMatch(/ Its stderr ends with nothing but a stack trace\.$/);
});

test("a reason that is a sentence of its own ends with one full stop", () => {
  const facts = { server: "s", rpcError: { message: "" }, pinned: "2025-06-18" };
  const refused = (reason: string): string => SENTENCES["connect.refused"].say({ ...facts, reason });
  expect(refused("error 1: Set API_KEY.")).toContain("error 1: Set API_KEY. Its entry");
  expect(refused("error 1: no key")).toContain("error 1: no key. Its entry");
  expect(SENTENCES["auth.failed"].say({ server: "s", reason: "Who are you?" })).toMatch(/failed: Who are you\?$/);
});

test("problems of config files without end are told in part, each in reasonable length", () => {
  const problems = Array.from({ length: 1000 }, (_, n) => `Problem ${n} ${"x".repeat(1000)}.`);
  const { message } = new AdapterError("server.unknown", { server: "s", configured: [], problems });
  expect(message.length).toBeLessThan(4000);
  expect(message).toContain("Problem 7 ");
  expect(message).toMatch(/ And 992 more, which mcp_list names\.$/);
  const long = "E".repeat(100_000);
  const owner = { server: "s", configPath: "/c.json", field: `env.${long}` };
  for (const error of [
    new AdapterError("config.entry", { ...owner, reason: "must be a text" }),
    new AdapterError("config.variable", { ...owner, variable: long }),
  ])
    expect(error.message.length).toBeLessThan(1000);
});

test.each([
  [{ stderr: "[INFO] StreamableHTTP endpoint available at http://127.0.0.1:3333/mcp\n" }, "http://127.0.0.1:3333/mcp"],
  [{ skippedLines: ["Configuration:", "Listening on http://localhost:8931."] }, "http://localhost:8931"],
  [{ skippedLines: ['{"url":"http://[::1]:8000/api/v1/mcp"}'] }, "http://[::1]:8000/api/v1/mcp"],
  [{ stderr: "Open http://localhost:3334/oauth/callback?code=1" }, undefined],
  [{ stderr: "See http://localhost:3000/docs, https://mcp.example.com/mcp" }, undefined],
  [{}, undefined],
])(
  "a program that never answers over stdio is told to be listening where its output says so: %j",
  (output, address) => {
    const facts = { server: "s", method: "initialize", phase: "connect", seconds: 60, outcomeUnknown: false } as const;
    const { say } = SENTENCES.timeout;
    const named = /Its output names (\S+): if it listens there instead/.exec(say({ ...facts, ...output }))?.[1];
    expect(named).toBe(address);
    expect(say({ ...facts, phase: "call", ...output })).not.toContain("listens");
  },
);

test("who waited too little for a server that is slow to start reads how to wait longer, and nobody whose call may have run", () => {
  const facts = { server: "s", method: "initialize", phase: "connect", seconds: 60, outcomeUnknown: false } as const;
  const said = (more: object): string => SENTENCES.timeout.say({ ...facts, ...more });
  expect(said({ stderr: "Downloading" })).toBe(
    'Server "s" did not finish initialize within 60 s (connect). A larger "timeoutSeconds" gives it longer. Its stderr ends:\nDownloading',
  );
  expect(said({ phase: "discovery", method: "tools/list" })).toContain("timeoutSeconds");
  expect(said({ seconds: 300 })).not.toContain("timeoutSeconds");
  expect(said({ phase: "call", method: "tools/call", outcomeUnknown: true })).not.toContain("timeoutSeconds");
});
