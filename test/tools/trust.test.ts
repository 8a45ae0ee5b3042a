import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { ApprovalRequest } from "../../src/contract.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";

const make = harnesses();

describe("trust, where nobody can be asked", () => {
  /** Calls through the project's own file, without naming it. */
  function project(options: Parameters<typeof make>[0] = {}): PluginHarness {
    const host = make(options).serve("plain", "processes", "plain");
    return host.write(".mcp.json", readFileSync(host.configPath, "utf8"));
  }

  /** With the user's files in the folder `home` of the host. */
  async function withConfigHome(host: PluginHarness, run: () => Promise<void>): Promise<void> {
    const configHome = process.env["XDG_CONFIG_HOME"];
    process.env["XDG_CONFIG_HOME"] = join(host.folder, "home");
    try {
      await run();
    } finally {
      if (configHome === undefined) delete process.env["XDG_CONFIG_HOME"];
      else process.env["XDG_CONFIG_HOME"] = configHome;
    }
  }

  test("a server of a project's own file is denied, and not started", async () => {
    for (const trust of [undefined, "ask"] as const) {
      const host = project(trust === undefined ? {} : { trust });
      const { code, message } = await host.failure("mcp_call", { server: "plain", tool: "echo" });
      expect(code).toBe("denied");
      expect(message).toContain(".mcp.json");
      expect(host.ledger("plain")).toEqual([]);
      expect(textOf(await host.run("mcp_list", {}))).toContain('"plain"');
    }
  });

  test("a user's server that project files enable, which the user has disabled, is denied by the name of the first", async () => {
    const host = make().serve("plain", "processes", "plain", { enabled: false });
    await withConfigHome(host, async () => {
      host.write("home/mcp/mcp.json", readFileSync(host.configPath, "utf8"));
      for (const path of [".mcp.json", ".rpi/mcp.json"]) host.write(path, { mcpServers: { plain: { enabled: true } } });
      const { code, message, details } = await host.failure("mcp_call", { server: "plain", tool: "echo" });
      expect(code).toBe("denied");
      expect(message).toContain(`a project's own file (${join(host.folder, ".mcp.json")}) enables it`);
      expect(details).toMatchObject({ enabledBy: join(host.folder, ".mcp.json") });
      expect(host.ledger("plain")).toEqual([]);
    });
  });

  test("with trust always it starts, and its calls are not asked about", async () => {
    const host = project({ trust: "always" });
    expect(textOf(await host.run("mcp_call", { server: "plain", tool: "echo", arguments: { text: "trusted" } }))).toBe(
      "trusted",
    );
  });

  test("a server of an explicit configPath starts", async () => {
    const host = project();
    expect(
      textOf(
        await host.run("mcp_call", {
          server: "plain",
          configPath: ".mcp.json",
          tool: "echo",
          arguments: { text: "named" },
        }),
      ),
    ).toBe("named");
  });

  test("a server of a project's own file is denied as well where its connection is open for calls that named the file", async () => {
    const host = project();
    const named = { server: "plain", configPath: ".mcp.json" };
    await host.run("mcp_call", { ...named, tool: "echo" });
    const called = host.ledger("plain").length;
    const unnamed: Array<Parameters<typeof host.failure>> = [
      ["mcp_call", { server: "plain", tool: "echo" }],
      ["mcp_list", { server: "plain" }],
      ["mcp_request", { server: "plain", method: "ping" }],
    ];
    for (const [tool, params] of unnamed) expect(await host.failure(tool, params)).toMatchObject({ code: "denied" });
    expect(textOf(await host.run("mcp_list", { query: "echo" }))).toContain('"failed":[{"server":"plain"');
    expect(host.ledger("plain")).toHaveLength(called);
    expect(textOf(await host.run("mcp_call", { ...named, tool: "echo", arguments: { text: "named" } }))).toBe("named");
  });

  test("a project's server is denied from the moment on that the user's file trusts no project any more", async () => {
    const host = project();
    await withConfigHome(host, async () => {
      host.write("home/mcp/mcp.json", { trust: "always", mcpServers: {} });
      await host.run("mcp_call", { server: "plain", tool: "echo" });
      host.write("home/mcp/mcp.json", { mcpServers: {} });
      const { code } = await host.failure("mcp_call", { server: "plain", tool: "echo" });
      expect(code).toBe("denied");
    });
  });

  test("where the host can be asked, it is asked about the project's server too", async () => {
    const asked: string[] = [];
    const approve = async ({ action }: ApprovalRequest): Promise<boolean> => asked.push(action) > 0;
    const host = project({ services: { approve } });
    await host.run("mcp_call", { server: "plain", tool: "echo" });
    expect(asked).toEqual(["start", "call"]);
  });
});
