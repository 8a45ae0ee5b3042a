import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { build } from "esbuild";
import { dataFolder } from "../../../src/auth/store/data-folder.ts";
import { DiskStore } from "../../../src/auth/store/disk-store.ts";
import type { SignInRecord, StoredClient } from "../../../src/auth/store/record.ts";
import { resolveLimits } from "../../../src/limits.ts";
import { FakeAuthorizationServer, FakeResource } from "../../support/fake-oauth.ts";
import { call, withBrowser } from "../../support/oauth-client.ts";

const URL_A = "https://a.example/mcp";
const CLIENT: StoredClient = {
  issuer: "https://as.example",
  kind: "registered",
  clientId: "c",
  clientSecret: "the secret",
};
const signal = new AbortController().signal;
const onPosix = process.platform === "win32" ? it.skip : it;
const asRoot = process.getuid?.() === 0 ? it : it.skip;

let folder: string;
let scratch: string;
let program: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "store-test-"));
  program = join(scratch, "store-process.mjs");
  const source = fileURLToPath(new URL("../../fixtures/auth/store-process.ts", import.meta.url));
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
});
afterAll(async () => {
  await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
});
beforeEach(async () => {
  folder = join(await mkdtemp(join(scratch, "case-")), "rpi-mcp");
});

const put = async (store: DiskStore, url: string, clients: StoredClient[] = [CLIENT]): Promise<void> =>
  await store.update(url, async (record) => ({ value: undefined, record: { ...record, clients } }), signal);

const signInFile = async (): Promise<string> => {
  const names = await readdir(folder);
  return join(folder, names.find((name) => name.endsWith(".json")) ?? "missing");
};

describe("the store on disk", () => {
  it("keeps what was put for another instance, each address apart", async () => {
    await put(new DiskStore({ folder }), URL_A);
    const again = new DiskStore({ folder });
    expect((await again.read(URL_A)).clients).toEqual([CLIENT]);
    expect((await again.read("https://b.example/mcp")).clients).toEqual([]);
  });

  onPosix("writes files that only their owner can read, in a folder that only they can open", async () => {
    await put(new DiskStore({ folder }), URL_A);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(await signInFile())).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toHaveLength(1);
  });

  onPosix("closes what was left open", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await chmod(folder, 0o755);
    await chmod(await signInFile(), 0o644);
    await store.read(URL_A);
    expect((await stat(await signInFile())).mode & 0o777).toBe(0o600);
    await put(store, URL_A);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it("removes the file of a record that is empty", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await put(store, URL_A, []);
    expect(await readdir(folder)).toEqual([]);
  });

  it("removes with it what a crash left while it was being written, and nothing of its neighbours", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await writeFile(`${await signInFile()}.0000.tmp`, "a token");
    await writeFile(join(folder, "sign-in-other.json.0000.tmp"), "somebody else's");
    const beside = `${await signInFile()}.beside`;
    await writeFile(beside, "no draft");
    await put(store, URL_A, []);
    expect((await readdir(folder)).sort()).toEqual([basename(beside), "sign-in-other.json.0000.tmp"].sort());
  });

  it.each([
    "",
    "{",
    "[]",
    "{}",
    '{"version":2,"url":"x","clients":[],"grants":[]}',
    '{"version":1,"url":"x","clients":[],"grants":[{}]}',
    '{"version":1,"url":"x","clients":{},"grants":[]}',
    '{"version":1,"url":"x","clients":[null],"grants":[]}',
    '{"version":1,"url":"x","clients":[]}',
    '{"version":1,"clients":[],"grants":[]}',
  ])("refuses a corrupt file (%j) and says which", async (content) => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const file = await signInFile();
    await writeFile(file, content);
    await expect(store.read(URL_A)).rejects.toMatchObject({
      code: "auth_required",
      situation: "auth.store",
      message: expect.stringContaining(`${file} cannot be used: its content is corrupt`),
    });
  });

  asRoot("refuses files and folders of somebody else", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await chown(await signInFile(), 12_345, 12_345);
    await expect(store.read(URL_A)).rejects.toMatchObject({
      message: expect.stringContaining("belongs to user 12345"),
    });
    await chown(folder, 12_345, 12_345);
    await expect(put(store, "https://b.example/")).rejects.toMatchObject({ situation: "auth.store" });
  });

  onPosix("keeps its files where its owner's link leads, in a folder that only they can open", async () => {
    const real = join(scratch, "elsewhere");
    await mkdir(real, { mode: 0o755 });
    await symlink(real, folder);
    await put(new DiskStore({ folder }), URL_A);
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toEqual([CLIENT]);
    expect((await stat(real)).mode & 0o777).toBe(0o700);
    expect(await readdir(real)).toHaveLength(1);
  });

  asRoot("refuses a link of somebody else", async () => {
    await symlink(scratch, folder);
    await lchown(folder, 12_345, 12_345);
    await expect(put(new DiskStore({ folder }), URL_A)).rejects.toMatchObject({ situation: "auth.store" });
  });

  it("does not take what was kept of one address for another's", async () => {
    const store = new DiskStore({ folder });
    await put(store, "https://b.example/mcp");
    const other = await signInFile();
    const record = await readFile(other, "utf8");
    await rm(other);
    await put(store, URL_A);
    await writeFile(await signInFile(), record);
    expect(await store.read(URL_A)).toEqual({ url: URL_A, clients: [], grants: [] });
  });

  it("refuses what is no file, or too large for what it keeps", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const file = await signInFile();
    await writeFile(file, JSON.stringify({ version: 1, url: URL_A, clients: [], grants: [], x: "x".repeat(1 << 20) }));
    await expect(store.read(URL_A)).rejects.toMatchObject({
      message: expect.stringContaining(`${file} cannot be used: it is too large`),
    });
    await rm(file);
    await mkdir(file);
    await expect(store.read(URL_A)).rejects.toMatchObject({
      situation: "auth.store",
      message: expect.stringContaining(`${file} cannot be used: `),
    });
  });

  it("never writes more than it would read: what an authorization server makes that large lasts as long as the process", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const clients = [{ ...CLIENT, clientId: "x".repeat(1 << 20) }];
    await store.update(URL_A, async (record) => ({ value: undefined, record: { ...record, clients } }), signal);
    expect((await store.read(URL_A)).clients).toEqual(clients);
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toEqual([CLIENT]);
  });

  it("where nothing can be written keeps sign-ins in memory, warns once, and says so", async () => {
    await writeFile(join(scratch, "plain-file"), "");
    const warnings: string[] = [];
    const store = new DiskStore({ folder: join(scratch, "plain-file", "x"), onWarning: (text) => warnings.push(text) });
    await put(store, URL_A);
    await put(store, URL_A);
    expect((await store.read(URL_A)).clients).toEqual([CLIENT]);
    expect(warnings).toEqual([expect.stringContaining("Sign-ins are kept in memory only: cannot write to")]);
    expect(store.describe()).toMatchObject({ kind: "disk", problem: expect.stringContaining("cannot write") });
  });

  it("keeps in memory what cannot be written at last, leaves no token behind on the disk, and writes again later", async () => {
    const warnings: string[] = [];
    const store = new DiskStore({ folder, onWarning: (text) => warnings.push(text) });
    await put(store, URL_A);
    const file = await signInFile();
    const other = { ...CLIENT, clientId: "other" };
    // Something that no file can be renamed onto comes in between.
    const change = async (record: SignInRecord): Promise<{ value: string; record: SignInRecord }> => {
      await rm(file);
      await mkdir(join(file, "in"), { recursive: true });
      return { value: "done", record: { ...record, clients: [other] } };
    };
    expect(await store.update(URL_A, change, signal)).toBe("done");
    expect((await store.read(URL_A)).clients).toEqual([other]);
    expect(warnings).toHaveLength(1);
    expect(await readdir(folder)).toEqual([basename(file)]);
    await rm(file, { recursive: true });
    await store.update(URL_A, async (record) => ({ value: undefined, record }), signal);
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toEqual([other]);
  });
});

describe("the lock of the store", () => {
  const lockPath = async (): Promise<string> => `${await signInFile()}.lock`;
  const owner = (pid: number, host = hostname()): string => JSON.stringify({ pid, host, id: "someone" });

  it("of a dead process is broken at once", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const dead = spawn(process.execPath, ["--version"], { stdio: "ignore" });
    await once(dead, "exit");
    await writeFile(await lockPath(), owner(dead.pid ?? 0));
    const start = performance.now();
    await put(store, URL_A);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it.each([
    [process.pid, hostname()],
    // No such process here, which says nothing about a machine that shares the folder.
    [2 ** 22 + 1, "elsewhere"],
  ])("of a living process (%i on %s) is waited for, and named when it does not let go", async (pid, host) => {
    const store = new DiskStore({ folder, limits: resolveLimits({ storeLockMs: 100 }) });
    await put(store, URL_A);
    await writeFile(await lockPath(), owner(pid, host));
    await expect(put(store, URL_A)).rejects.toMatchObject({
      situation: "auth.store",
      message: expect.stringContaining(`process ${pid} on ${host} holds it`),
    });
    setTimeout(() => void lockPath().then((path) => rm(path)), 30);
    await put(new DiskStore({ folder }), URL_A);
  });

  it("stays with whoever took it over meanwhile", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const path = `${await signInFile()}.lock`;
    const change = async (): Promise<{ value: undefined }> => {
      await writeFile(path, owner(process.pid));
      return { value: undefined };
    };
    await store.update(URL_A, change, signal);
    expect(await readFile(path, "utf8")).toBe(owner(process.pid));
  });

  it("is given up when the call is cancelled", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await writeFile(await lockPath(), owner(process.pid));
    const controller = new AbortController();
    const waiting = store.update(URL_A, async () => ({ value: 1 }), controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    expect(store.describe()).toEqual({ kind: "disk", folder });
  });

  it.each([
    ["another machine's, long untouched", owner(1, "elsewhere"), 300_000],
    ["another machine's, from the future", owner(1, "elsewhere"), -300_000],
    ["half written, and left so", "", 10_000],
    ["nobody's, and left so", '{"pid":1}', 10_000],
  ])("that is %s is broken", async (_, content, age) => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    const path = await lockPath();
    await writeFile(path, content);
    const time = (Date.now() - age) / 1000;
    await utimes(path, time, time);
    await put(store, URL_A);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("is held by one at a time, also by those who break an old one together", async () => {
    let inside = 0;
    let most = 0;
    const stores = Array.from({ length: 8 }, () => new DiskStore({ folder }));
    const change = async (record: SignInRecord): Promise<{ value: undefined; record: SignInRecord }> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return { value: undefined, record: { ...record, clients: [...record.clients, CLIENT] } };
    };
    for (let round = 0; round < 12; round += 1) {
      await put(new DiskStore({ folder }), URL_A);
      await writeFile(await lockPath(), owner(2 ** 22 + 1));
      await Promise.all(stores.map((store) => store.update(URL_A, change, signal)));
      expect(most).toBe(1);
      expect((await new DiskStore({ folder }).read(URL_A)).clients).toHaveLength(9);
      expect(await readdir(folder)).toHaveLength(1);
    }
  }, 30_000);

  it("is broken although somebody died while breaking it", async () => {
    const store = new DiskStore({ folder });
    await put(store, URL_A);
    await writeFile(await lockPath(), owner(2 ** 22 + 1));
    const breaking = `${await lockPath()}.breaking`;
    await writeFile(breaking, "");
    const time = (Date.now() - 10_000) / 1000;
    await utimes(breaking, time, time);
    await put(store, URL_A);
    expect(await readdir(folder)).toHaveLength(1);
  });
});

describe("several processes", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** Starts the program; the result resolves with its line of JSON after `go`. */
  async function start(...args: string[]): Promise<{ go: () => Promise<unknown> }> {
    return await startOn("", ...args);
  }

  /** The same on a disk that refuses for a moment. */
  async function startOn(refuses: string, ...args: string[]): Promise<{ go: () => Promise<unknown> }> {
    const disk =
      refuses === "" ? [] : [`--import=${new URL("../../fixtures/auth/refusing-disk.mjs", import.meta.url)}`];
    const env = { ...process.env, REFUSES: refuses };
    const child = spawn(process.execPath, [...disk, program, ...args], { env, stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await lines.next();
    return {
      go: async () => {
        child.stdin.write("go\n");
        return JSON.parse(String((await lines.next()).value));
      },
    };
  }

  it("lose none of each other's changes", async () => {
    const programs = await Promise.all([1, 2, 3].map(() => start("count", folder, URL_A, "10")));
    await Promise.all(programs.map(({ go }) => go()));
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toHaveLength(30);
  });

  it.each([
    ["unlink 3"],
    ["open 3"],
    ["open 3 .json"],
    ["rename 3"],
    ["readFile 3"],
    ["unlink 2,open 2,rename 2,readFile 2"],
  ])("change the store although the disk refuses for a moment (%s)", async (refuses) => {
    await put(new DiskStore({ folder }), URL_A, [CLIENT]);
    const { go } = await startOn(refuses, "count", folder, URL_A, "2");
    const startedAt = performance.now();
    expect(await go()).toEqual({ added: 2 });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toHaveLength(3);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("break an abandoned lock although the disk refuses for a moment", async () => {
    await put(new DiskStore({ folder }), URL_A, [CLIENT]);
    await writeFile(`${await signInFile()}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), id: "dead" }));
    const { go } = await startOn("readFile 2,open 2 .breaking,unlink 4", "count", folder, URL_A, "2");
    expect(await go()).toEqual({ added: 2 });
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("wait no longer for a lock that nobody can remove than for one that is held", async () => {
    await put(new DiskStore({ folder }), URL_A, [CLIENT]);
    await writeFile(`${await signInFile()}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), id: "dead" }));
    const { go } = await startOn("unlink 100000 .lock", "count", folder, URL_A, "1", "500");
    const startedAt = performance.now();
    expect(await go()).toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("does not release it"),
    });
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it("have done their work where the disk never lets a lock go", async () => {
    await put(new DiskStore({ folder }), URL_A, [CLIENT]);
    const { go } = await startOn("unlink 1000", "count", folder, URL_A, "1");
    expect(await go()).toEqual({ added: 1 });
    expect((await new DiskStore({ folder }).read(URL_A)).clients).toHaveLength(2);
  });

  it("refresh once, and all use the tokens that one of them got", async () => {
    const server = await new FakeAuthorizationServer().start();
    const resource = await new FakeResource(server).start();
    try {
      await call(withBrowser(resource.url, { store: new DiskStore({ folder }) }).authorizer, resource.url);
      server.live.clear();
      const before = resource.requests("/mcp").length;
      // The first refresh is answered when both have been refused.
      server.beforeToken = async () => {
        const deadline = Date.now() + 10_000;
        while (resource.requests("/mcp").length < before + 2 && Date.now() < deadline) {
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const programs = await Promise.all([start("call", folder, resource.url), start("call", folder, resource.url)]);
      const results = await Promise.all(programs.map(({ go }) => go()));
      expect(results).toEqual(Array(2).fill({ status: 200, answered: 1 }));
      expect(server.requests("/token").map(({ form }) => form.get("grant_type"))).toEqual([
        "authorization_code",
        "refresh_token",
      ]);
      expect(await readFile(await signInFile(), "utf8")).toContain([...server.live.keys()][0] ?? "no token");
    } finally {
      await Promise.all([server.stop(), resource.stop()]);
    }
  });
});

describe("the folder", () => {
  it.each([
    [{ XDG_DATA_HOME: "/data" }, "linux", join("/data", "rpi-mcp")],
    [{ XDG_DATA_HOME: "relative" }, "linux", join(".local", "share", "rpi-mcp")],
    [{}, "linux", join(".local", "share", "rpi-mcp")],
    [{}, "darwin", join("Library", "Application Support", "rpi-mcp")],
    [{ LOCALAPPDATA: "C:\\Local" }, "win32", join("C:\\Local", "rpi-mcp")],
  ] as const)("with %j on %s ends in %s", (env, platform, end) => {
    expect(dataFolder(env, platform).endsWith(end)).toBe(true);
  });
});
