import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type FileSystem, Files } from "../../src/config/files.ts";
import { parseJson } from "../../src/config/json.ts";
import type { ConfigView } from "../../src/config/store.ts";
import { isAdapterError } from "../../src/errors.ts";
import type { StdioEndpoint } from "../../src/server-spec.ts";
import { age, ConfigHome, failure } from "../support/config-home.ts";
import { itLinksFiles } from "../support/file-links.ts";

let place: ConfigHome;
beforeEach(() => {
  place = new ConfigHome();
});
afterEach(() => place.remove());

const posix = process.platform === "win32" ? it.skip : it;
const server = (command: string) => ({ mcpServers: { s: { command } } });

function commandOf(view: ConfigView): string | undefined {
  const entry = view.servers.get("s");
  return entry && (entry.spec({ cwd: place.cwd }).endpoint as StdioEndpoint).command;
}

/** What an explicit file with this content fails with, after its path. */
async function refusal(content: unknown): Promise<string> {
  const text = await failure(() => place.explicit(content));
  return text.replace(join(place.cwd, "explicit.json"), "FILE");
}

describe("JSON with comments and trailing commas", () => {
  it.each([
    ['{\n  // a server\n  "mcpServers": { "s": { "command": "x", }, }, /* end */\n}', "x"],
    ['\uFEFF{"mcpServers": {"s": {"command": "x"}}}', "x"],
    ['\uFEFF// bom and comment\n{"mcpServers": {"s": {"command": "x"}}}', "x"],
    ['{"mcpServers": {"s": {"command": "x // no comment"}}}', "x // no comment"],
    ['{"mcpServers": {"s": {"command": "1"}, "s": {"command": "2"}}}', "2"],
    ['{"mcpServers": {"s": {"command": "1"}, "s": {"command": "2"}},}', "2"],
  ])("%j is read", async (text, command) => {
    expect(commandOf(await place.explicit(text))).toBe(command);
  });

  it.each([
    ["", "config.syntax: FILE:1:1 is not valid JSON: it is empty."],
    ["{", "config.syntax: FILE:1:2 is not valid JSON: a closing brace is expected."],
    [
      '{\n  "mcpServers": {\r\n    "s": oops\n  }\n}',
      "config.syntax: FILE:3:10 is not valid JSON: text that is not in double quotes.",
    ],
    ['{"a": "b}', "config.syntax: FILE:1:7 is not valid JSON: a string without its closing quote."],
    ["{'a': 1}", 'config.syntax: FILE:1:2 is not valid JSON: a quote of another kind; names and strings are in ".'],
    ['{"a": 1} {', "config.syntax: FILE:1:10 is not valid JSON: something follows its end."],
    ['{"a" 1}', "config.syntax: FILE:1:6 is not valid JSON: a colon is expected."],
    [
      '{"a": "\\q"}',
      "config.syntax: FILE:1:7 is not valid JSON: an unknown escape in a string (a backslash itself is written twice).",
    ],
    [
      '{"command": "C:\\users\\x"}',
      "config.syntax: FILE:1:13 is not valid JSON: an unknown escape in a string (a backslash itself is written twice).",
    ],
  ])("%j is refused with line and column", async (text, message) => {
    expect(await refusal(text)).toBe(message);
  });

  it("is never quoted in an error: a link may point to any file", async () => {
    const text = await refusal("root:x:0:0:secret-shadow\n");
    expect(text).toContain("config.syntax");
    expect(text).not.toContain("secret");
    expect(text).not.toContain("root");
  });

  it.each([
    ["[".repeat(200_000), ""],
    [`{"mcpServers":{"s":{"command":"x","y":`, "}}}"],
    ["//\n{".padEnd(10), ""],
  ])("nested without end is refused, not a crash", async (head, tail) => {
    const deep = head.startsWith("[")
      ? head + "]".repeat(200_000)
      : `${head}${"[".repeat(5000)}${"]".repeat(5000)}${tail}`;
    expect(await refusal(deep)).toMatch(/nested more than 100 levels deep|is not valid JSON/);
    expect(await refusal(`// a comment\n${deep}`)).toMatch(/nested more than 100 levels deep|is not valid JSON/);
  });
});

describe("an odd file", () => {
  it.each<[string, string | Buffer, string]>([
    ["huge", " ".repeat(10 * 1024 * 1024), "it has more than 1048576 bytes"],
    ["binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), "it is a binary file"],
    ["in UTF-16", Buffer.from('\uFEFF{"mcpServers":{}}', "utf16le"), "it is written in UTF-16; save it as UTF-8"],
    [
      "in UTF-16 too",
      Buffer.from('\uFEFF{"mcpServers":{}}', "utf16le").swap16(),
      "it is written in UTF-16; save it as UTF-8",
    ],
    ["in Latin-1", Buffer.from('{"a": "\xe9"}', "latin1"), "it is not UTF-8 text"],
  ])("that is %s is refused by name and hides nothing else", async (_, content, reason) => {
    expect(await refusal(content)).toBe(`config.unreadable: Cannot read the config file FILE: ${reason}.`);
    place.user(".rpi/mcp.json", server("good"));
    const path = place.project(".mcp.json", content);
    const view = await place.load();
    expect(commandOf(view)).toBe("good");
    expect(view.problems.map(({ error }) => error.message)).toEqual([
      `Cannot read the config file ${path}: ${reason}.`,
    ]);
  });

  it("that is a folder is refused by name", async () => {
    mkdirSync(join(place.cwd, ".mcp.json"));
    const [problem] = (await place.load()).problems;
    expect(problem?.error.message).toMatch(
      /Cannot read the config file .*\.mcp\.json: (it is a folder|permission denied)\./,
    );
  });

  posix("that is a named pipe does not block the host", async () => {
    execFileSync("mkfifo", [join(place.cwd, ".mcp.json")]);
    const [problem] = (await place.load()).problems;
    expect(problem?.error.message).toMatch(/^Cannot read the config file [^:]*: it is not a regular file\./);
  });

  posix("that is a link to itself is refused by name", async () => {
    symlinkSync(".mcp.json", join(place.cwd, ".mcp.json"));
    const [problem] = (await place.load()).problems;
    expect(problem?.error.message).toContain("its links form a loop");
  });

  itLinksFiles("that is a link to nothing is a missing one", async () => {
    symlinkSync("nowhere.json", join(place.cwd, ".mcp.json"));
    expect((await place.load()).problems).toEqual([]);
  });

  it("lies in a folder that is a file: it is missing", async () => {
    place.project(".rpi", "a file");
    expect((await place.load()).problems).toEqual([]);
  });

  it.each(["EACCES", "EPERM"])("that the system refuses (%s) is reported", async (code) => {
    const path = place.user(".rpi/mcp.json", server("x"));
    const denied = Object.assign(new Error(code), { code });
    const fileSystem: FileSystem = {
      stat: (wanted) => (wanted === path ? statSync(path) : undefined),
      read: () => {
        throw denied;
      },
    };
    const { problems } = await place.load({ fileSystem });
    expect(problems.map(({ error }) => error.message)).toEqual([
      `Cannot read the config file ${path}: permission denied.`,
    ]);
  });
});

describe("a file that every user may change", () => {
  posix("is not trusted as the user's, and says what to do", async () => {
    const path = place.user(".rpi/mcp.json", { trust: "always", ...server("x") });
    chmodSync(path, 0o666);
    const store = place.store();
    const view = await store.load({ cwd: place.cwd });
    expect(view.servers.get("s")?.origin).toBe("project");
    expect(view.servers.get("s")?.spec({ cwd: place.cwd })).not.toHaveProperty("trust");
    expect(view.problems.map(({ error }) => error.message)).toEqual([
      `Every user of this machine can change ${path}, so its servers are not trusted as yours and need approval. Run: chmod o-w ${JSON.stringify(path)}`,
      `${path}: trust is read from user-level files only; it is ignored.`,
    ]);
    chmodSync(path, 0o664);
    expect((await store.load({ cwd: place.cwd })).servers.get("s")).toMatchObject({ origin: "user" });
  });

  posix("stays explicit when it is named, and is reported", async () => {
    const path = place.project("mine.json", server("x"));
    chmodSync(path, 0o666);
    const view = await place.store().load({ configPath: path, cwd: place.cwd });
    expect(view.servers.get("s")?.origin).toBe("explicit");
    expect(view.problems[0]?.error.message).toBe(
      `Every user of this machine can change ${path}. Run: chmod o-w ${JSON.stringify(path)}`,
    );
  });
});

describe("a change", () => {
  it("of a file is seen by the next load, and only then", async () => {
    const store = place.store();
    const path = place.user(".rpi/mcp.json", server("1"));
    const before = await store.load({ cwd: place.cwd });
    expect(await store.load({ cwd: place.cwd })).toBe(before);
    writeFileSync(path, JSON.stringify(server("22")));
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("22");
    expect(commandOf(before)).toBe("1");
  });

  it("of the same size within the granularity of time stamps is seen", async () => {
    const store = place.store();
    const path = place.user(".rpi/mcp.json", server("1"));
    for (let round = 2; round < 9; round++) {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, JSON.stringify(server(String(round))));
      utimesSync(path, atime, mtime);
      expect(commandOf(await store.load({ cwd: place.cwd }))).toBe(String(round));
    }
  });

  it("is seen where the stamp does not change at all, as long as the file is young", async () => {
    const path = place.user(".rpi/mcp.json", server("1"));
    // A file system that counts in seconds.
    const second = Math.ceil(Date.now() / 1000) * 1000;
    const frozen = Object.assign(statSync(path), { mtimeMs: second, ctimeMs: second });
    let bytes = Buffer.from(JSON.stringify(server("1")));
    const fileSystem: FileSystem = {
      stat: (wanted) => (wanted === path ? frozen : undefined),
      read: () => ({ stats: frozen, bytes, realPath: path }),
    };
    const store = place.store({ fileSystem });
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("1");
    bytes = Buffer.from(JSON.stringify(server("2")));
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("2");
  });

  it("by rename and by removal is seen", async () => {
    const store = place.store();
    const path = place.project(".mcp.json", server("1"));
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("1");
    renameSync(place.project("new.json", server("2")), path);
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("2");
    rmSync(path);
    expect((await store.load({ cwd: place.cwd })).servers.size).toBe(0);
    place.project(".mcp.json", server("3"));
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("3");
  });

  itLinksFiles("of a link's target is seen", async () => {
    const store = place.store();
    const [one, two] = [place.project("1.json", server("1")), place.project("2.json", server("2"))];
    const link = join(place.cwd, ".mcp.json");
    symlinkSync(one, link);
    expect(commandOf(await store.load({ cwd: place.cwd }))).toBe("1");
    rmSync(link);
    symlinkSync(two, link);
    const view = await store.load({ cwd: place.cwd });
    expect(view.servers.get("s")?.configPath).toBe(two);
  });

  it("that breaks a good file is reported again and again, not hidden", async () => {
    const store = place.store();
    const path = place.project("mine.json", server("1"));
    const load = () => store.load({ configPath: path, cwd: place.cwd });
    expect(commandOf(await load())).toBe("1");
    writeFileSync(path, "{");
    for (let again = 0; again < 3; again++) expect(await failure(load)).toContain("config.syntax");
    age(path);
    expect(await failure(load)).toContain("config.syntax");
    writeFileSync(path, JSON.stringify(server("2")));
    expect(commandOf(await load())).toBe("2");
  });

  it("is seen by every view of the file", async () => {
    const store = place.store();
    const path = place.user(".rpi/mcp.json", server("1"));
    age(path);
    const layers = () => store.load({ cwd: place.cwd });
    const explicit = () => store.load({ configPath: path, cwd: place.cwd });
    expect([commandOf(await layers()), commandOf(await explicit())]).toEqual(["1", "1"]);
    writeFileSync(path, JSON.stringify(server("2")));
    age(path);
    expect([commandOf(await explicit()), commandOf(await layers())]).toEqual(["2", "2"]);
  });

  it("of the environment is seen, also where it comes in the middle of a load", async () => {
    place.user("one/config.toml", '[mcp_servers.one]\ncommand = "x"\n');
    place.user("two/config.toml", '[mcp_servers.two]\ncommand = "x"\n');
    const target = { configPath: place.project("own.json", { imports: ["codex"], mcpServers: {} }), cwd: place.cwd };
    const store = place.store();
    const names = async (folder: string): Promise<string[]> => {
      place.env.CODEX_HOME = join(place.home, folder);
      return [...(await store.load(target)).servers.keys()];
    };
    const loads = [names("one"), names("two")];
    expect(await loads[0]).toEqual(["one"]);
    expect(await loads[1]).toEqual(["two"]);
    const loading = names("one");
    place.env.CODEX_HOME = join(place.home, "two");
    expect(await loading).toEqual(["one"]);
    expect(await names("two")).toEqual(["two"]);
  });

  it("during loads at once gives each of them a whole view", async () => {
    const store = place.store();
    const path = place.project(".mcp.json", server("1"));
    await store.load({ cwd: place.cwd });
    writeFileSync(path, `// now with a comment\n${JSON.stringify(server("2"))}`);
    const views = await Promise.all(Array.from({ length: 8 }, () => store.load({ cwd: place.cwd })));
    expect(views.map(commandOf)).toEqual(Array(8).fill("2"));
    expect(new Set(views.map(({ servers }) => servers.get("s"))).size).toBe(1);
  });
});

describe("six layers that do not change", () => {
  it("cost one stat each, are not read again, and give the same view", async () => {
    let [stats, reads] = [0, 0];
    const disk = new Map<string, Buffer>();
    const stamp = { mtimeMs: 1, ctimeMs: 1, size: 1, ino: 1, dev: 1, mode: 0o100600 } as Stats;
    const fileSystem: FileSystem = {
      stat: (path) => {
        stats++;
        return disk.has(path) ? stamp : undefined;
      },
      read: (path) => {
        reads++;
        return { stats: stamp, bytes: disk.get(path) ?? Buffer.from(""), realPath: path };
      },
    };
    const paths = [".config/mcp/mcp.json", ".rpi/mcp.json", ".pi/agent/mcp.json"].map((path) => join(place.home, path));
    paths.push(...[".mcp.json", ".pi/mcp.json", ".rpi/mcp.json"].map((path) => join(place.cwd, path)));
    for (const [at, path] of paths.entries()) {
      const mcpServers = Object.fromEntries(
        Array.from({ length: 10 }, (_, n) => [`s${at}-${n}`, { command: "x", env: { A: "${PATH}" } }]),
      );
      disk.set(path, Buffer.from(JSON.stringify({ mcpServers })));
    }
    const store = place.store({ fileSystem });
    const first = await store.load({ cwd: place.cwd });
    expect([first.servers.size, reads]).toEqual([60, 6]);
    stats = 0;
    const rounds = 20;
    for (let round = 0; round < rounds; round++) {
      const view = await store.load({ cwd: place.cwd });
      if (view !== first) throw new Error("The view was made anew.");
      for (const entry of view.servers.values()) entry.spec({ cwd: place.cwd });
    }
    expect([stats, reads]).toEqual([rounds * 6, 6]);
  });
});

describe("a file", () => {
  it("that is missing on the way from stat to read is missing", async () => {
    const path = place.project("x.json", "{}");
    const files = new Files({
      stat: () => statSync(path),
      read: () => {
        throw Object.assign(new Error("gone"), { code: "ENOENT" });
      },
    });
    expect((await files.read(path, { maxBytes: 10, parse: parseJson })).file).toBeUndefined();
  });

  it("that could not be read for a moment is read by the next load, though nothing about it has changed", async () => {
    const path = place.project("x.json", "{}");
    age(path);
    const codes = ["EMFILE", "EBUSY"];
    const files = new Files({
      stat: () => statSync(path),
      read: () => {
        const code = codes.shift();
        if (code !== undefined) throw Object.assign(new Error(code), { code });
        return { stats: statSync(path), bytes: Buffer.from("{}"), realPath: path };
      },
    });
    const read = async () => (await files.read(path, { maxBytes: 10, parse: parseJson })).file;
    expect((await read())?.error?.message).toContain("EMFILE");
    expect((await read())?.error?.message).toContain("EBUSY");
    expect(await read()).toMatchObject({ value: {} });
  });

  it("whose reading fails in an unforeseen way fails the load", async () => {
    const path = place.project("x.json", "{}");
    const parse = () => Promise.reject(new TypeError("a bug"));
    const reading = new Files().read(path, { maxBytes: 10, parse });
    await expect(reading).rejects.toThrow("a bug");
    await reading.catch((error: unknown) => expect(isAdapterError(error)).toBe(false));
  });
});
