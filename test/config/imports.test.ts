import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { claudeCode } from "../../src/config/imports/claude-code.ts";
import { findImports, toOurFormat } from "../../src/config/imports/find.ts";
import { gemini } from "../../src/config/imports/gemini.ts";
import { DIALECTS } from "../../src/config/imports/read.ts";
import { placeOf } from "../../src/config/place.ts";
import type { ConfigStoreOptions, ConfigView } from "../../src/config/store.ts";
import type { ServerSpec } from "../../src/server-spec.ts";
import { ConfigHome } from "../support/config-home.ts";

const onPosix = process.platform === "win32" ? it.skip : it;

let place: ConfigHome;
beforeEach(() => {
  place = new ConfigHome();
  Object.assign(place.env, { TOKEN: "token-123", NAME: "name" });
});
afterEach(() => place.remove());

/** The view of a user's file that imports one dialect. */
function imported(dialect: string, options: Partial<ConfigStoreOptions> = {}): Promise<ConfigView> {
  place.user(".rpi/mcp.json", { imports: [dialect] });
  return place.load(options);
}

function specOf(view: ConfigView, name: string): ServerSpec {
  const entry = view.servers.get(name);
  if (entry === undefined) throw new Error(`${name} is not listed.`);
  return entry.spec({ cwd: place.cwd });
}

/** Why each server that cannot be used cannot. */
function errors(view: ConfigView): Record<string, string> {
  const broken = [...view.servers.values()].filter(({ error }) => error !== undefined);
  return Object.fromEntries(broken.map(({ name, error }) => [name, error?.message.replace(/^.*?: /, "") ?? ""]));
}

const enabled = (view: ConfigView): string[] =>
  [...view.servers.values()].filter((entry) => entry.enabled).map(({ name }) => name);

const HELPER = "names a program, which is not run; put the value into a variable.";

describe("claude-code", () => {
  it("gives the user's servers and those of this project, with our variables and its milliseconds", async () => {
    const path = place.user(".claude.json", {
      numStartups: 7,
      mcpServers: {
        local: {
          type: "stdio",
          command: "npx",
          args: ["-y", "${NAME}"],
          env: { T: "${TOKEN}", D: "${NO:-d}" },
          timeout: 90_000,
        },
        remote: {
          type: "http",
          url: "https://h/mcp",
          headers: { A: "Bearer ${TOKEN}" },
          oauth: { clientId: "c", callbackPort: 8080 },
        },
        events: { type: "sse", url: "https://h/sse" },
        helper: { type: "http", url: "https://h/", headersHelper: "/bin/secret" },
        socket: { type: "ws", url: "wss://h/" },
        shared: { command: "user" },
        off: { command: "x" },
      },
      projects: {
        [place.cwd]: {
          mcpServers: { shared: { command: "project" }, mine: { command: "m" } },
          disabledMcpServers: ["off"],
        },
        "/other": { mcpServers: { theirs: { command: "x" } } },
      },
    });
    const view = await imported("claude-code");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      configPath: path,
      timeoutSeconds: 90,
      endpoint: {
        command: "npx",
        args: ["-y", "name"],
        env: { T: "token-123", D: "d" },
        inheritEnv: true,
        cwd: place.cwd,
      },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({
      transport: "http",
      headers: { A: "Bearer token-123" },
      oauth: { clientId: "c", redirectUri: "http://localhost:8080/callback" },
    });
    expect(view.servers.get("events")?.transport).toBe("sse");
    expect(specOf(view, "shared").endpoint).toMatchObject({ command: "project" });
    expect(errors(view)).toEqual({
      helper: `headersHelper ${HELPER}`,
      socket: 'type is "ws"; write stdio, http or sse.',
    });
    expect(enabled(view)).toEqual(["local", "remote", "events", "helper", "socket", "shared", "mine"]);
  });

  it.each([
    ["with forward slashes", { "D:/code/game": "mine" }],
    [
      "with forward slashes, whatever else the file has of other tools",
      { "D:\\code\\game": "x", "D:/code/game": "mine" },
    ],
    ["with the other case of the drive", { "d:/code/game": "mine" }],
    ["with backslashes, as it once was", { "D:\\code\\game": "mine", "D:/code": "x" }],
  ])("finds this project on Windows under its path %s", (_, servers) => {
    const projects = Object.fromEntries(
      Object.entries(servers).map(([path, command]) => [path, { mcpServers: { s: { command } } }]),
    );
    const where = { ...placeOf({ ...place, platform: "win32" }), cwd: "D:\\code\\game" };
    expect([...claudeCode.servers({ projects }, where)]).toEqual([{ name: "s", raw: { command: "mine" } }]);
  });

  it("finds this project under the root of its repository, and under its own path where that has no entry", () => {
    const cwd = join(place.cwd, "packages", "a");
    mkdirSync(cwd, { recursive: true });
    mkdirSync(join(place.cwd, ".git"));
    const entry = (command: string): object => ({ mcpServers: { s: { command } } });
    const found = (projects: Record<string, object>): unknown[] =>
      [...claudeCode.servers({ projects }, placeOf({ ...place, cwd, platform: "linux" }))].map(
        ({ raw }) => raw.command,
      );
    expect(found({ [place.cwd]: entry("root"), [cwd]: entry("own") })).toEqual(["root"]);
    expect(found({ [cwd]: entry("own") })).toEqual(["own"]);
    expect(found({ [join(place.cwd, "packages")]: entry("neither") })).toEqual([]);
  });

  it("is found under CLAUDE_CONFIG_DIR", async () => {
    place.env.CLAUDE_CONFIG_DIR = join(place.home, "claude");
    place.user("claude/.claude.json", { mcpServers: { s: { command: "x" } } });
    expect((await imported("claude-code")).servers.size).toBe(1);
  });
});

describe("claude-desktop", () => {
  it.each([
    ["linux", ".config/Claude"],
    ["darwin", "Library/Application Support/Claude"],
    ["win32", "AppData/Roaming/Claude"],
    ["win32", "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"],
  ] as const)("gives its servers on %s, their texts taken literally", async (platform, folder) => {
    place.user(`${folder}/claude_desktop_config.json`, {
      mcpServers: { "My Server": { command: "npx", args: ["-y", "${NAME}"], env: { A: "$${X}" } } },
      globalShortcut: "x",
    });
    const view = await imported("claude-desktop", { platform });
    expect(specOf(view, "My-Server")).toMatchObject({
      origin: "user",
      endpoint: { command: "npx", args: ["-y", "${NAME}"], env: { A: "$${X}" } },
    });
  });
});

describe("cursor", () => {
  it("gives the user's and the project's servers, with its placeholders and auth", async () => {
    place.user(".cursor/mcp.json", {
      mcpServers: {
        local: {
          type: "stdio",
          command: "${userHome}/bin/x",
          args: ["${workspaceFolder}", "${workspaceFolderBasename}", "a${pathSeparator}b${/}c", "${LITERAL}"],
          env: { T: "${env:TOKEN}" },
        },
        remote: {
          url: "https://h/${env:NAME}",
          headers: { A: "Bearer ${env:TOKEN}" },
          auth: { CLIENT_ID: "c", CLIENT_SECRET: "${env:TOKEN}", scopes: ["a", "b"] },
        },
        file: { command: "x", envFile: "${workspaceFolder}/.env" },
        off: { command: "x", disabled: true },
      },
    });
    place.project(".cursor/mcp.json", { mcpServers: { here: { command: "x", cwd: "sub" } } });
    const view = await imported("cursor");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      endpoint: {
        command: join(place.home, "bin", "x"),
        args: [place.cwd, "project", `a${sep}b${sep}c`, "${LITERAL}"],
        env: { T: "token-123" },
      },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({
      transport: "auto",
      url: "https://h/name",
      headers: { A: "Bearer token-123" },
      oauth: { clientId: "c", clientSecret: "token-123", scope: "a b" },
    });
    expect(specOf(view, "here")).toMatchObject({ origin: "project", endpoint: { cwd: join(place.cwd, "sub") } });
    expect(errors(view)).toEqual({ file: "envFile is not read; put its variables into env." });
    expect(enabled(view)).not.toContain("off");
  });
});

describe("vscode", () => {
  it.each([
    ["linux", ".config/Code/User"],
    ["darwin", "Library/Application Support/Code/User"],
    ["win32", "AppData/Roaming/Code/User"],
    ["linux", ".config/Code - Insiders/User"],
  ] as const)("is found on %s under %s", async (platform, folder) => {
    place.user(`${folder}/mcp.json`, { servers: { s: { command: "x" } } });
    expect((await imported("vscode", { platform })).servers.get("s")?.origin).toBe("user");
  });

  it("gives its servers, with ${env:X}, and refuses by name what only the editor can do", async () => {
    const path = place.project(
      ".vscode/mcp.json",
      `{
        // with comments
        "inputs": [{ "type": "promptString", "id": "key", "description": "Key", "password": true }],
        "servers": {
          "local": { "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/s.js"], "env": { "T": "\${env:TOKEN}", "N": 1 },
                     "cwd": "\${workspaceFolder}/sub", "dev": { "watch": "**", "debug": { "type": "node" } } },
          "remote": { "type": "http", "url": "https://h/mcp", "headers": { "A": "\${env:TOKEN}" } },
          "events": { "type": "sse", "url": "https://h/sse" },
          "asks": { "command": "x", "env": { "K": "\${input:key}" } },
          "runs": { "command": "\${command:pick}" },
          "file": { "command": "x", "envFile": "\${workspaceFolder}/.env" },
          "boxed": { "command": "x", "sandboxEnabled": true, "sandbox": { "network": {} } },
          "open": { "command": "x", "sandboxEnabled": false },
          "socket": { "type": "http", "url": "unix:///tmp/s.sock" },
        },
      }`,
    );
    const view = await imported("vscode");
    expect(specOf(view, "local")).toMatchObject({
      origin: "project",
      configPath: path,
      endpoint: { args: [`${place.cwd}/s.js`], env: { T: "token-123", N: "1" }, cwd: join(place.cwd, "sub") },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({ transport: "auto", headers: { A: "token-123" } });
    expect(view.servers.get("events")?.transport).toBe("sse");
    expect(view.servers.get("open")?.error).toBeUndefined();
    expect(errors(view)).toEqual({
      asks: `env.K has \${input:key}, which only the editor can fill in; write a variable such as \${env:KEY} instead.`,
      runs: `command has \${command:pick}, which only the editor can fill in; write a variable such as \${env:PICK} instead.`,
      file: "envFile is not read; put its variables into env.",
      boxed: "sandboxEnabled asks for a sandbox, which is not available here.",
      socket: "url must begin with http:// or https://.",
    });
  });

  it("keeps a workspace folder with odd characters as it is", async () => {
    place.project("od${NAME}d/.vscode/mcp.json", { servers: { s: { command: "x", args: ["${workspaceFolder}"] } } });
    place.user(".rpi/mcp.json", { imports: ["vscode"] });
    const cwd = join(place.cwd, "od${NAME}d");
    const view = await place.store().load({ cwd });
    expect(view.servers.get("s")?.spec({ cwd }).endpoint).toMatchObject({ args: [cwd], cwd });
  });
});

describe("codex", () => {
  it("takes over any number of headers that name variables, and keeps nobody waiting", async () => {
    const headers = Array.from({ length: 20_000 }, (_, at) => `h${at} = "TOKEN"`);
    const table = "[mcp_servers.a.env_http_headers]";
    place.user(".codex/config.toml", ['[mcp_servers.a]\nurl = "https://h/"', table, ...headers].join("\n"));
    const began = process.cpuUsage();
    const { endpoint } = specOf(await imported("codex"), "a");
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
    expect(endpoint.kind === "http" && Object.keys(endpoint.headers)).toHaveLength(headers.length);
  });

  it("gives its servers from TOML, with variables by name and its small environment", async () => {
    place.user(
      ".codex/config.toml",
      `
      model = "m"
      mcp_oauth_callback_url = "http://localhost:5000/callback"
      [mcp_servers.local]
      command = "npx"
      args = ["-y", "\${NAME}"]
      env = { A = "\${literal}" }
      env_vars = ["NAME", { name = "TOKEN", source = "local" }]
      cwd = "sub"
      startup_timeout_sec = 20
      tool_timeout_sec = 45.5
      enabled_tools = ["a", "b"]
      disabled_tools = ["b"]
      default_tools_approval_mode = "approve"
      required = true
      [mcp_servers.local.tools.a]
      approval_mode = "approve"

      [mcp_servers.remote]
      url = "https://h/mcp"
      bearer_token_env_var = "TOKEN"
      http_headers = { "X-A" = "1" }
      env_http_headers = { "X-B" = "NAME" }
      scopes = ["a", "b"]
      oauth_resource = "https://r/"
      [mcp_servers.remote.oauth]
      client_id = "c"

      [mcp_servers.inline]
      url = "https://h/mcp"
      bearer_token = "secret"

      [mcp_servers.off]
      command = "x"
      enabled = false
      `,
    );
    place.project(".codex/config.toml", '[mcp_servers.here]\ncommand = "x"\n');
    const view = await imported("codex");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      timeoutSeconds: 45.5,
      includeTools: ["a", "b"],
      excludeTools: ["b"],
      autoApprove: [],
      endpoint: {
        args: ["-y", "${NAME}"],
        env: { A: "${literal}" },
        inheritEnv: ["NAME", "TOKEN"],
        cwd: join(place.cwd, "sub"),
      },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({
      url: "https://h/mcp",
      headers: { Authorization: "Bearer token-123", "X-A": "1", "X-B": "name" },
      oauth: {
        clientId: "c",
        scope: "a b",
        redirectUri: "http://localhost:5000/callback",
        parameters: { resource: "https://r/" },
      },
    });
    expect(view.servers.get("here")?.origin).toBe("project");
    expect(errors(view)).toEqual({ inline: "bearer_token is not read; name a variable with bearer_token_env_var." });
    expect(enabled(view)).not.toContain("off");
  });

  it("is found under CODEX_HOME; broken TOML is a problem with line and column that quotes nothing", async () => {
    place.env.CODEX_HOME = join(place.home, "codex");
    const path = place.user("codex/config.toml", '[mcp_servers.a]\ncommand = "secret\n');
    const view = await imported("codex");
    expect(view.problems.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/config\.toml:2:\d+ is not valid TOML: [a-z ]+\.$/),
    ]);
    expect(view.problems[0]?.configPath).toBe(path);
  });
});

describe("opencode", () => {
  it("gives the servers of its first version", async () => {
    place.user(".config/opencode/opencode.jsonc", {
      $schema: "x",
      mcp: {
        local: {
          type: "local",
          command: ["npx", "-y", "{env:NAME}"],
          environment: { T: "{env:TOKEN}", L: "${X}" },
          cwd: "sub",
          timeout: 5000,
          enabled: true,
        },
        remote: {
          type: "remote",
          url: "https://h/mcp",
          headers: { A: "Bearer {env:TOKEN}" },
          oauth: { clientId: "c", clientSecret: "{env:TOKEN}", scope: "a b", redirectUri: "http://localhost:1/x" },
        },
        plain: { type: "remote", url: "https://h/mcp", oauth: false, enabled: false },
        file: { type: "remote", url: "https://h/mcp", headers: { A: "{file:~/.secret}" } },
        odd: { type: "magic", command: ["x"] },
        usual: { type: "local", command: ["x"], env: { T: "{env:TOKEN}" } },
      },
    });
    place.project("opencode.json", { mcp: { plain: { enabled: true }, here: { type: "local", command: ["x"] } } });
    const view = await imported("opencode");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      timeoutSeconds: 5,
      endpoint: {
        command: "npx",
        args: ["-y", "name"],
        env: { T: "token-123", L: "${X}" },
        cwd: join(place.cwd, "sub"),
      },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({
      headers: { A: "Bearer token-123" },
      oauth: { clientId: "c", clientSecret: "token-123", scope: "a b", redirectUri: "http://localhost:1/x" },
    });
    expect(specOf(view, "usual").endpoint).toMatchObject({ env: { T: "token-123" } });
    expect(specOf(view, "plain").endpoint).toMatchObject({ oauth: false });
    expect(view.servers.get("plain")?.enabled).toBe(true);
    expect(specOf(view, "here")).toMatchObject({ origin: "project", endpoint: { command: "x", args: [] } });
    expect(errors(view)).toEqual({
      file: `headers.A has {file:~/.secret}, which is not read; write a variable such as {env:SECRET} instead.`,
      odd: 'type is "magic"; write stdio, http or sse.',
    });
  });

  it("gives the servers of its second version", async () => {
    place.project(".opencode/opencode.jsonc", {
      mcp: {
        timeout: { request: 1 },
        servers: {
          local: { type: "local", command: ["x"], disabled: true, timeout: { startup: 1000, request: 20_000 } },
          remote: {
            type: "remote",
            url: "https://h/",
            oauth: { client_id: "c", client_secret: "s", callback_port: 99 },
          },
        },
      },
    });
    const view = await imported("opencode");
    expect(view.servers.get("local")).toMatchObject({ enabled: false, origin: "project" });
    expect(specOf(view, "local").timeoutSeconds).toBe(20);
    expect(specOf(view, "remote").endpoint).toMatchObject({
      oauth: { clientId: "c", clientSecret: "s", redirectUri: "http://127.0.0.1:99/mcp/oauth/callback" },
    });
    expect(view.servers.size).toBe(2);
  });

  it("may have a server named servers", async () => {
    place.project("opencode.json", { mcp: { servers: { type: "local", command: ["x"] } } });
    expect([...(await imported("opencode")).servers.keys()]).toEqual(["servers"]);
  });
});

describe("copilot", () => {
  it("gives the user's and the project's servers, with our variables, its milliseconds and its lists of tools", async () => {
    place.user(".copilot/mcp-config.json", {
      mcpServers: {
        local: {
          type: "local",
          command: "npx",
          args: ["-y", "${NAME}"],
          env: { T: "${TOKEN}" },
          tools: ["*"],
          timeout: 9000,
        },
        remote: { type: "http", url: "https://h/mcp", headers: { A: "Bearer ${TOKEN}" }, tools: ["a", "b"] },
        events: { type: "sse", url: "https://h/sse", tools: ["*"] },
      },
    });
    place.project(".github/mcp.json", { mcpServers: { here: { command: "x" } } });
    const view = await imported("copilot");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      timeoutSeconds: 9,
      endpoint: { kind: "stdio", command: "npx", args: ["-y", "name"], env: { T: "token-123" } },
    });
    expect(specOf(view, "local").includeTools).toBeUndefined();
    expect(specOf(view, "remote")).toMatchObject({
      includeTools: ["a", "b"],
      endpoint: { transport: "http", headers: { A: "Bearer token-123" } },
    });
    expect(view.servers.get("events")?.transport).toBe("sse");
    expect(view.servers.get("here")?.origin).toBe("project");
    expect(errors(view)).toEqual({});
  });

  it("is found under COPILOT_HOME", async () => {
    place.env.COPILOT_HOME = join(place.home, "pilot");
    place.user("pilot/mcp-config.json", { mcpServers: { s: { command: "x" } } });
    expect((await imported("copilot")).servers.size).toBe(1);
  });
});

describe("kiro", () => {
  it("gives the user's and the project's servers, without the approvals it remembers", async () => {
    place.user(".kiro/settings/mcp.json", {
      mcpServers: {
        local: {
          command: "uvx",
          args: ["x@latest"],
          env: { T: "${TOKEN}" },
          autoApprove: ["read"],
          disabledTools: ["write"],
          timeout: 120_000,
        },
        remote: { url: "https://h/mcp", headers: { A: "${TOKEN}" }, disabled: true },
      },
    });
    place.project(".kiro/settings/mcp.json", { mcpServers: { here: { command: "x" } } });
    const view = await imported("kiro");
    expect(specOf(view, "local")).toMatchObject({
      timeoutSeconds: 120,
      excludeTools: ["write"],
      autoApprove: [],
      endpoint: { command: "uvx", env: { T: "token-123" } },
    });
    expect(specOf(view, "here")).toMatchObject({ origin: "project", autoApprove: [] });
    expect(enabled(view)).toEqual(["local", "here"]);
  });
});

describe("cline", () => {
  const settings = "saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

  it.each([
    ["linux", `.config/Code/User/globalStorage/${settings}`],
    ["darwin", `Library/Application Support/Code/User/globalStorage/${settings}`],
    ["win32", `AppData/Roaming/Code/User/globalStorage/${settings}`],
    ["linux", `.config/Code - Insiders/User/globalStorage/${settings}`],
    ["linux", ".cline/data/settings/cline_mcp_settings.json"],
  ] as const)("gives its servers on %s from %s, their texts taken literally", async (platform, file) => {
    place.user(file, {
      mcpServers: {
        local: { command: "npx", args: ["${NAME}"], timeout: 60, alwaysAllow: ["a"], disabled: false },
        remote: { type: "streamableHttp", url: "https://h/mcp" },
        old: { transportType: "sse", url: "https://h/sse" },
        unsaid: { url: "https://h/either" },
      },
    });
    const view = await imported("cline", { platform });
    expect(specOf(view, "local")).toMatchObject({
      timeoutSeconds: 60,
      autoApprove: [],
      endpoint: { args: ["${NAME}"] },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({ transport: "http" });
    expect(specOf(view, "old").endpoint).toMatchObject({ transport: "sse" });
    expect(specOf(view, "unsaid").endpoint).toMatchObject({ transport: "auto" });
    expect(errors(view)).toEqual({});
  });
});

describe("roo", () => {
  it("gives the user's and the project's servers, with the editor's placeholders", async () => {
    place.user(".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", {
      mcpServers: {
        local: {
          command: "x",
          args: ["${workspaceFolder}"],
          env: { T: "${env:TOKEN}" },
          disabledTools: ["a"],
          timeout: 30,
        },
      },
    });
    place.project(".roo/mcp.json", { mcpServers: { here: { type: "streamable-http", url: "https://h/mcp" } } });
    const view = await imported("roo", { platform: "linux" });
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      timeoutSeconds: 30,
      excludeTools: ["a"],
      endpoint: { args: [place.cwd], env: { T: "token-123" } },
    });
    expect(view.servers.get("here")).toMatchObject({ origin: "project", transport: "http" });
  });
});

describe("lm-studio", () => {
  it("gives its servers, their texts taken literally", async () => {
    place.user(".lmstudio/mcp.json", {
      mcpServers: { remote: { url: "https://h/mcp", headers: { A: "Bearer ${X}" } }, local: { command: "x" } },
    });
    const view = await imported("lm-studio");
    expect(specOf(view, "remote").endpoint).toMatchObject({ url: "https://h/mcp", headers: { A: "Bearer ${X}" } });
    expect(specOf(view, "local").origin).toBe("user");
  });
});

describe("windsurf", () => {
  it("gives its servers, with serverUrl, disabledTools and its placeholders", async () => {
    place.user(".codeium/windsurf/mcp_config.json", {
      mcpServers: {
        local: {
          command: "npx",
          args: ["${env:NAME}"],
          env: { T: "${env:TOKEN}" },
          disabledTools: ["x"],
          alwaysAllow: ["y"],
        },
        remote: { serverUrl: "https://h/${env:NAME}", headers: { A: "${env:TOKEN}" } },
        other: { url: "https://h/sse", disabled: true },
        file: { serverUrl: "https://h/", headers: { A: "${file:/secret}" } },
      },
    });
    const view = await imported("windsurf");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      excludeTools: ["x"],
      autoApprove: [],
      endpoint: { args: ["name"], env: { T: "token-123" } },
    });
    expect(specOf(view, "remote").endpoint).toMatchObject({ url: "https://h/name", headers: { A: "token-123" } });
    expect(view.servers.get("other")?.enabled).toBe(false);
    expect(errors(view)).toEqual({
      file: `headers.A has \${file:/secret}, which is not read; write a variable such as \${env:SECRET} instead.`,
    });
  });
});

describe("zed", () => {
  it.each([
    ["linux", ".config/zed"],
    ["darwin", ".config/zed"],
    ["win32", "AppData/Roaming/Zed"],
  ] as const)("gives its context servers on %s, their texts taken literally", async (platform, folder) => {
    place.user(
      `${folder}/settings.json`,
      `// Zed settings
      {
        "theme": "One Dark",
        "context_servers": {
          "local": { "source": "custom", "enabled": true, "remote": false, "command": "npx", "args": ["\${NAME}"], "env": { "A": "1" }, "timeout": 30 },
          "nested": { "command": { "path": "/bin/x", "args": ["a"], "env": null, "timeout": 900 }, "settings": {} },
          "remote": { "url": "https://h/mcp", "headers": { "A": "b" }, "timeout": 10, "oauth": { "client_id": "c", "client_secret": "s" } },
          "off": { "enabled": false, "command": "x", "args": [] },
          "extension": { "source": "extension", "settings": { "token": "t" } },
        },
      }`,
    );
    place.project(".zed/settings.json", { context_servers: { here: { command: "x", args: [] } } });
    const view = await imported("zed", { platform });
    expect(specOf(view, "local")).toMatchObject({
      timeoutSeconds: 30,
      endpoint: { args: ["${NAME}"], env: { A: "1" } },
    });
    expect(specOf(view, "nested")).toMatchObject({ timeoutSeconds: 300, endpoint: { command: "/bin/x", args: ["a"] } });
    expect(specOf(view, "remote")).toMatchObject({
      timeoutSeconds: 10,
      endpoint: { headers: { A: "b" }, oauth: { clientId: "c", clientSecret: "s" } },
    });
    expect(view.servers.get("here")?.origin).toBe("project");
    expect(enabled(view)).not.toContain("off");
    expect(errors(view)).toEqual({
      extension: "the entry is provided by a Zed extension, which only Zed can start.",
    });
  });
});

describe("gemini", () => {
  it("finds each server in its lists at once, however long they are", async () => {
    let compared = 0;
    const names = Array.from({ length: 100 }, (_, at) => `s${at}`);
    const excluded = new Proxy(names, {
      get: (list, key, self) => {
        if (typeof key === "string" && /^\d/.test(key)) compared++;
        return Reflect.get(list, key, self);
      },
    });
    const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "x" }]));
    const servers = [...gemini.servers({ mcpServers, mcp: { excluded } }, placeOf({ ...place, platform: "linux" }))];
    expect(servers.every(({ raw }) => (raw as { enabled?: boolean }).enabled === false)).toBe(true);
    expect(compared).toBeLessThanOrEqual(2 * names.length);
  });

  it("gives its servers, with httpUrl, $X and milliseconds, as far as they are allowed", async () => {
    place.user(".gemini/settings.json", {
      mcp: { allowed: ["local", "stream", "events", "google", "tcp"], excluded: ["events"] },
      mcpServers: {
        local: {
          command: "x",
          args: ["$NAME", "${NAME}", "${NO:-d}", "$5"],
          env: { T: "$TOKEN" },
          cwd: "./sub",
          timeout: 600_000,
          trust: true,
          includeTools: ["a"],
          excludeTools: ["b"],
          description: "d",
        },
        stream: {
          httpUrl: "https://h/mcp",
          headers: { A: "Bearer $TOKEN" },
          oauth: {
            enabled: true,
            clientId: "c",
            clientSecret: "$TOKEN",
            scopes: ["a", "b"],
            audiences: ["api"],
            redirectUri: "http://localhost:2/",
          },
        },
        events: { url: "https://h/sse", type: "sse" },
        google: { httpUrl: "https://h/", authProviderType: "google_credentials" },
        tcp: { tcp: "ws://h/" },
        unlisted: { command: "x" },
      },
    });
    place.project(".gemini/settings.json", { mcpServers: { here: { url: "https://h/" } } });
    const view = await imported("gemini");
    expect(specOf(view, "local")).toMatchObject({
      origin: "user",
      timeoutSeconds: 300,
      includeTools: ["a"],
      excludeTools: ["b"],
      autoApprove: [],
      endpoint: { args: ["name", "name", "d", "$5"], env: { T: "token-123" }, cwd: join(place.cwd, "sub") },
    });
    expect(specOf(view, "stream").endpoint).toMatchObject({
      transport: "http",
      headers: { A: "Bearer token-123" },
      oauth: {
        clientId: "c",
        clientSecret: "token-123",
        scope: "a b",
        parameters: { audience: "api" },
        redirectUri: "http://localhost:2/",
      },
    });
    expect(view.servers.get("events")?.transport).toBe("sse");
    expect(specOf(view, "here")).toMatchObject({ origin: "project", endpoint: { transport: "auto" } });
    expect(errors(view)).toEqual({
      google: 'authProviderType is "google_credentials", which only Gemini can do.',
      tcp: "tcp names a WebSocket, which is not an MCP transport.",
    });
    expect(enabled(view)).toEqual(["local", "stream", "google", "tcp", "here"]);
  });
});

describe("imports", () => {
  const cursor = (command: string) => ({ mcpServers: { s: { command }, only: { command } } });

  it("are read only when they are named", async () => {
    place.user(".cursor/mcp.json", cursor("x"));
    place.user(".rpi/mcp.json", { mcpServers: {} });
    expect((await place.load()).servers.size).toBe(0);
  });

  it("rank below every file of our own, the later named above the earlier", async () => {
    place.user(".cursor/mcp.json", cursor("cursor"));
    place.user(".gemini/settings.json", { mcpServers: { s: { command: "gemini" }, only: { command: "gemini" } } });
    place.user(".config/mcp/mcp.json", { mcpServers: { s: { command: "ours" } } });
    place.user(".rpi/mcp.json", { imports: ["cursor", "gemini"] });
    const view = await place.load();
    expect(specOf(view, "s").endpoint).toMatchObject({ command: "ours" });
    expect(specOf(view, "only").endpoint).toMatchObject({ command: "gemini" });
  });

  it("can be switched off by a file of our own", async () => {
    place.user(".cursor/mcp.json", cursor("x"));
    place.user(".rpi/mcp.json", { imports: ["cursor"], mcpServers: { s: { enabled: false } } });
    const view = await place.load();
    expect(view.servers.get("s")).toMatchObject({
      enabled: false,
      configPath: join(place.home, ".cursor", "mcp.json"),
    });
  });

  it("that a project asks for are the project's, even from the user's folders", async () => {
    place.user(".cursor/mcp.json", cursor("x"));
    place.project(".mcp.json", { imports: ["cursor"] });
    expect((await place.load()).servers.get("s")?.origin).toBe("project");
    place.user(".rpi/mcp.json", { imports: ["cursor"] });
    expect((await place.load()).servers.get("s")?.origin).toBe("user");
  });

  it("of an explicit file are the user's or the project's", async () => {
    place.user(".cursor/mcp.json", cursor("x"));
    place.project(".cursor/mcp.json", { mcpServers: { p: { command: "x" } } });
    const { servers } = await place.explicit({ imports: ["cursor"], mcpServers: { e: { command: "x" } } });
    expect(["e", "s", "p"].map((name) => servers.get(name)?.origin)).toEqual(["explicit", "user", "project"]);
  });

  it("stand in a file that is known to have been read, also when they stand there no more, but not when nobody knows", async () => {
    const path = place.user(".cursor/mcp.json", cursor("x"));
    expect((await imported("cursor")).files).toContain(path);
    place.user(".cursor/mcp.json", { mcpServers: {} });
    expect((await imported("cursor")).files).toContain(path);
    place.user(".cursor/mcp.json", "{");
    expect((await imported("cursor")).files).not.toContain(path);
  });

  onPosix("from a file that every user may change are not the user's", async () => {
    const path = place.user(".cursor/mcp.json", cursor("x"));
    chmodSync(path, 0o666);
    const view = await imported("cursor");
    expect(view.servers.get("s")?.origin).toBe("project");
    expect(view.problems.map(({ configPath }) => configPath)).toEqual([path]);
  });

  it("from a project's file may be as large as one of ours, from a user's much larger", async () => {
    const large = { ...cursor("x"), history: "x".repeat(2_000_000) };
    place.user(".cursor/mcp.json", large);
    const path = place.project(".cursor/mcp.json", large);
    const view = await imported("cursor");
    expect(view.servers.get("s")?.origin).toBe("user");
    expect(view.problems.map(({ error }) => error.message)).toEqual([
      `Cannot read the config file ${path}: it has more than 1048576 bytes.`,
    ]);
  });

  it("of unknown names are reported by name and hide nothing else", async () => {
    place.user(".cursor/mcp.json", cursor("x"));
    const path = place.user(".rpi/mcp.json", { imports: ["emacs", "__proto__", "./other.json", "cursor", "cursor"] });
    const view = await place.load();
    const known = DIALECTS.join(", ");
    expect(view.problems.map(({ error }) => error.message)).toEqual(
      ["emacs", "__proto__", "./other.json"].map(
        (name) => `${path}: imports names "${name}", which is not known; known are ${known}.`,
      ),
    );
    expect(view.servers.size).toBe(2);
  });

  it("do not lead further: a file of another tool imports nothing", async () => {
    place.user(".cursor/mcp.json", { imports: ["gemini", "cursor"], ...cursor("x") });
    place.user(".gemini/settings.json", { imports: ["cursor"], mcpServers: { g: { command: "x" } } });
    expect([...(await imported("cursor")).servers.keys()]).toEqual(["s", "only"]);
  });

  it("that are broken or no objects are problems", async () => {
    const path = place.user(".cursor/mcp.json", "{");
    expect((await imported("cursor")).problems.map(({ configPath }) => configPath)).toEqual([path]);
    place.user(".cursor/mcp.json", "[]");
    expect((await imported("cursor")).problems[0]?.error.message).toBe(`${path}: must be an object.`);
    place.user(".cursor/mcp.json", { mcpServers: { s: null, t: "x" } });
    expect(Object.keys(errors(await imported("cursor")))).toEqual(["s", "t"]);
  });

  it("are noticed when they change, appear and are named", async () => {
    const store = place.store();
    const load = () => store.load({ cwd: place.cwd });
    const own = place.user(".rpi/mcp.json", { imports: ["cursor"] });
    expect((await load()).servers.size).toBe(0);
    const path = place.user(".cursor/mcp.json", cursor("1"));
    const first = await load();
    expect(specOf(first, "s").endpoint).toMatchObject({ command: "1" });
    expect(await load()).toBe(first);
    writeFileSync(path, JSON.stringify(cursor("22")));
    expect(specOf(await load(), "s").endpoint).toMatchObject({ command: "22" });
    writeFileSync(own, "{}");
    expect((await load()).servers.size).toBe(0);
  });

  it("have texts that only look like a variable of pi-mcp-adapter", async () => {
    place.user(".cursor/mcp.json", { mcpServers: { s: { command: "x", env: { A: "$env:HOME" } } } });
    expect(specOf(await imported("cursor"), "s").endpoint).toMatchObject({ env: { A: "$env:HOME" } });
  });

  it("may give null for what they leave out", async () => {
    place.user(".cursor/mcp.json", { mcpServers: { s: { command: "x", url: null, env: null, envFile: null } } });
    expect(specOf(await imported("cursor"), "s").endpoint).toMatchObject({ command: "x", env: {} });
  });

  it("bring names into our characters and keep them apart", async () => {
    place.user(".cursor/mcp.json", {
      mcpServers: { "a b": { command: "1" }, "a.b": { command: "2" }, "a-b": { command: "3" } },
    });
    const view = await imported("cursor");
    expect([...view.servers.keys()]).toEqual(["a-b", "a-b-2", "a-b-3"]);
  });

  it("refuse a variable right behind a $, which would be taken for a literal", async () => {
    place.user(".cursor/mcp.json", { mcpServers: { s: { command: "x", args: ["$${env:TOKEN}"] } } });
    expect(errors(await imported("cursor")).s).toContain("args[0] has ${env:TOKEN}, which follows a $");
  });

  it("may be bigger than files of our own, but not without end", async () => {
    place.user(".claude.json", { history: "x".repeat(2 * 1024 * 1024), mcpServers: { s: { command: "x" } } });
    expect((await imported("claude-code")).servers.size).toBe(1);
    place.user(".claude.json", { history: "x".repeat(17 * 1024 * 1024), mcpServers: {} });
    expect((await imported("claude-code")).problems[0]?.error.message).toContain("it has more than 16777216 bytes");
  });
});

describe("findImports", () => {
  it("tells what there is and where, whatever our own files say, and toOurFormat writes it down", async () => {
    const path = place.user(".cursor/mcp.json", {
      mcpServers: { "a b": { command: "x", args: ["${env:TOKEN}"] }, bad: { command: "${input:x}" } },
    });
    const broken = place.project(".vscode/mcp.json", "{");
    const toml = place.user(".codex/config.toml", '[mcp_servers.c]\nurl = "https://h/"\n');
    const { cwd, env } = place;
    const found = await findImports({ cwd, env, platform: "linux" });
    expect(found.map(({ dialect, path, level }) => [dialect, path, level])).toEqual([
      ["cursor", path, "user"],
      ["vscode", broken, "project"],
      ["codex", toml, "user"],
    ]);
    expect(found[1]?.problems[0]?.error.situation).toBe("config.syntax");
    expect(found[0]?.servers.map(({ name, refused }) => [name, refused?.situation])).toEqual([
      ["a-b", undefined],
      ["bad", "config.entry"],
    ]);
    const written = toOurFormat(found.flatMap(({ servers }) => servers));
    expect(written).toEqual({ mcpServers: { "a-b": { command: "x", args: ["${TOKEN}"] }, c: { url: "https://h/" } } });
    const view = await place.explicit(written);
    expect(specOf(view, "a-b").endpoint).toMatchObject({ args: ["token-123"] });
    expect(errors(view)).toEqual({});
  });

  it("finds nothing in an empty home", async () => {
    const { cwd, env } = place;
    expect(await findImports({ cwd, env, platform: "darwin" })).toEqual([]);
  });

  it("keeps a server named __proto__", () => {
    const { mcpServers } = toOurFormat([{ name: "__proto__", raw: { command: "x" } }]);
    expect(JSON.stringify(mcpServers)).toBe('{"__proto__":{"command":"x"}}');
  });
});
