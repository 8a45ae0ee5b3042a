import { describe, expect, test } from "@jest/globals";
import { REVISIONS, SELF_DESCRIBING } from "../../src/protocol/versions.ts";
import { type EraServer, eraServers, helpfulHost, WAYS } from "../support/era-servers.ts";
import { McpSchema } from "../support/mcp-schemas.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const start = eraServers();

/** The questions that each revision has. */
function questionsOf(revision: string): string[] {
  if (revision < "2025-06-18") return ["roots", "sample"];
  return revision < "2025-11-25" ? ["roots", "sample", "form"] : ["roots", "sample", "form", "url"];
}

/** Everything that a host can make the plugin send. */
async function useEverything(host: PluginHarness, revision: string): Promise<void> {
  await host.list("server");
  for (const kind of ["resources", "resource_templates", "prompts"]) await host.list("server", { kind });
  expect(textOf(await host.call("server", "echo", { text: "grüße\n", deep: { flag: true } }))).toBe("grüße\n");
  await host.call("server", "progress");
  await host.call("server", "log");
  for (const what of questionsOf(revision)) await host.call("server", "ask", { what });
  const request = (method: string, params: object): Promise<unknown> =>
    host.run("mcp_request", { configPath: host.configPath, server: "server", method, params });
  await request("tools/call", { name: "echo", arguments: { text: "raw" }, _meta: { traceparent: "00-1-1-00" } });
  await request("resources/read", { uri: "memo://1" });
  await request("prompts/get", { name: "greet", arguments: { who: "me" } });
  await request("completion/complete", {
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "who", value: "m" },
  });
  if (revision !== SELF_DESCRIBING) await request("ping", {});
}

async function cancelOne(host: PluginHarness, server: EraServer): Promise<void> {
  const step = host.callStep("server", "hang");
  await waitFor("the call has arrived", () =>
    server.messages("tools/call").some(({ params }) => params?.["name"] === "hang"),
  );
  step.cancel();
  step.destroy();
}

/** What is wrong with the messages that a server got. */
function problemsOf(server: EraServer, revision: string): string[] {
  const schema = new McpSchema(revision);
  const questions: Record<string, string> = {};
  for (const [at, what] of questionsOf(revision).entries()) questions[`q${at + 1}`] = METHODS[what] ?? "";
  return server.messages().flatMap((message) => {
    const problems = schema.problems(message, questions[String(message.id)]);
    return problems.map((problem) => `${JSON.stringify(message).slice(0, 300)}: ${problem}`);
  });
}

const METHODS: Readonly<Record<string, string>> = {
  roots: "roots/list",
  sample: "sampling/createMessage",
  form: "elicitation/create",
  url: "elicitation/create",
};

describe.each(WAYS)("over %s", (way) => {
  test.each(REVISIONS)("every message that we send fits the schema of %s", async (revision) => {
    const server = await start(way, "plain", revision);
    const services = helpfulHost();
    const host = make({ services });
    server.configure(host, "server", { protocol: revision });
    await useEverything(host, revision);
    await cancelOne(host, server);
    if (way === "stdio")
      await waitFor("the cancellation has arrived", () => server.messages("notifications/cancelled").length > 0);
    expect(services.asked).toHaveLength(questionsOf(revision).length);
    expect(server.messages().length).toBeGreaterThan(25);
    expect(problemsOf(server, revision)).toEqual([]);
    expect(server.ledger().filter(({ event }) => event === "refused")).toEqual([]);
  });
});

test("the check of messages notices what does not fit", () => {
  const schema = new McpSchema(SELF_DESCRIBING);
  expect(schema.problems({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })).not.toEqual([]);
  expect(schema.problems({ jsonrpc: "2.0", id: 1, method: "tools/invent" })).not.toEqual([]);
  expect(schema.problems({ jsonrpc: "2.0", id: 1, result: { action: "perhaps" } }, "elicitation/create")).not.toEqual(
    [],
  );
});
