import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { Redactor } from "../../src/redactor.ts";
import { Registry } from "../../src/runtime/registry.ts";
import type { Scope } from "../../src/runtime/scope.ts";
import { Settings } from "../../src/runtime/settings.ts";
import type { Target } from "../../src/runtime/target.ts";
import { waitFor } from "../support/wait.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Place {
  readonly settings: Settings;
  readonly scope: Scope;
  readonly write: (command: string) => void;
}

function place(): Place {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "settings-")));
  folders.push(cwd);
  const unused = (): never => {
    throw new Error("Nothing connects here.");
  };
  const registry = new Registry(unused, LIMITS);
  return {
    settings: new Settings({
      limits: LIMITS,
      redactor: new Redactor(),
      registry,
    }),
    scope: { key: "library", cwd },
    write: (command) => writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { it: { command } } })),
  };
}

const TARGET = { server: "it", configPath: "mcp.json" };

test("calls for one server in one turn of the event loop share one look at the files, later ones look anew", async () => {
  const { settings, scope, write } = place();
  write("one");
  const looks = [scope, scope, { ...scope }].map((asking) => settings.resolve(asking, { ...TARGET }));
  for (const spec of await Promise.all(looks)) expect(spec).toMatchObject({ endpoint: { command: "one" } });
  expect(looks[1]).toBe(looks[0]);
  expect(looks[2]).not.toBe(looks[0]);
  write("another");
  await expect(settings.resolve(scope, TARGET)).resolves.toMatchObject({
    endpoint: { command: "another" },
  });
});

test("what is written between two calls of one turn is seen by the later one", async () => {
  const { settings, scope, write } = place();
  write("one");
  await settings.resolve(scope, TARGET);
  const earlier = settings.resolve(scope, TARGET);
  write("other");
  await expect(settings.resolve(scope, TARGET)).resolves.toMatchObject({
    endpoint: { command: "other" },
  });
  await expect(earlier).resolves.toMatchObject({
    endpoint: { command: expect.any(String) },
  });
});

test("a target that cannot be resolved fails all who share the look, and nobody after it", async () => {
  const { settings, scope, write } = place();
  write("one");
  const calls = [0, 1].map(() => settings.resolve(scope, { ...TARGET, server: "missing" }));
  for (const ended of await Promise.allSettled(calls))
    expect(ended).toMatchObject({
      status: "rejected",
      reason: { code: "server_not_found" },
    });
  await expect(settings.resolve(scope, TARGET)).resolves.toMatchObject({
    name: "it",
  });
});

test("a look from one of very many folders of a session comes to an end", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "settings-")));
  folders.push(home);
  const configHome = process.env["XDG_CONFIG_HOME"];
  process.env["XDG_CONFIG_HOME"] = home;
  try {
    const configPath = join(home, "mcp", "mcp.json");
    mkdirSync(join(home, "mcp"));
    writeFileSync(configPath, JSON.stringify({ mcpServers: { it: { command: "it" } } }));
    const scopes = Array.from(
      { length: 100 },
      (_, at): Scope => ({ key: "session:s", cwd: join(home, `folder-${at}`) }),
    );
    let looks = 0;
    const registry = {
      status: () => {
        if (++looks > 500) throw new Error("It would go on for ever.");
        return scopes.map((scope) => ({
          name: "it",
          scope,
          target: {},
          spec: { configPath },
          connection: undefined,
        }));
      },
      close: async () => undefined,
    } as unknown as Registry;
    const settings = new Settings({
      limits: LIMITS,
      redactor: new Redactor(),
      registry,
    });
    await settings.view({ key: "session:s", cwd: join(home, "another") });
    let before = -1;
    await waitFor("it is over", async () => {
      const isOver = looks === before;
      before = looks;
      await setTimeout(200);
      return isOver;
    });
    expect(looks).toBeLessThanOrEqual(101);
  } finally {
    if (configHome === undefined) delete process.env["XDG_CONFIG_HOME"];
    else process.env["XDG_CONFIG_HOME"] = configHome;
  }
});

test("an unknown server is told with what is configured, and with the files that could not be read", async () => {
  const { settings, scope, write } = place();
  write("one");
  await expect(settings.resolve(scope, { server: "other", configPath: "mcp.json" })).rejects.toMatchObject({
    code: "server_not_found",
    details: { server: "other", configured: ["it"] },
  });
  mkdirSync(join(scope.cwd, ".rpi"));
  writeFileSync(join(scope.cwd, ".rpi", "mcp.json"), "{");
  writeFileSync(join(scope.cwd, ".mcp.json"), JSON.stringify({ mcpServers: { it: { command: "one" } } }));
  const problem = expect.stringContaining(join(scope.cwd, ".rpi", "mcp.json"));
  await expect(settings.resolve(scope, { server: "other" })).rejects.toMatchObject({
    code: "server_not_found",
    details: { configured: expect.arrayContaining(["it"]), problems: expect.arrayContaining([problem]) },
  });
});

/** A registry of connections that were made like this, and the files of those that are closed, or taken out of use. */
function registryOf(
  made: readonly { readonly scope: Scope; readonly configPath: string; readonly target?: Target }[],
): {
  readonly registry: Registry;
  readonly closed: string[];
  readonly released: string[];
} {
  const closed: string[] = [];
  const released: string[] = [];
  const registry = {
    status: () =>
      made.map(({ scope, configPath, target = {} }) => ({ scope, target, spec: { name: "it", configPath } })),
    close: async (_: Scope, { configPath }: { configPath: string }) => void closed.push(configPath),
    release: (_: Scope, { configPath }: { configPath: string }) => void released.push(configPath),
  } as unknown as Registry;
  return { registry, closed, released };
}

test("the connection of an entry in whose place another file's came is taken out of use, and no other", async () => {
  const { scope } = place();
  mkdirSync(join(scope.cwd, ".rpi"));
  const [before, now] = [join(scope.cwd, ".mcp.json"), join(scope.cwd, ".rpi", "mcp.json")];
  for (const path of [before, now]) writeFileSync(path, JSON.stringify({ mcpServers: { it: { command: "one" } } }));
  const elsewhere = join(scope.cwd, "elsewhere.json");
  const made = [
    ...[before, now].map((configPath) => ({ scope, configPath })),
    ...[before, elsewhere].map((configPath) => ({ scope, configPath, target: { configPath } })),
  ];
  const { registry, closed, released } = registryOf(made);
  const settings = new Settings({ limits: LIMITS, redactor: new Redactor(), registry });
  expect((await settings.view(scope)).servers.get("it")?.configPath).toBe(now);
  expect({ closed, released }).toEqual({ closed: [], released: [before] });
});

test("the connection of an entry that a named file has no longer is closed, in whatever folder it was made", async () => {
  const { scope } = place();
  const configPath = join(scope.cwd, "mcp.json");
  writeFileSync(configPath, JSON.stringify({ mcpServers: {} }));
  const { registry, closed } = registryOf([{ scope: { ...scope, cwd: tmpdir() }, configPath, target: { configPath } }]);
  const settings = new Settings({ limits: LIMITS, redactor: new Redactor(), registry });
  await settings.view(scope, configPath);
  expect(closed).toEqual([configPath]);
});
