import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type Ended, Reader, ROOT, type Snippet, snippetsOf } from "../support/snippets.ts";

let reader: Reader;

beforeEach(() => {
  reader = new Reader().install();
  const everything = { command: process.execPath, args: [process.env["EVERYTHING"] ?? "", "stdio"] };
  everything.args[0] = join(ROOT, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
  reader.write("~/.config/mcp/mcp.json", JSON.stringify({ mcpServers: { everything } }));
});

afterEach(() => reader.remove());

function snippet(page: string, name: string): Snippet {
  const found = snippetsOf(page).run.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${page} has no snippet ${name}.`);
  return found;
}

describe("the host in docs/embedding.md", () => {
  const embedding = snippet("docs/embedding.md", "embedding");

  it("has fewer than 40 lines", () => {
    expect(embedding.text.trimEnd().split("\n").length).toBeLessThan(40);
  });

  it("finds a tool, calls it, tells the model of every failure, and answers", async () => {
    const call = (id: string, name: string, args: object | string): object => ({
      id,
      type: "function",
      function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    });
    const echo = { server: "everything", tool: "echo", arguments: { message: "hello" } };
    const turns = [
      { role: "assistant", content: "", tool_calls: [call("1", "mcp_list", { query: "echo" })] },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          call("2", "mcp_call", echo),
          call("3", "mcp_call", { ...echo, tool: "eco" }),
          call("4", "x", {}),
          call("5", "mcp_list", ""),
          call("6", "mcp_list", "{cut"),
        ],
      },
      // Some servers of this API send an empty list where there is nothing to call.
      { role: "assistant", content: "It said hello.", tool_calls: [] },
    ];
    const requests: { messages: { role: string; tool_call_id?: string; content: string }[]; tools: object[] }[] = [];
    const ended = await askedOf((body, response) => {
      requests.push(JSON.parse(body));
      response.end(JSON.stringify({ choices: [{ message: turns[requests.length - 1] }] }));
    });
    expect(ended).toEqual({ status: 0, stdout: "It said hello.\n", stderr: "" });
    expect(requests[0]?.tools).toHaveLength(3);
    expect(requests[0]?.messages[0]?.content).toBe("Say hello");
    const results = requests[2]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results.map((result) => result.tool_call_id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(results[0]?.content).toContain('"name":"echo"');
    expect(results[1]?.content).toBe("Echo: hello");
    expect(results[2]?.content).toMatch(/^tool_not_found: .*"echo"/);
    expect(results[3]?.content).toBe("There is no tool x.");
    expect(results[4]?.content).toContain('"server":"everything"');
    expect(results[5]?.content).toMatch(/^SyntaxError: /);
  });

  it("says what the model's server refuses, and ends", async () => {
    const { status, stderr } = await askedOf((_, response) => {
      response.writeHead(401).end("no such key");
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("Error: no such key")]);
  });

  /** Runs the program against a model that answers so. */
  async function askedOf(answer: (body: string, response: ServerResponse) => void): Promise<Ended> {
    const model = createServer((request, response) => void readText(request).then((body) => answer(body, response)));
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    const { port } = model.address() as AddressInfo;
    try {
      return await reader.run(embedding, {
        args: ["Say hello"],
        env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}` },
      });
    } finally {
      model.close();
    }
  }
});

describe("docs/hosts.md", () => {
  it("shows how to drive a handle", async () => {
    const { status, stdout, stderr } = await reader.run(snippet("docs/hosts.md", "hosts"));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("{ progress: 4, total: 4");
    expect(stdout).toContain("Long running operation completed");
  });

  it("shows the reference host", async () => {
    const { status, stdout, stderr } = await reader.run(snippet("docs/hosts.md", "reference-host"));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.trim().split("\n")).toEqual(["start everything ", "echo", "call everything echo", "Echo: hello"]);
  });
});
