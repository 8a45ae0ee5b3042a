import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { harnesses, jsonOf, type PluginHarness, progressOf, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const PACKAGE = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");

function everything(services: HostServices = {}): PluginHarness {
  const args = [join(dirname(PACKAGE), "dist", "index.js"), "stdio"];
  return make({ services }).configure("everything", { command: process.execPath, args });
}

const SERVICES: HostServices = {
  listRoots: async () => [{ uri: "file:///project", name: "the project" }],
  elicit: async () => ({ action: "accept", content: { name: "Ada" } }),
  createMessage: async () => ({ role: "assistant", content: { type: "text", text: "sampled text" }, model: "m" }),
};

describe("the official test server", () => {
  test("gives texts, images, structured results, resources and links as they are", async () => {
    const host = everything();
    expect(textOf(await host.call("everything", "echo", { message: "hello" }))).toContain("hello");
    const image = await host.call("everything", "get-tiny-image");
    expect(image.content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    const structured = await host.call("everything", "get-structured-content", { location: "Chicago" });
    expect(structured.content).toHaveLength(1);
    expect(structured.details?.["mcpResult"]).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
    expect(textOf(await host.call("everything", "get-resource-links", { count: 2 }))).toContain("resource link");
    const { code, message } = await host.callFailure("everything", "get-sum", { a: "x" });
    expect(code).toBe("tool_error");
    expect(message).toContain("get-sum");
  });

  test("is not sent a call of a tool that runs only as a task", async () => {
    const host = everything();
    const { code, message } = await host.callFailure("everything", "simulate-research-query", { topic: "x" });
    expect(code).toBe("capability_missing");
    expect(message).toContain("runs only as a task");
  });

  test("reports progress, and stops a call that is cancelled, and goes on", async () => {
    const host = everything();
    const step = host.callStep("everything", "trigger-long-running-operation", { duration: 1, steps: 4 });
    const seen: unknown[] = [];
    await waitFor("the end", () => step.poll((partial) => seen.push(progressOf(partial))).tag !== "pending");
    step.destroy();
    expect(seen).toEqual([1, 2, 3, 4]);
    const long = host.callStep("everything", "trigger-long-running-operation", { duration: 60, steps: 60 });
    await waitFor("some progress", () => {
      let any = false;
      long.poll(() => {
        any = true;
      });
      return any;
    });
    long.cancel();
    expect(long.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    long.destroy();
    expect(textOf(await host.call("everything", "echo", { message: "after" }))).toContain("after");
  });

  test("lists and reads resources, templates and prompts", async () => {
    const host = everything();
    const { resources } = jsonOf(await host.list("everything", { kind: "resources" })) as {
      resources: { uri: string }[];
    };
    expect(resources.length).toBeGreaterThan(0);
    expect(
      (jsonOf(await host.list("everything", { kind: "resource_templates" }))["resource_templates"] as unknown[]).length,
    ).toBeGreaterThan(0);
    expect((jsonOf(await host.list("everything", { kind: "prompts" }))["prompts"] as unknown[]).length).toBeGreaterThan(
      0,
    );
    const read = await host.run("mcp_request", {
      configPath: host.configPath,
      server: "everything",
      method: "resources/read",
      params: { uri: resources[0]?.uri },
    });
    expect(jsonOf(read)["contents"]).toHaveLength(1);
    const prompt = await host.run("mcp_request", {
      configPath: host.configPath,
      server: "everything",
      method: "prompts/get",
      params: { name: "simple-prompt" },
    });
    expect(jsonOf(prompt)["messages"]).toHaveLength(1);
  });

  test("offers more tools to a host that offers services, and is answered by them", async () => {
    const bare = jsonOf(await everything().list("everything"))["tools"] as unknown[];
    const host = everything(SERVICES);
    const { tools } = jsonOf(await host.list("everything")) as { tools: { name: string }[] };
    expect(bare).toHaveLength(13);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["get-roots-list", "trigger-sampling-request", "trigger-elicitation-request"]),
    );
    expect(textOf(await host.call("everything", "get-roots-list"))).toContain("file:///project");
    expect(textOf(await host.call("everything", "trigger-sampling-request", { prompt: "hi", maxTokens: 5 }))).toContain(
      "sampled text",
    );
    expect(textOf(await host.call("everything", "trigger-elicitation-request"))).toContain("Ada");
  });

  test("takes its own time to start, and parallel first calls wait for one process", async () => {
    const host = everything();
    const texts = await Promise.all(
      Array.from({ length: 5 }, (_, at) => host.call("everything", "echo", { message: `m${at}` })),
    );
    for (const [at, result] of texts.entries()) expect(textOf(result)).toContain(`m${at}`);
    const { connections } = jsonOf(await host.run("mcp_list", { action: "status" })) as { connections: unknown[] };
    expect(connections).toHaveLength(1);
  });
});
