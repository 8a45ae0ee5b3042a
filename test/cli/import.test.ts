import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Shell } from "../support/cli.ts";

let shell: Shell;
let userFile: string;
let projectFile: string;

beforeEach(() => {
  shell = new Shell();
  userFile = join(shell.home, ".rpi", "mcp.json");
  projectFile = join(shell.cwd, ".rpi", "mcp.json");
  shell.write("home/.cursor/mcp.json", {
    mcpServers: {
      notes: {
        command: "notes-mcp",
        args: ["--api-key", "sk-very-secret", "--port", "1"],
        env: { NOTES_TOKEN: "tok-very-secret", MODE: "fast" },
      },
    },
  });
  shell.write("home/.codex/config.toml", '[mcp_servers.search]\ncommand = "search-mcp"\n');
  shell.write("project/.vscode/mcp.json", {
    servers: { shop: { url: "https://shop.example/mcp" }, asks: { command: "x", args: ["${input:key}"] } },
  });
});
afterEach(() => shell.remove());

const servers = (path: string): Record<string, unknown> =>
  (JSON.parse(readFileSync(path, "utf8")) as { mcpServers: Record<string, unknown> }).mcpServers;

describe("rpi-mcp import", () => {
  it("shows what was found and where, and a diff, and writes nothing", async () => {
    const { status, stdout, stderr } = await shell.run(["import"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^cursor {2}~[\\/]\.cursor[\\/]mcp\.json\n {2}notes {2}notes-mcp/m);
    expect(stdout).toMatch(/^codex {2}.*config\.toml\n {2}search {2}search-mcp$/m);
    expect(stdout).toMatch(/^ {2}asks {2}not imported: .*\$\{input:key\}/m);
    expect(stdout).toMatch(/^\+\s+"notes": \{$/m);
    expect(stdout).toMatch(/^\+\s+"url": "https:\/\/shop\.example\/mcp"$/m);
    expect(stderr).toContain("--write");
    expect([existsSync(userFile), existsSync(projectFile)]).toEqual([false, false]);
  });

  it("says which of two servers with one name is taken", async () => {
    shell.write("home/.codex/config.toml", '[mcp_servers.notes]\ncommand = "other-notes"\n');
    const { stdout } = await shell.run(["import"]);
    expect(stdout).toMatch(/^ {2}notes {2}notes-mcp .*\(not taken: codex has one of this name, too\)$/m);
    expect(stdout).toMatch(/^ {2}notes {2}other-notes$/m);
    expect(stdout).toMatch(/^\+\s+"command": "other-notes",$/m);
  });

  it("gives the whole advice about a server that cannot be taken", async () => {
    const { stdout } = await shell.run(["import", "vscode"]);
    expect(stdout).toMatch(/^ {2}asks {2}not imported: args\S* has .*write a variable such as \$\{env:\w+\} instead$/m);
  });

  it("does not write what no file of ours may say, and lets it hide no other server of its name", async () => {
    shell.write("home/.claude.json", { mcpServers: { notes: { url: "https://n.example/", headersHelper: "x" } } });
    shell.write("home/.gemini/settings.json", {
      mcpServers: { notes: { command: "x", args: "-y notes" }, socket: { url: "ws://h/" }, empty: {} },
    });
    const { stdout } = await shell.run(["import", "--write"]);
    expect(stdout).toMatch(/^ {2}notes {2}not imported: headersHelper names a program/m);
    expect(stdout).toMatch(/^ {2}notes {2}not imported: args must be a list/m);
    expect(stdout).toMatch(/^ {2}socket {2}not imported: url must begin with/m);
    expect(stdout).toMatch(/^ {2}empty {2}not imported: it needs command/m);
    expect(servers(userFile)).toEqual({
      notes: expect.objectContaining({ command: "notes-mcp" }),
      search: expect.anything(),
    });
  });

  it("never shows a secret", async () => {
    const { stdout } = await shell.run(["import"]);
    expect(stdout).not.toContain("very-secret");
    expect(stdout).toContain('"MODE": "fast"');
  });

  it("never shows a secret of what is there already, however it is laid out", async () => {
    const before =
      '{ "mcpServers": {\n "old": { "command": "x", "env": { "API_KEY": "very-secret-1", "A": "postgres://u:very-secret-2@h/d", "H": "{\\"Authorization\\": \\"Bearer very-secret-3\\"}" } } } }\n';
    shell.write("home/.rpi/mcp.json", before);
    const { stdout } = await shell.run(["import"]);
    expect(stdout).toContain('"API_KEY": "[redacted]", "A": "postgres://u:[redacted]@h/d", "H"');
    expect(stdout).not.toContain("very-secret");
  });

  it("writes a user's servers to the user's file and a project's to the project's, privately", async () => {
    const { status, stdout, stderr } = await shell.run(["import", "--write"]);
    expect(status).toBe(0);
    expect(stdout).toContain("+++");
    expect(stderr).toContain(userFile);
    expect(servers(userFile)).toMatchObject({
      notes: { command: "notes-mcp", env: { NOTES_TOKEN: "tok-very-secret" } },
      search: { command: "search-mcp" },
    });
    expect(Object.keys(servers(projectFile))).toEqual(["shop"]);
    if (process.platform !== "win32") expect(statSync(userFile).mode & 0o777).toBe(0o600);
    const listed = await shell.run(["list", "--json"]);
    const { details } = JSON.parse(listed.stdout) as { details: { servers: { server: string; origin: string }[] } };
    expect(details.servers.map(({ server, origin }) => [server, origin])).toEqual([
      ["notes", "user"],
      ["search", "user"],
      ["shop", "project"],
    ]);
  });

  it("leaves what is there alone: servers, comments, layout and mode", async () => {
    const before = '{\n  // my servers\n  "mcpServers": {\n    "notes": { "command": "mine" }, // keep\n  },\n}\n';
    shell.write("home/.rpi/mcp.json", before);
    const { stdout } = await shell.run(["import", "--write", "cursor", "codex"]);
    expect(stdout).toMatch(/left alone: notes/);
    const after = readFileSync(userFile, "utf8");
    expect(after).toContain("// my servers");
    for (const line of before.split("\n")) expect(after.split("\n")).toContain(line);
    expect(after).toContain('"search"');
    if (process.platform !== "win32") expect(statSync(userFile).mode & 0o777).toBe(0o644);
  });

  (process.platform === "win32" ? it.skip : it).each([
    ["with something in it", "{}"],
    ["that is empty", ""],
  ])("changes the file behind a link, also on another disk, %s", async (_what, before) => {
    // Linux has a file system in memory there.
    const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : shell.root, "dotfiles-"));
    try {
      const dotfile = join(folder, "mcp.json");
      writeFileSync(dotfile, before, { mode: 0o644 });
      const { mode } = lstatSync(dotfile);
      mkdirSync(join(shell.home, ".rpi"));
      symlinkSync(dotfile, userFile);
      expect(await shell.run(["import", "--write", "codex"])).toMatchObject({ status: 0 });
      expect(lstatSync(userFile).isSymbolicLink()).toBe(true);
      expect(servers(dotfile)).toMatchObject({ search: { command: "search-mcp" } });
      expect(lstatSync(dotfile).mode).toBe(mode);
      expect([readdirSync(folder), readdirSync(join(shell.home, ".rpi"))]).toEqual([["mcp.json"], ["mcp.json"]]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  (process.platform === "win32" ? it.skip : it).each(["mcp.json", "folder"])(
    "writes a project's servers to no file outside of it, whatever its link (%s) says",
    async (what) => {
      shell.write("home/.rpi/mcp.json", '{ "mcpServers": {} }');
      if (what === "folder") symlinkSync("../home/.rpi", join(shell.cwd, ".rpi"));
      else {
        mkdirSync(join(shell.cwd, ".rpi"));
        symlinkSync("../../home/.rpi/mcp.json", projectFile);
      }
      const { status, stderr } = await shell.run(["import", "--write"]);
      expect(status).toBe(1);
      expect(stderr).toContain("it is a link out of the project; name the file with --config");
      expect(readFileSync(userFile, "utf8")).toBe('{ "mcpServers": {} }');
    },
  );

  it("replaces servers of the same name only with --overwrite", async () => {
    shell.write("home/.rpi/mcp.json", { mcpServers: { notes: { command: "mine" } } });
    await shell.run(["import", "--write", "--overwrite", "cursor"]);
    expect(servers(userFile)).toMatchObject({ notes: { command: "notes-mcp" } });
  });

  it("writes everything to the file of --config", async () => {
    const { status } = await shell.run(["import", "--write", "--config", "all.json"]);
    expect(status).toBe(0);
    expect(Object.keys(servers(join(shell.cwd, "all.json"))).sort()).toEqual(["notes", "search", "shop"]);
    expect(existsSync(userFile)).toBe(false);
  });

  it("changes nothing the second time", async () => {
    await shell.run(["import", "--write"]);
    const first = readFileSync(userFile, "utf8");
    const { stdout, stderr } = await shell.run(["import", "--write"]);
    expect(stdout).not.toContain("+++");
    expect(stderr).toContain("nothing to add");
    expect(readFileSync(userFile, "utf8")).toBe(first);
  });

  it("looks only at the tools that are named", async () => {
    const { stdout } = await shell.run(["import", "codex", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      found: [{ dialect: "codex", servers: [{ name: "search" }] }],
      files: [{ path: userFile, added: ["search"], kept: [], written: false }],
    });
  });

  it("refuses to touch a file of ours that it cannot read", async () => {
    shell.write("home/.rpi/mcp.json", "{ broken");
    const { status, stderr } = await shell.run(["import", "--write", "cursor"]);
    expect(status).toBe(1);
    expect(stderr).toContain("config_error");
    expect(readFileSync(userFile, "utf8")).toBe("{ broken");
  });

  it("ends with 1 if another tool's file cannot be read, and shows the others", async () => {
    shell.write("home/.codex/config.toml", "not = = toml");
    const { status, stdout } = await shell.run(["import"]);
    expect(status).toBe(1);
    expect(stdout).toContain("cannot be read");
    expect(stdout).toContain("notes");
  });
});
