import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Shell } from "../support/cli.ts";
import { FaultServer } from "../support/http-fault-server.ts";

let shell: Shell;

beforeEach(() => {
  shell = new Shell();
});
afterEach(() => shell.remove());

interface Report {
  readonly ok: boolean;
  readonly servers: readonly {
    readonly server: string;
    readonly state: string;
    readonly configPath: string;
    readonly tools?: number;
    readonly protocolVersion?: string;
    readonly milliseconds?: number;
    readonly error?: { readonly code: string; readonly message: string };
    readonly advice?: string;
  }[];
  readonly problems: readonly { readonly configPath: string; readonly error: { readonly message: string } }[];
}

describe("rpi-mcp doctor", () => {
  it("shows each server of every layer with where it comes from, and ends with 0 if all enabled ones start", async () => {
    const user = shell.write("home/.rpi/mcp.json", {
      mcpServers: { mine: shell.entry("shell.mjs"), off: { command: "no-such", enabled: false } },
    });
    const project = shell.write("project/.mcp.json", { mcpServers: { theirs: shell.entry("agent.mjs") } });
    const { status, stdout, stderr } = await shell.run(["doctor", "--json", "--trust"]);
    expect([status, stderr]).toEqual([0, ""]);
    const { ok, servers } = JSON.parse(stdout) as Report;
    expect(ok).toBe(true);
    expect(servers).toMatchObject([
      {
        server: "mine",
        state: "ok",
        configPath: user,
        tools: 5,
        milliseconds: expect.any(Number),
        protocolVersion: expect.stringMatching(/^20/),
      },
      { server: "off", state: "disabled" },
      { server: "theirs", state: "ok", configPath: project, tools: expect.any(Number) },
    ]);
  });

  it("names each failure with what to do, and ends with 1; the others are not spoilt", async () => {
    const servers = shell.config({
      good: shell.entry("shell.mjs"),
      gone: { command: "no-such-program-here" },
      dies: shell.entry("processes.mjs", "fatal"),
      mute: shell.entry("processes.mjs", "silent"),
      empty: { command: "" },
      unset: { command: "node", args: ["${NO_SUCH_VARIABLE_HERE}"] },
      far: { url: "http://127.0.0.1:1/mcp" },
    });
    const { status, stdout } = await shell.run(["doctor", "--json", "--timeout", "2", ...servers]);
    expect(status).toBe(1);
    const report = JSON.parse(stdout) as Report;
    expect(report.ok).toBe(false);
    expect(Object.fromEntries(report.servers.map(({ server, error }) => [server, error?.code]))).toEqual({
      good: undefined,
      gone: "spawn_failed",
      dies: "connect_failed",
      mute: "timeout",
      empty: "config_error",
      unset: "config_error",
      far: "connect_failed",
    });
    for (const { state, advice } of report.servers)
      expect(advice).toEqual(state === "ok" ? undefined : expect.any(String));
    expect(report.servers.find(({ server }) => server === "dies")?.error?.message).toContain("FATAL: missing API_KEY");
  });

  it("prints the same for a person", async () => {
    const servers = shell.config({ good: shell.entry("shell.mjs"), gone: { command: "no-such-program-here" } });
    const { status, stdout, stderr } = await shell.run(["doctor", ...servers]);
    expect([status, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^ok {3}good .*stdio.*shell 1\.2\.3.*5 tools.* ms$/m);
    expect(stdout).toMatch(/^FAIL gone /m);
    expect(stdout).toContain("What to do: Install the program");
    expect(stdout).toContain("1 fine, 1 failed, 0 disabled");
  });

  it("checks all servers at the same time", async () => {
    const mute = Array.from({ length: 4 }, (_, at) => [`mute${at}`, shell.entry("processes.mjs", "silent")]);
    const { status } = await shell.run(["doctor", "--timeout", "2", ...shell.config(Object.fromEntries(mute))]);
    expect(status).toBe(1);
    const starts = shell.noted("start").map(({ at }) => at);
    expect(starts).toHaveLength(4);
    // One after the other they would start two seconds apart.
    expect(Math.max(...starts) - Math.min(...starts)).toBeLessThan(2_000_000);
  });

  it("accepts a server that offers something other than tools", async () => {
    const servers = shell.config({ quiet: shell.entry("shell.mjs", "no-tools") });
    const { stdout } = await shell.run(["doctor", "--json", ...servers]);
    const [only] = (JSON.parse(stdout) as Report).servers;
    expect(only).toMatchObject({ state: "ok", protocolVersion: expect.stringMatching(/^20/) });
    expect(only?.tools).toBeUndefined();
  });

  it("tells of a file that cannot be read, and ends with 1", async () => {
    const broken = shell.write("home/.rpi/mcp.json", "{ not json");
    shell.write("home/.config/mcp/mcp.json", { mcpServers: { good: shell.entry("shell.mjs") } });
    const { status, stdout } = await shell.run(["doctor", "--json"]);
    const { ok, servers, problems } = JSON.parse(stdout) as Report;
    expect([status, ok]).toEqual([1, false]);
    expect(servers).toMatchObject([{ server: "good", state: "ok" }]);
    expect(problems).toMatchObject([
      { configPath: broken, error: { message: expect.stringContaining("not valid JSON") } },
    ]);
  });

  it("counts a file that fails, but not a field that is ignored", async () => {
    shell.write("project/.mcp.json", { mcpServers: { quiet: shell.entry("shell.mjs") }, trust: "always" });
    const ignored = await shell.run(["doctor", "--trust"]);
    expect(ignored.status).toBe(0);
    expect(ignored.stdout).toMatch(/^warn .*trust is read from user-level files only; it is ignored\.$/m);
    expect(ignored.stdout).toMatch(/^1 fine, 0 failed, 0 disabled$/m);
    shell.write("home/.rpi/mcp.json", "{ not json");
    const broken = await shell.run(["doctor", "--trust"]);
    expect(broken.status).toBe(1);
    expect(broken.stdout).toMatch(/^1 fine, 0 failed, 0 disabled; config files: 1 failed$/m);
  });

  it("tells to do what fits the case, not only its code", async () => {
    const busy = await FaultServer.start({
      scenarios: { busy: { on: "*", post: (exchange) => exchange.respond(503) } },
    });
    const entries = {
      refuses: [shell.entry("versions.mjs", "refuses"), /^Do what the server says/],
      homeless: [{ ...shell.entry("shell.mjs"), cwd: "no-such-folder" }, /^Correct "cwd"/],
      odd: [shell.entry("versions.mjs", "proto-unknown"), /^Update the server\.$/],
      pinned: [{ ...shell.entry("versions.mjs", "proto-unknown"), protocol: "2025-06-18" }, /remove "protocol"/],
      busy: [{ url: busy.url("busy") }, /^Try again later/],
      wrong: [{ command: "" }, /^Correct the entry/],
      unset: [{ command: "${NO_SUCH_VARIABLE_HERE}" }, /^Set the variable/],
    } as const;
    const servers = shell.config(Object.fromEntries(Object.entries(entries).map(([name, [entry]]) => [name, entry])));
    const { stdout } = await shell.run(["doctor", "--json", ...servers]).finally(() => busy.dispose());
    for (const { server, advice } of (JSON.parse(stdout) as Report).servers)
      expect([server, advice]).toEqual([server, expect.stringMatching(entries[server as keyof typeof entries][1])]);
  });

  it("tells to look at what there is: a command or an address", async () => {
    const servers = shell.config({
      dies: shell.entry("processes.mjs", "fatal"),
      far: { url: "http://127.0.0.1:1/mcp" },
      small: { ...shell.entry("shell.mjs"), includeTools: ["show"] },
    });
    const { stdout } = await shell.run(["doctor", ...servers]);
    expect(stdout).toMatch(
      /FAIL dies[\s\S]*What to do: Read its stderr above\. Run the command by hand[\s\S]*FAIL far/,
    );
    expect(stdout).toMatch(/FAIL far[\s\S]*What to do: Check that the server runs, and its address/);
    expect(stdout).toMatch(/ok {3}small .* 1 tool, /);
  });

  it("counts a project's server that nobody approved as failed, and says how to approve it", async () => {
    shell.write("project/.mcp.json", { mcpServers: { theirs: shell.entry("agent.mjs") } });
    const { status, stdout } = await shell.run(["doctor"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/denied:[\s\S]*What to do:.*--trust/);
    expect(stdout).not.toContain("configPath");
    expect(shell.pids()).toEqual([]);
  });

  it("says so where nothing is configured", async () => {
    const { status, stdout } = await shell.run(["doctor"]);
    expect([status, stdout]).toEqual([0, "No server is configured. rpi-mcp import finds those of other tools.\n"]);
  });
});
