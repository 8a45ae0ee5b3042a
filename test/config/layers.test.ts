import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ConfigView } from "../../src/config/store.ts";
import type { StdioEndpoint } from "../../src/server-spec.ts";
import { ConfigHome, failure } from "../support/config-home.ts";
import { itLinksFiles } from "../support/file-links.ts";

let place: ConfigHome;
beforeEach(() => {
  place = new ConfigHome();
});
afterEach(() => place.remove());

const server = (command: string, fields: object = {}) => ({ mcpServers: { s: { command, ...fields } } });

function specOf(view: ConfigView, name = "s") {
  const entry = view.servers.get(name);
  if (entry === undefined) throw new Error(`${name} is not listed.`);
  return entry.spec({ cwd: place.cwd });
}

function commandOf(view: ConfigView): string {
  return (specOf(view).endpoint as StdioEndpoint).command;
}

const messages = (view: ConfigView): string[] => view.problems.map(({ error }) => error.message);

describe("the layers", () => {
  it("rank from the user's files to the project's, and each entry remembers its file", async () => {
    const store = place.store();
    const files = [
      () => place.user(".config/mcp/mcp.json", server("1")),
      () => place.user(".rpi/mcp.json", server("2")),
      () => place.user(".pi/agent/mcp.json", server("3")),
      () => place.project(".mcp.json", server("4")),
      () => place.project(".pi/mcp.json", server("5")),
      () => place.project(".rpi/mcp.json", server("6")),
    ];
    for (const [at, write] of files.entries()) {
      const path = write();
      const view = await store.load({ cwd: place.cwd });
      expect(commandOf(view)).toBe(String(at + 1));
      expect(view.servers.get("s")).toMatchObject({ configPath: path, origin: at < 3 ? "user" : "project" });
      expect(specOf(view)).toMatchObject({ configPath: path, origin: at < 3 ? "user" : "project" });
      expect(view.files).toHaveLength(at + 1);
      expect(view.problems).toEqual([]);
    }
  });

  it("may all be missing", async () => {
    expect(await place.load()).toEqual({ servers: new Map(), problems: [], files: [], isComplete: true });
  });

  it("find Pi's file where Pi keeps it", async () => {
    place.user("elsewhere/mcp.json", server("moved"));
    place.user(".pi/agent/mcp.json", server("default"));
    expect(commandOf(await place.load())).toBe("default");
    place.env.PI_CODING_AGENT_DIR = join(place.home, "elsewhere");
    const view = await place.load();
    expect([commandOf(view), view.servers.get("s")?.origin]).toEqual(["moved", "user"]);
  });

  it("find the first one under XDG_CONFIG_HOME, if that is absolute", async () => {
    place.user("elsewhere/mcp/mcp.json", server("xdg"));
    place.user(".config/mcp/mcp.json", server("default"));
    place.env.XDG_CONFIG_HOME = join(place.home, "elsewhere");
    expect(commandOf(await place.load())).toBe("xdg");
    place.env.XDG_CONFIG_HOME = "elsewhere";
    expect(commandOf(await place.load())).toBe("default");
  });

  it("are added up", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { a: { command: "a" }, b: { command: "b" } } });
    place.project(".mcp.json", { mcpServers: { b: { url: "http://h/" }, c: { command: "c" } } });
    const { servers } = await place.load();
    expect([...servers.values()].map(({ name, transport, origin }) => [name, transport, origin])).toEqual([
      ["a", "stdio", "user"],
      ["b", "http", "project"],
      ["c", "stdio", "project"],
    ]);
  });

  it("with the home folder as working directory count a user's file once, as the user's", async () => {
    place.user(".rpi/mcp.json", server("x"));
    const view = await place.store().load({ cwd: place.home });
    expect(view.servers.get("s")?.origin).toBe("user");
    expect(view.files).toHaveLength(1);
  });

  itLinksFiles("take a project's link to a user's file for the user's file", async () => {
    const path = place.user(".rpi/mcp.json", server("x"));
    symlinkSync(path, join(place.cwd, ".mcp.json"));
    expect((await place.load()).servers.get("s")).toMatchObject({ origin: "user", configPath: path });
  });

  it("hide nothing when one is broken", async () => {
    place.user(".rpi/mcp.json", server("x"));
    const broken = place.project(".mcp.json", '{"mcpServers": {');
    const view = await place.load();
    expect(commandOf(view)).toBe("x");
    expect(view.problems.map(({ configPath }) => configPath)).toEqual([broken]);
    expect(messages(view)).toEqual([`${broken}:1:17 is not valid JSON: a closing brace is expected.`]);
  });
});

describe("what a sign-in asks for", () => {
  const entry = { mcpServers: { s: { url: "http://x/", oauth: { parameters: { resource: "" } } } } };

  it("is the user's to say, not a project's", async () => {
    place.user(".config/mcp/mcp.json", entry);
    expect(specOf(await place.load()).endpoint).toMatchObject({ oauth: { parameters: { resource: "" } } });
    place.project(".mcp.json", entry);
    const view = await place.load();
    expect(() => specOf(view)).toThrow(/oauth\.parameters is not taken from a project's file/);
  });
});

describe("an explicit file", () => {
  it("may lie in the home folder by its short name, as models and people write it", async () => {
    const path = place.user("x/mcp.json", server("x"));
    const view = await place.store().load({ configPath: "~/x/mcp.json", cwd: place.cwd });
    expect(specOf(view)).toMatchObject({ origin: "explicit", configPath: path });
  });

  it("counts alone", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { other: { command: "x" } } });
    place.project(".mcp.json", server("project"));
    const path = place.project("conf/mine.json", server("mine"));
    const view = await place.store().load({ configPath: "conf/mine.json", cwd: place.cwd });
    expect([...view.servers.keys()]).toEqual(["s"]);
    expect(specOf(view)).toMatchObject({ origin: "explicit", configPath: path });
  });

  it("must be there", async () => {
    expect(await failure(() => place.store().load({ configPath: "no.json", cwd: place.cwd }))).toBe(
      `config.missing: There is no config file ${join(place.cwd, "no.json")}. Create it with {"mcpServers": {…}}, or name another with configPath.`,
    );
  });

  it("has nothing below it to change", async () => {
    place.user(".rpi/mcp.json", server("x"));
    const { servers } = await place.explicit({ mcpServers: { s: { enabled: false } } });
    expect(servers.get("s")?.error?.message).toContain("needs command (a program) or url");
    expect(servers.get("s")?.enabled).toBe(false);
  });

  itLinksFiles("is known by its path without links", async () => {
    const path = place.project("real/mine.json", server("x", { cwd: "sub" }));
    symlinkSync(path, join(place.cwd, "link.json"));
    const view = await place.store().load({ configPath: "link.json", cwd: place.cwd });
    expect(specOf(view)).toMatchObject({ configPath: path, endpoint: { cwd: join(place.cwd, "real", "sub") } });
  });
});

describe("a project entry without command and url", () => {
  const base = { command: "x", args: ["a"], timeout: 10, exposure: "direct", autoApprove: ["read"] };

  it("changes enabled, timeout, exposure and autoApprove of the user's entry, which stays the user's", async () => {
    const path = place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    place.project(".mcp.json", { mcpServers: { s: { timeout: 20, exposure: "hidden", autoApprove: ["write"] } } });
    const view = await place.load();
    expect(view.servers.get("s")).toMatchObject({
      origin: "user",
      configPath: path,
      enabled: true,
      exposure: "hidden",
    });
    expect(specOf(view)).toMatchObject({
      endpoint: { command: "x", args: ["a"] },
      origin: "user",
      configPath: path,
      timeoutSeconds: 20,
      exposure: "hidden",
      autoApprove: ["write"],
      autoApproveFrom: "project",
    });
    expect(view.problems).toEqual([]);
  });

  it("leaves alone what it does not name", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    const path = place.project(".mcp.json", { mcpServers: { s: { enabled: false } } });
    place.project(".rpi/mcp.json", { mcpServers: { s: { exposure: "direct" } } });
    const view = await place.load();
    expect(view.servers.get("s")).toMatchObject({ enabled: false, switchedIn: path });
    expect(specOf(view)).toMatchObject({ timeoutSeconds: 10, autoApprove: ["read"], autoApproveFrom: "user" });
    expect(specOf(view)).not.toHaveProperty("enabledBy");
  });

  it("that enables what the user has disabled is named", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    place.user(".pi/agent/mcp.json", { mcpServers: { s: { disabled: true } } });
    const path = place.project(".mcp.json", { mcpServers: { s: { enabled: true } } });
    place.project(".rpi/mcp.json", { mcpServers: { s: { timeout: 5 } } });
    const view = await place.load();
    expect(view.servers.get("s")).toMatchObject({ enabled: true, origin: "user" });
    expect(specOf(view)).toMatchObject({ enabledBy: path, timeoutSeconds: 5 });
  });

  it("of the user's own, which enables it in another file, is the user's word", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: { ...base, enabled: false } } });
    place.user(".pi/agent/mcp.json", { mcpServers: { s: { enabled: true } } });
    const view = await place.load();
    expect(view.servers.get("s")).toMatchObject({ enabled: true, origin: "user" });
    expect(specOf(view)).not.toHaveProperty("enabledBy");
  });

  it("that enables it once more leaves the first one named", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: { ...base, enabled: false } } });
    const path = place.project(".mcp.json", { mcpServers: { s: { enabled: true } } });
    place.project(".pi/mcp.json", { mcpServers: { s: { disabled: false } } });
    place.project(".rpi/mcp.json", { mcpServers: { s: { enabled: true } } });
    expect(specOf(await place.load())).toMatchObject({ enabledBy: path });
  });

  it("that the user's own file repeats is the user's word", async () => {
    place.user(".cursor/mcp.json", { mcpServers: { s: { ...base, disabled: true } } });
    place.project(".cursor/mcp.json", { mcpServers: { s: { enabled: true } } });
    place.user(".rpi/mcp.json", { imports: ["cursor"], mcpServers: {} });
    expect(specOf(await place.load()).enabledBy).toContain(".cursor");
    place.user(".rpi/mcp.json", { imports: ["cursor"], mcpServers: { s: { enabled: true } } });
    expect(specOf(await place.load())).not.toHaveProperty("enabledBy");
  });

  it("may be changed by a later one", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    place.project(".mcp.json", { mcpServers: { s: { enabled: false, timeout: 30 } } });
    place.project(".rpi/mcp.json", { mcpServers: { s: { enabled: true } } });
    const view = await place.load();
    expect(view.servers.get("s")?.enabled).toBe(true);
    expect(specOf(view).timeoutSeconds).toBe(30);
  });

  it("changes nothing else, and says so", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    const path = place.project(".mcp.json", { mcpServers: { s: { args: ["evil"], env: { A: "1" }, timeout: 5 } } });
    const view = await place.load();
    expect(specOf(view)).toMatchObject({ endpoint: { args: ["a"], env: {} }, timeoutSeconds: 5 });
    expect(messages(view)).toEqual([
      `Server "s" in ${path}: args, env is ignored: without command or url an entry changes only enabled, timeout, exposure and autoApprove.`,
    ]);
  });

  it.each([
    [{ timeout: 9999 }, "timeout must be a number of seconds from 1 to 300"],
    [{ autoApprove: "write" }, "autoApprove must be"],
    [{ enabled: "no" }, "enabled must be true or false"],
  ])("that is wrong (%j) is a problem and does not break the user's entry", async (change, reason) => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    place.project(".mcp.json", { mcpServers: { s: change } });
    const view = await place.load();
    expect(view.servers.get("s")?.enabled).toBe(true);
    expect(specOf(view)).toMatchObject({ timeoutSeconds: 10, autoApprove: ["read"] });
    expect(messages(view)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([null, "x", []])("that is no object (%j) is an error in its place", async (entry) => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    const path = place.project(".mcp.json", { mcpServers: { s: entry } });
    expect((await place.load()).servers.get("s")).toMatchObject({
      configPath: path,
      origin: "project",
      error: { message: expect.stringContaining("must be an object with command or url") },
    });
  });

  it("with nothing below it is an error of its own", async () => {
    place.project(".mcp.json", { mcpServers: { s: { enabled: true } } });
    expect((await place.load()).servers.get("s")?.error?.message).toContain("needs command (a program) or url");
  });

  it("that misspells url is no change of the user's entry but an error", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: base } });
    place.project(".mcp.json", { mcpServers: { s: { serverUrl: "http://h/" } } });
    expect((await place.load()).servers.get("s")?.error?.message).toContain('serverUrl is not read; write "url"');
  });
});

describe("a project entry with a command", () => {
  it("is a new entry of the project, even over the user's of that name", async () => {
    place.user(".rpi/mcp.json", { mcpServers: { s: { command: "good", autoApprove: true, env: { A: "1" } } } });
    const path = place.project(".mcp.json", { mcpServers: { s: { command: "evil" } } });
    const view = await place.load();
    expect(specOf(view)).toMatchObject({
      origin: "project",
      configPath: path,
      endpoint: { command: "evil", env: {} },
      autoApprove: [],
    });
  });
});

describe("a field that is nearly ours", () => {
  it("is not read, and says how it is written; the server stays, and other unknown fields are passed over", async () => {
    const fields = { excludeTool: ["x"], auto_approve: true, "Max-Result-Bytes": 5, alwaysAllow: [], note: "" };
    const path = place.user(".rpi/mcp.json", server("x", fields));
    const view = await place.load();
    expect(specOf(view)).not.toHaveProperty("excludeTools");
    expect(messages(view)).toEqual([
      `Server "s" in ${path}: excludeTool is not read; write "excludeTools".`,
      `Server "s" in ${path}: auto_approve is not read; write "autoApprove".`,
      `Server "s" in ${path}: Max-Result-Bytes is not read; write "maxResultBytes".`,
    ]);
  });

  it.each([
    [{ environment: { A: "b" } }, "environment", "env"],
    [{ http_headers: { A: "b" } }, "http_headers", "headers"],
  ])("may be its name elsewhere: %j", async (fields, field, meant) => {
    const path = place.user(".rpi/mcp.json", server("x", fields));
    expect(messages(await place.load())).toEqual([`Server "s" in ${path}: ${field} is not read; write "${meant}".`]);
  });

  it("may be what another tool calls a list of tools, which would leave them callable", async () => {
    const path = place.user(
      ".rpi/mcp.json",
      server("x", { disabledTools: ["drop"], enabled_tools: ["a"], allowedTools: ["b"] }),
    );
    expect(messages(await place.load())).toEqual([
      `Server "s" in ${path}: disabledTools is not read; write "excludeTools".`,
      `Server "s" in ${path}: enabled_tools is not read; write "includeTools".`,
      `Server "s" in ${path}: allowedTools is not read; write "includeTools".`,
    ]);
    place.user(".rpi/mcp.json", server("x", { disabledTools: [] }));
    expect(messages(await place.load())).toEqual([]);
  });

  it("is passed over beside the one it is like", async () => {
    place.user(".rpi/mcp.json", server("x", { arg: 1, args: ["1"] }));
    expect(messages(await place.load())).toEqual([]);
  });
});

describe("top-level fields", () => {
  it("trust counts in the user's files, the later wins", async () => {
    place.user(".config/mcp/mcp.json", { trust: "ask" });
    place.user(".rpi/mcp.json", { trust: "always" });
    place.project(".mcp.json", server("x"));
    expect(specOf(await place.load()).trust).toBe("always");
  });

  it("trust in a project's file is ignored, and says so", async () => {
    const path = place.project(".mcp.json", { trust: "always", ...server("x") });
    const view = await place.load();
    expect(specOf(view)).not.toHaveProperty("trust");
    expect(messages(view)).toEqual([`${path}: trust is read from user-level files only; it is ignored.`]);
  });

  it("pluginPaths without end are not all looked for, and this is said", async () => {
    const path = place.project(".mcp.json", {
      ...server("x"),
      pluginPaths: Array.from({ length: 101 }, (_, n) => `p${n}`),
    });
    const view = await place.load();
    expect(messages(view).slice(0, 1)).toEqual([`${path}: pluginPaths names 101; only the first 100 are read.`]);
    expect(view.problems).toHaveLength(101);
    expect(commandOf(view)).toBe("x");
  });

  it("maxResultBytes counts for entries that do not say otherwise", async () => {
    place.user(".rpi/mcp.json", { maxResultBytes: 1000, mcpServers: { a: { command: "x" }, s: { command: "x" } } });
    place.project(".mcp.json", { mcpServers: { b: { command: "x", maxResultBytes: 5 } } });
    const view = await place.load();
    expect(["a", "s", "b"].map((name) => specOf(view, name).maxResultBytes)).toEqual([1000, 1000, 5]);
    place.project(".mcp.json", { maxResultBytes: 2000 });
    expect(specOf(await place.load()).maxResultBytes).toBe(2000);
  });

  it.each([
    [
      { servers: { s: {} } },
      'has no "mcpServers", only "servers"; servers are read from "mcpServers": write "mcpServers" in place of "servers".',
    ],
    [{ $schema: "x", mcp: 1, b: 2 }, 'has no "mcpServers", only "mcp", "b"; servers are read from "mcpServers".'],
    [{ mcpServers: [] }, "mcpServers must be an object of servers by name."],
    [{ mcpServers: null }, "mcpServers must be an object of servers by name."],
    [[], 'must be an object, such as {"mcpServers": {}}.'],
    [null, 'must be an object, such as {"mcpServers": {}}.'],
  ])("%j is refused by name", async (content, reason) => {
    const path = place.project(".mcp.json", content);
    const view = await place.load();
    expect(messages(view)).toEqual([`${path}: ${reason}`]);
    expect(await failure(() => place.explicit(content))).toBe(
      `config.shape: ${join(place.cwd, "explicit.json")}: ${reason}`,
    );
  });

  it.each([
    {},
    { $schema: "x" },
    { imports: [] },
    { trust: "ask" },
    { mcpServers: {}, servers: {} },
    { imports: [], inputs: [] },
    { settings: { toolPrefix: "none" } },
  ])("%j is fine", async (content) => {
    place.user(".rpi/mcp.json", content);
    expect((await place.load()).problems).toEqual([]);
  });

  it.each([
    [{ trust: "yes" }, 'trust must be "ask" or "always"; it is ignored.'],
    [{ maxResultBytes: -1 }, "maxResultBytes must be a positive whole number; it is ignored."],
    [{ imports: "cursor" }, "imports must be a list of strings; it is ignored."],
    [{ pluginPaths: [1] }, "pluginPaths must be a list of strings; it is ignored."],
  ])("%j is ignored, says so, and hides no server", async (fields, reason) => {
    const path = place.user(".rpi/mcp.json", { ...server("x"), ...fields });
    const view = await place.load();
    expect(messages(view)).toEqual([`${path}: ${reason}`]);
    expect(commandOf(view)).toBe("x");
    expect(view).not.toHaveProperty("maxResultBytes");
    expect(specOf(view)).not.toHaveProperty("trust");
  });
});

it.each([
  ["misspelt fields", { command: "x", Args: 0 }],
  ["fields that an entry without an endpoint may not have", { extra: 0 }],
  ["overrides that are broken", { enabled: 0 }],
])("of %s a hundred are told for one file, and that there are more", async (_, raw) => {
  const names = Array.from({ length: 1000 }, (_, at) => `s${at}`);
  place.user(".rpi/mcp.json", { mcpServers: Object.fromEntries(names.map((name) => [name, { command: "x" }])) });
  const path = place.project(".rpi/mcp.json", { mcpServers: Object.fromEntries(names.map((name) => [name, raw])) });
  const told = messages(await place.load()).filter((message) => message.includes(path));
  expect(told).toHaveLength(101);
  expect(told.at(-1)).toContain("its entries have more problems than the 100 reported here");
});
