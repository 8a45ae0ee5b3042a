import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import type { ConfigView } from "../../src/config/store.ts";
import { ConfigHome, failure } from "../support/config-home.ts";

const place = new ConfigHome();
afterAll(() => place.remove());

/** What is wrong with a file of ours that holds this, after its path. */
async function told(content: unknown): Promise<readonly string[]> {
  const path = place.user(".rpi/mcp.json", content);
  return messages(await place.load()).map((message) => message.replace(path, "FILE"));
}

function messages(view: ConfigView): readonly string[] {
  const broken = [...view.servers.values()].flatMap(({ error }) => error ?? []);
  return [...view.problems.map(({ error }) => error), ...broken].map(({ message }) => message);
}

/** Why an entry cannot be started, without server and file. */
async function refusal(raw: unknown): Promise<string> {
  const entry = await place.entry(raw);
  const text = entry.error?.message ?? (await failure(() => entry.spec({ cwd: place.cwd })));
  return text.slice(text.indexOf("explicit.json: ") + "explicit.json: ".length);
}

const ONE = { command: "npx", args: ["-y", "x"] };

describe("what another program calls the list of servers", () => {
  it.each([
    [{ inputs: [], servers: { a: ONE } }, '"inputs", "servers"', 'write "mcpServers" in place of "servers"'],
    [{ mcp_servers: { a: ONE } }, '"mcp_servers"', 'write "mcpServers" in place of "mcp_servers"'],
    [{ "amp.mcpServers": { a: ONE } }, '"amp.mcpServers"', 'write "mcpServers" in place of "amp.mcpServers"'],
    [{ context_servers: { a: ONE } }, '"context_servers"', 'write "mcpServers" in place of "context_servers"'],
    [{ mcp: { a: ONE } }, '"mcp"', 'write "mcpServers" in place of "mcp"'],
    [{ "mcp.servers": { a: ONE } }, '"mcp.servers"', 'write "mcpServers" in place of "mcp.servers"'],
    [{ mcp: { inputs: [], servers: { a: ONE } } }, '"mcp"', 'write "mcpServers" in place of "mcp" and "servers"'],
    [
      { mcp: { a: { type: "local", command: ["npx"] } } },
      '"mcp"',
      'OpenCode\'s are written differently: "imports": ["opencode"] reads them from its own file',
    ],
    [
      { context_servers: { a: { command: { path: "npx" } } } },
      '"context_servers"',
      'Zed\'s are written differently: "imports": ["zed"] reads them from its own file',
    ],
    [
      { user_config: {}, server: { type: "node", mcp_config: ONE } },
      '"user_config", "server"',
      'write what "mcp_config" holds as {"mcpServers": {"NAME": {…}}}',
    ],
    [{ a: ONE, "b c": { url: "http://x/" } }, '"a", "b c"', 'write {"mcpServers": {"a": {…}, …}}'],
    [ONE, '"command", "args"', 'a server has a name: write {"mcpServers": {"NAME": {…}}}'],
    [{ type: "http", url: "http://x/" }, '"type", "url"', 'a server has a name: write {"mcpServers": {"NAME": {…}}}'],
  ])("%j is told with what to write", async (content, names, advice) => {
    expect(await told(content)).toEqual([
      `FILE: has no "mcpServers", only ${names}; servers are read from "mcpServers": ${advice}.`,
    ]);
  });

  it("is told where a whole file was pasted among the servers", async () => {
    expect(await told({ mcpServers: { mcpServers: { a: ONE } } })).toEqual([
      'Server "mcpServers" in FILE: the entry holds servers; write them one level up.',
    ]);
  });

  it("is told where one server was pasted without its name", async () => {
    expect(await told({ mcpServers: ONE })).toEqual(
      ["command", "args"].map(
        (name) =>
          `Server "${name}" in FILE: the entry must be an object with command or url; a server has a name: write {"mcpServers": {"NAME": {"${name}": …}}}.`,
      ),
    );
  });
});

describe("a name that is none here", () => {
  it.each([
    ["awslabs.core-mcp-server", '; write "awslabs-core-mcp-server"'],
    ["Framelink MCP for Figma", '; write "Framelink-MCP-for-Figma"'],
    ["@playwright/mcp", '; write "playwright-mcp"'],
    ["高德", '; "高" is U+9AD8'],
    ["Figma – work", '; "–" is U+2013; write "Figma-work"'],
    // As one well-known README has it, with a letter that only looks like a C.
    ["\u0421ontext7", '; "\u0421" is U+0421'],
    ["🎨", '; "🎨" is U+1F3A8'],
  ])("%j is told with one that is", async (name, advice) => {
    expect(await told({ mcpServers: { [name]: ONE } })).toEqual([
      `Server "${name}" in FILE: the entry must have only ASCII letters, digits, - and _ in its name${advice}.`,
    ]);
  });
});

describe("a name that is none here, and long,", () => {
  it.each(["-", " ", "–", "a-", "\u0421"])("of %j takes no time to speak of", async (text) => {
    const name = `a${text.repeat(60_000)}b!c`;
    const began = process.cpuUsage();
    const [message = ""] = await told({ mcpServers: { [name]: ONE } });
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
    expect(message).toContain("must have only ASCII letters, digits, - and _ in its name");
    expect(message.length).toBeLessThan(1000);
  });
});

describe("a text that is no JSON", () => {
  it.each([
    ["{\n  “mcpServers”: {}}", "2:3", 'a quote of another kind; names and strings are in "'],
    ["{'mcpServers': {}}", "1:2", 'a quote of another kind; names and strings are in "'],
    ['{"mcpServers": {"a": {"command": "docker”}}}', "1:34", 'a string without its closing quote: it ends in "'],
    ['{\n\u00a0 "mcpServers": {}}', "2:1", "a space of another kind, as web pages have; write a plain space"],
    ['{\u200b"mcpServers": {}}', "1:2", "a space of another kind, as web pages have; write a plain space"],
    [
      '{"mcpServers": {"a": {"command": "x", "disabled": False}}}',
      "1:51",
      "text that is not in double quotes; write true, false and null in lower case",
    ],
    [
      '// part of a file\n"mcpServers": {"a": {"command": "x"}}',
      "2:13",
      "something follows its end; the file must begin with { and end with }",
    ],
    [
      "claude mcp add a -- npx -y x",
      "1:1",
      "text that is not in double quotes; the file must begin with { and end with }",
    ],
    [
      '[mcp_servers.a]\ncommand = "npx"',
      "1:2",
      "text that is not in double quotes; the file must begin with { and end with }",
    ],
  ])("%j is told with what it should be", async (text, position, reason) => {
    expect(await told(text)).toEqual([`FILE:${position} is not valid JSON: ${reason}.`]);
  });
});

describe("a variable that the entry itself gives its program", () => {
  const remote = {
    command: "npx",
    args: ["mcp-remote", "https://x/sse", "--header", "Authorization: Bearer ${AUTH_TOKEN}"],
    env: { AUTH_TOKEN: "of-the-entry" },
  };

  it("is filled in in its arguments, where the environment has none of that name", async () => {
    expect((await place.spec(remote)).endpoint).toMatchObject({
      args: ["mcp-remote", "https://x/sse", "--header", "Authorization: Bearer of-the-entry"],
      env: { AUTH_TOKEN: "of-the-entry" },
    });
    expect((await place.spec(remote)).secrets).toContain("of-the-entry");
    expect((await place.spec(remote)).variables.size).toBe(0);
  });

  it("comes after one of the environment, and before a default", async () => {
    const other = { ...remote, args: ["${AUTH_TOKEN:-default}", "${NOWHERE:-default}"] };
    expect((await place.spec(other)).endpoint).toMatchObject({ args: ["of-the-entry", "default"] });
    const entry = await place.entry(other);
    entry.spec({ cwd: place.cwd });
    place.env["AUTH_TOKEN"] = "of-the-environment";
    expect(entry.spec({ cwd: place.cwd }).endpoint).toMatchObject({ args: ["of-the-environment", "default"] });
    delete place.env["AUTH_TOKEN"];
  });

  it("is not looked through again, and is none of the entry's other fields", async () => {
    place.env["HELD"] = "${NOWHERE}";
    const entry = { command: "x", args: ["${A}"], env: { A: "${HELD}" } };
    expect((await place.spec(entry)).endpoint).toMatchObject({ args: ["${NOWHERE}"] });
    expect(await refusal({ command: "x", env: { A: "1", B: "${A}" } })).toContain("env.B uses ${A}, which is not set.");
  });
});

describe("a variable of another program", () => {
  it.each([
    ["${input:github-token}", "GITHUB_TOKEN"],
    ["${input:apiKey}", "API_KEY"],
    ["${command:pick.one}", "PICK_ONE"],
    ["${file:/run/secrets/a key}", "A_KEY"],
    ["${user_config.api_key}", "API_KEY"],
    ["${input:1}", "VAR"],
  ])("%j is told with one to write", async (text, variable) => {
    expect(await refusal({ command: "x", env: { A: text } })).toBe(
      `env.A has "${text}", which only another program fills in; write a variable such as \${${variable}}.`,
    );
  });

  it.each([
    ["${workspaceFolder}", "a server without cwd starts in that folder: write a path relative to it"],
    ["${userHome}", "write ${HOME}"],
    ["${extensionPath}", "write the path of that folder"],
    ["${__dirname}", "write the path of that folder"],
    ["${CLAUDE_PLUGIN_ROOT}", "write the path of that folder"],
  ])("%j is told with what to write", async (text, advice) => {
    expect(await refusal({ command: "x", args: [`${text}/y`] })).toBe(
      `args[0] uses ${text}, which is not set: only another program fills it in; ${advice}.`,
    );
  });

  it("is used where the environment has it", async () => {
    Object.assign(place.env, { workspaceFolder: "/w" });
    const { endpoint } = await place.spec({ command: "x", args: ["${workspaceFolder}/y"] });
    expect(endpoint).toMatchObject({ args: ["/w/y"] });
  });

  it.each([
    [{ command: "x", env: { A: "$API_TOKEN" } }, "env.A", "$VAR"],
    [{ url: "http://x/", headers: { Authorization: "Bearer $API_TOKEN" } }, "headers.Authorization", "$VAR"],
    [{ url: "http://x/", headers: { "X-Key": "{env:API_TOKEN}" } }, "headers.X-Key", "{env:VAR}"],
    [{ url: "http://x/?key=$API_TOKEN" }, "url", "$VAR"],
    [{ command: "x", args: ["--key={env:API_TOKEN}"] }, "args[0]", "{env:VAR}"],
  ])(
    "in %j is told as passed on as it stands, which does not keep the server from starting",
    async (raw, field, as) => {
      expect(await told({ mcpServers: { a: raw } })).toEqual([
        `Server "a" in FILE: ${field} has a variable written as ${as}, which is passed on as it stands; write \${VAR}.`,
      ]);
      expect((await place.load()).servers.get("a")?.error).toBeUndefined();
    },
  );

  it.each([
    "pa$$WORD",
    "$2b$10$abcDEF",
    "${API_TOKEN:-x}",
    "$env:API_TOKEN",
    "$${API_TOKEN}",
    "a$WORD",
    "$Word",
    "$US",
  ])("is not seen in %j", async (text) => {
    expect(await told({ mcpServers: { a: { command: "x", env: { A: text }, args: ["$HOME_DIR"] } } })).toEqual([]);
  });

  it("is told a hundred times for one file, and keeps nobody waiting for more", async () => {
    const env = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [at.toString(36), "$ABC"]));
    const began = process.cpuUsage();
    expect(
      await told({ mcpServers: { a: { command: "x", env }, b: { command: "x", env: { A: "$ABC" } } } }),
    ).toHaveLength(100);
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });
});

describe("a field of another program", () => {
  it.each([
    [{ tools: ["get_issue"] }, 'tools is not read; write "includeTools"'],
    [{ alwaysAllow: ["get_issue"] }, 'alwaysAllow is not read; write "autoApprove"'],
    [{ working_directory: "/x" }, 'working_directory is not read; write "cwd"'],
    [{ envFile: "${workspaceFolder}/.env" }, "envFile is not read; put its variables into env"],
  ])("%j of a program is told", async (fields, reason) => {
    expect(await told({ mcpServers: { a: { ...ONE, ...fields } } })).toEqual([`Server "a" in FILE: ${reason}.`]);
  });

  it.each([
    [{ requestInit: { headers: { A: "b" } } }, 'requestInit is not read; write "headers"'],
    [{ bearer_token_env_var: "TOKEN" }, 'bearer_token_env_var is not read; write "bearerTokenEnv"'],
  ])("%j of a remote server is told", async (fields, reason) => {
    expect(await told({ mcpServers: { a: { url: "http://x/", ...fields } } })).toEqual([
      `Server "a" in FILE: ${reason}.`,
    ]);
  });

  it.each([{ tools: ["*"] }, { tools: { a: { name: "b" } } }, { tools: [] }, { alwaysAllow: [] }, { envFile: null }])(
    "that changes nothing is passed over: %j",
    async (fields) => {
      expect(await told({ mcpServers: { a: { ...ONE, ...fields } } })).toEqual([]);
    },
  );

  it("is told beside servers that are pasted as they are for Cline, Kiro and Claude", async () => {
    const path = join(place.home, ".rpi", "mcp.json");
    place.user(
      ".rpi/mcp.json",
      '{ "mcpServers": { "a": { "command": "uvx", "disabled": false, "autoApprove": [], }, } } // end',
    );
    expect(messages(await place.load())).toEqual([]);
    expect((await place.load()).files).toEqual([path]);
  });
});
