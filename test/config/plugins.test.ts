import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ConfigView } from "../../src/config/store.ts";
import type { StdioEndpoint } from "../../src/server-spec.ts";
import { ConfigHome } from "../support/config-home.ts";
import { itLinksFiles } from "../support/file-links.ts";

const onPosix = process.platform === "win32" ? it.skip : it;

const PLUGIN = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

let place: ConfigHome;
let root: string;
beforeEach(() => {
  place = new ConfigHome();
  root = join(place.home, "plugins", "tools");
  place.user(".rpi/mcp.json", { pluginPaths: ["~/plugins/tools"] });
});
afterEach(() => place.remove());

/** Installs the plugin with these servers and gives the view. */
function installed(mcpServers: unknown, manifest: object = {}, top: object = {}): Promise<ConfigView> {
  place.user("plugins/tools/plugin.json", { $schema: PLUGIN, name: "tools", ...manifest });
  place.user("plugins/tools/mcp.json", { $schema: MCP, mcpServers, ...top });
  return place.load();
}

function endpointOf(view: ConfigView, name = "s"): StdioEndpoint {
  const entry = view.servers.get(name);
  if (entry === undefined) throw new Error(`${name} is not listed.`);
  return entry.spec({ cwd: place.cwd }).endpoint as StdioEndpoint;
}

const messages = (view: ConfigView): string[] => view.problems.map(({ error }) => error.message);

/** Why the one server is refused. */
async function refusal(server: unknown): Promise<string> {
  const view = await installed({ bad: server, good: { type: "stdio", command: "x" } });
  expect(view.servers.get("good")?.error).toBeUndefined();
  return (view.servers.get("bad")?.error?.message ?? "").replace(/^.*?mcp\.json: /, "");
}

it("of a plugin's unknown fields a hundred are told", async () => {
  const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x${at}`, 0]));
  expect(messages(await installed({}, unknown))).toHaveLength(100);
});

describe("a plugin's program", () => {
  it.each(["command", "cwd"])(
    "is refused for a %s of megabytes before any folder of it is looked for",
    async (field) => {
      const server = { type: "stdio", command: "x", [field]: `./${"a/".repeat(200_000)}` };
      expect(await refusal(server)).toBe(`${field} is longer than 4096 characters.`);
    },
  );

  it("is found in the plugin, with its folders filled in and nothing else expanded", async () => {
    Object.assign(place.env, { NAME: "name" });
    const view = await installed({
      s: {
        type: "stdio",
        command: "./bin/server",
        args: ["--root=${PLUGIN_ROOT}", "${PLUGIN_DATA}/x", "${NAME}", "$${PLUGIN_ROOT}", "${PLUGIN_ROOT:-x}"],
        env: { CONFIG: "${PLUGIN_ROOT}/c", LITERAL: "${NAME}" },
      },
    });
    const data = join(place.home, ".local", "share", "rpi-mcp-adapter", "plugins");
    const endpoint = endpointOf(view);
    const dataFolder = endpoint.env.PLUGIN_DATA ?? "";
    expect(dataFolder).toMatch(/tools-[0-9a-f]{12}$/);
    expect(dataFolder.startsWith(data)).toBe(true);
    expect(endpoint).toEqual({
      kind: "stdio",
      command: join(root, "bin", "server"),
      args: [`--root=${root}`, `${dataFolder}/x`, "${NAME}", `$${root}`, "${PLUGIN_ROOT:-x}"],
      env: { CONFIG: `${root}/c`, LITERAL: "${NAME}", PLUGIN_ROOT: root, PLUGIN_DATA: dataFolder },
      inheritEnv: true,
      cwd: root,
    });
    expect(view.servers.get("s")).toMatchObject({
      origin: "user",
      configPath: join(root, "mcp.json"),
      transport: "stdio",
    });
    expect(view.problems).toEqual([]);
  });

  it("stands in a file that is known to have been read, also when it stands there no more, but not when nobody knows", async () => {
    const file = join(root, "mcp.json");
    expect((await installed({ s: { type: "stdio", command: "x" } })).files).toContain(file);
    const removed = await installed({});
    expect([removed.files.includes(file), removed.servers.size]).toEqual([true, 0]);
    place.user("plugins/tools/mcp.json", "{");
    expect((await place.load()).files).not.toContain(file);
  });

  it("finds its data folder made, for the person alone, and made when it is asked for only", async () => {
    const view = await installed({ s: { type: "stdio", command: "x" } });
    expect(existsSync(join(place.home, ".local"))).toBe(false);
    const { PLUGIN_DATA = "" } = endpointOf(view).env;
    expect(statSync(PLUGIN_DATA).isDirectory()).toBe(true);
    if (process.platform !== "win32") expect(statSync(PLUGIN_DATA).mode & 0o777).toBe(0o700);
  });

  it("cannot start where its data folder cannot be made", async () => {
    place.user(".local", "a file");
    const view = await installed({ s: { type: "stdio", command: "x" } });
    expect(() => endpointOf(view)).toThrow(/needs the data folder .* which cannot be made/);
  });

  it.each([
    ["./sub", "sub"],
    ["./", "."],
    ["${PLUGIN_ROOT}", "."],
    ["${PLUGIN_ROOT}/a/../b", "b"],
  ])("starts in %j", async (cwd, expected) => {
    expect(endpointOf(await installed({ s: { type: "stdio", command: "x", cwd } })).cwd).toBe(join(root, expected));
  });

  it("starts in its data folder", async () => {
    const endpoint = endpointOf(await installed({ s: { type: "stdio", command: "x", cwd: "${PLUGIN_DATA}/a" } }));
    expect(endpoint.cwd).toBe(join(endpoint.env.PLUGIN_DATA ?? "", "a"));
  });
});

describe("a plugin's remote server", () => {
  it("is taken literally", async () => {
    Object.assign(place.env, { NAME: "name" });
    const view = await installed({
      s: { type: "streamable-http", url: "https://h/mcp?x=${NAME}", headers: { "X-A": "${NAME} ${PLUGIN_ROOT}" } },
      old: { type: "sse", url: "http://127.0.0.1:1/sse" },
      here: { type: "streamable-http", url: "http://localhost:1/" },
    });
    expect(endpointOf(view)).toEqual({
      kind: "http",
      transport: "http",
      url: "https://h/mcp?x=${NAME}",
      headers: { "X-A": "${NAME} ${PLUGIN_ROOT}" },
    });
    expect(view.servers.get("old")?.transport).toBe("sse");
    expect(endpointOf(view, "here")).toMatchObject({ url: "http://localhost:1/" });
  });
});

describe("a plugin's bad server", () => {
  it.each<[unknown, string]>([
    [null, "the entry must be an object."],
    [{ command: "x" }, 'type must be "stdio", "streamable-http" or "sse".'],
    [{ type: "http", url: "https://h/" }, 'type must be "stdio", "streamable-http" or "sse".'],
    [{ type: "stdio", command: "x", url: "https://h/" }, 'url is not a field of a "stdio" server.'],
    [{ type: "stdio", command: "x", timeout: 5 }, 'timeout is not a field of a "stdio" server.'],
    [{ type: "sse", url: "https://h/", env: {} }, 'env is not a field of a "sse" server.'],
    [{ type: "stdio" }, "command must be a string that is not empty."],
    [{ type: "stdio", command: "" }, "command must be a string that is not empty."],
    [{ type: "stdio", command: "bin/x" }, 'command must be a bare name or a path that begins with "./".'],
    [{ type: "stdio", command: "/bin/x" }, 'command must be a bare name or a path that begins with "./".'],
    [{ type: "stdio", command: "../x" }, 'command must be a bare name or a path that begins with "./".'],
    [{ type: "stdio", command: ".." }, 'command must be a bare name or a path that begins with "./".'],
    [{ type: "stdio", command: "./../x" }, "command lies outside the plugin."],
    [{ type: "stdio", command: "./link/x" }, "command lies outside the plugin."],
    [{ type: "stdio", command: "x", args: [1] }, "args must be a list of strings."],
    [{ type: "stdio", command: "x", env: { A: 1 } }, "env.A must be a string."],
    [{ type: "stdio", command: "x", env: { PLUGIN_ROOT: "/" } }, "env.PLUGIN_ROOT is set by the client."],
    [{ type: "stdio", command: "x", cwd: "sub" }, 'cwd must begin with "./", "${PLUGIN_ROOT}" or "${PLUGIN_DATA}".'],
    [
      { type: "stdio", command: "x", cwd: "${PLUGIN_ROOT}x" },
      'cwd must begin with "./", "${PLUGIN_ROOT}" or "${PLUGIN_DATA}".',
    ],
    [{ type: "stdio", command: "x", cwd: "./.." }, "cwd lies outside the plugin's folders."],
    [{ type: "stdio", command: "x", cwd: "./link" }, "cwd lies outside the plugin's folders."],
    [{ type: "stdio", command: "x", cwd: "${PLUGIN_DATA}/../y" }, "cwd lies outside the plugin's folders."],
    [{ type: "sse", url: "" }, "url must be a string that is not empty."],
    [{ type: "sse", url: "nonsense" }, "url is not a valid address."],
    [{ type: "sse", url: "http://h/" }, "url must be https, except on this machine."],
    [{ type: "sse", url: "https://h/#x" }, "url must not have a fragment."],
    [{ type: "sse", url: "https://me:pw@h/" }, "url must not hold a user name or password; use headers."],
    [{ type: "sse", url: "https://h/", headers: { A: 1 } }, "headers.A must be a string."],
  ])("%j is refused and leaves the others alone", async (server, reason) => {
    mkdirSync(join(place.home, "outside"), { recursive: true });
    mkdirSync(root, { recursive: true });
    symlinkSync(join(place.home, "outside"), join(root, "link"), "junction");
    expect(await refusal(server)).toBe(reason);
  });
});

describe("a plugin as a whole", () => {
  const good = { s: { type: "stdio", command: "x" } };

  it.each<[object, string]>([
    [{ $schema: "https://agent-plugins.org/schemas/9.0.0/plugin.schema.json" }, `$schema must be "${PLUGIN}"`],
    [{ name: "Bad Name" }, "name must have 1-64 characters"],
    [{ name: "a--b" }, "name must have 1-64 characters"],
    [{ name: "" }, "name must have 1-64 characters"],
    [{ name: "a".repeat(65) }, "name must have 1-64 characters"],
    [{ version: 1 }, "version must be a string"],
    [{ author: { name: "x", phone: "1" } }, "author may hold only the strings name, email and url"],
    [{ keywords: "x" }, "keywords must be a list of strings"],
  ])("is refused for a manifest with %j", async (manifest, reason) => {
    const view = await installed(good, manifest);
    expect(view.servers.size).toBe(0);
    expect(messages(view)).toEqual([expect.stringContaining(reason)]);
  });

  it("is used, and its oddities are reported", async () => {
    const view = await installed(good, {
      version: "x",
      keywords: ["a"],
      author: { name: "n" },
      hooks: {},
      extensions: [],
    });
    expect(view.servers.size).toBe(1);
    expect(messages(view)).toEqual([
      `${join(root, "plugin.json")}: "hooks" is not known; it is ignored.`,
      `${join(root, "plugin.json")}: extensions must be an object; it is ignored.`,
    ]);
  });

  it.each<[unknown, object, string]>([
    [good, { more: 1 }, '"more" is not known'],
    [
      good,
      { $schema: "https://agent-plugins.org/schemas/1.1.0/mcp.schema.json" },
      `$schema must be "${MCP}", as in plugin.json`,
    ],
    [[], {}, "mcpServers must be an object of servers by name"],
  ])("has no servers for an mcp.json with %j and %j", async (servers, top, reason) => {
    const view = await installed(servers, {}, top);
    expect(view.servers.size).toBe(0);
    expect(messages(view)).toEqual([`${join(root, "mcp.json")}: ${reason}.`]);
  });

  it("must be JSON without comments", async () => {
    await installed(good);
    writeFileSync(join(root, "mcp.json"), `{"$schema": "${MCP}", "mcpServers": {},}`);
    expect(messages(await place.load())[0]).toContain("comments and trailing commas are not allowed here");
    writeFileSync(join(root, "plugin.json"), "{");
    expect(messages(await place.load())[0]).toContain("a closing brace is expected");
  });

  it("without a manifest is none; without mcp.json it has no servers", async () => {
    expect(messages(await place.load())).toEqual([
      `${join(root, "plugin.json")}: is missing, so its folder is not a plugin.`,
    ]);
    place.user("plugins/tools/plugin.json", { $schema: PLUGIN, name: "tools" });
    expect(await place.load()).toMatchObject({ problems: [], servers: new Map() });
  });

  it("may be a link", async () => {
    await installed(good);
    symlinkSync(root, join(place.home, "linked"), "junction");
    place.user(".rpi/mcp.json", { pluginPaths: ["~/linked"] });
    expect(endpointOf(await place.load()).cwd).toBe(root);
  });

  itLinksFiles("must not have files outside itself", async () => {
    await installed(good);
    place.user("other/plugin.json", { $schema: PLUGIN, name: "other" });
    symlinkSync(join(root, "mcp.json"), join(place.home, "other", "mcp.json"));
    place.user(".rpi/mcp.json", { pluginPaths: ["~/other"] });
    const view = await place.load();
    expect(view.servers.size).toBe(0);
    expect(messages(view)).toEqual([expect.stringContaining("lies outside the plugin")]);
  });

  it("belongs to who names it, ranks below our own entries, and starts its paths at their file", async () => {
    place.user("plugins/tools/plugin.json", { $schema: PLUGIN, name: "tools" });
    place.user("plugins/tools/mcp.json", { $schema: MCP, mcpServers: good });
    place.user(".rpi/mcp.json", {});
    place.project(".rpi/mcp.json", { pluginPaths: ["../../home/plugins/tools"] });
    const view = await place.load();
    expect(view.servers.get("s")?.origin).toBe("project");
    place.user(".rpi/mcp.json", { mcpServers: { s: { command: "ours" } } });
    expect(endpointOf(await place.load()).command).toBe("ours");
    place.user(".rpi/mcp.json", { mcpServers: { s: { enabled: false } } });
    expect((await place.load()).servers.get("s")).toMatchObject({ enabled: false, configPath: join(root, "mcp.json") });
  });

  onPosix("that every user may change is not the user's", async () => {
    await installed(good);
    chmodSync(join(root, "mcp.json"), 0o666);
    expect((await place.load()).servers.get("s")?.origin).toBe("project");
  });

  it("is noticed when it changes", async () => {
    const store = place.store();
    expect((await store.load({ cwd: place.cwd })).servers.size).toBe(0);
    await installed(good);
    const view = await store.load({ cwd: place.cwd });
    expect(view.servers.size).toBe(1);
    expect(await store.load({ cwd: place.cwd })).toBe(view);
    await installed({ ...good, t: { type: "stdio", command: "y" } });
    expect((await store.load({ cwd: place.cwd })).servers.size).toBe(2);
  });
});
