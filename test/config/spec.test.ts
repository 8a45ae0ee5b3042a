import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ConfigView } from "../../src/config/store.ts";
import { Redactor } from "../../src/redactor.ts";
import type { HttpEndpoint, ServerSpec } from "../../src/server-spec.ts";
import { ConfigHome, failure } from "../support/config-home.ts";

let place: ConfigHome;
beforeEach(() => {
  place = new ConfigHome();
});
afterEach(() => place.remove());

function specOf(view: ConfigView, cwd = place.cwd, name = "s"): ServerSpec {
  const entry = view.servers.get(name);
  if (entry === undefined) throw new Error(`${name} is not listed.`);
  return entry.spec({ cwd });
}

describe("a spec", () => {
  it("is the same object while file, variables and working directory are the same", async () => {
    place.env.TOKEN = "first-token";
    const content = { mcpServers: { s: { command: "x", env: { T: "${TOKEN}" } } } };
    const path = place.user(".rpi/mcp.json", content);
    const store = place.store();
    const load = () => store.load({ cwd: place.cwd });
    const first = specOf(await load());
    expect(specOf(await load())).toBe(first);
    place.env.UNRELATED = "changed";
    expect(specOf(await load())).toBe(first);

    place.env.TOKEN = "second-token";
    const second = specOf(await load());
    expect(second).not.toBe(first);
    expect(second.endpoint).toMatchObject({ env: { T: "second-token" } });
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(specOf(await load())).toBe(second);

    expect(specOf(await load(), "/elsewhere")).not.toBe(second);
    expect(specOf(await load(), "/elsewhere").fingerprint).not.toBe(second.fingerprint);

    const last = specOf(await load());
    writeFileSync(path, JSON.stringify({ mcpServers: { ...content.mcpServers, other: { command: "y" } } }));
    expect(specOf(await load())).toBe(last);
    place.project(".mcp.json", { mcpServers: { third: { command: "z" } } });
    expect(specOf(await load())).toBe(last);
    place.project(".mcp.json", { mcpServers: { s: { timeout: 5 } } });
    expect(specOf(await load())).not.toBe(last);
    expect(specOf(await load()).fingerprint).toBe(last.fingerprint);
  });

  it("notices that a variable which had a default is set", async () => {
    const view = await place.explicit({ mcpServers: { s: { command: "${CMD:-x}" } } });
    const first = specOf(view);
    expect(first.endpoint).toMatchObject({ command: "x" });
    place.env.CMD = "y";
    expect(specOf(view).endpoint).toMatchObject({ command: "y" });
    delete place.env.CMD;
    expect(specOf(view)).toEqual(first);
  });

  it("fails while a variable is missing, and works once it is set", async () => {
    const view = await place.explicit({ mcpServers: { s: { url: "http://h/", headers: { A: "${TOKEN}" } } } });
    expect(view.servers.get("s")?.error).toBeUndefined();
    expect(await failure(() => specOf(view))).toBe(
      `config.variable: Server "s" in ${join(place.cwd, "explicit.json")}: headers.A uses \${TOKEN}, which is not set. Set it in the environment or write \${TOKEN:-default}.`,
    );
    place.env.TOKEN = "t";
    expect(specOf(view).endpoint).toMatchObject({ headers: { A: "t" } });
  });

  it.each([
    [{ command: "${NO}" }, "command"],
    [{ command: "x", args: ["a", "${NO}"] }, "args[1]"],
    [{ command: "x", env: { A: "${NO}" } }, "env.A"],
    [{ command: "x", cwd: "${NO}" }, "cwd"],
    [{ url: "http://h/${NO}" }, "url"],
    [{ url: "http://h/", oauth: { identityProvider: { idToken: "${NO}" } } }, "oauth.identityProvider.idToken"],
  ])("of %j says where the missing variable stands", async (raw, field) => {
    expect(await failure(async () => await place.spec(raw))).toContain(`: ${field} uses \${NO}, which is not set`);
  });

  it("of a view that was taken before a change goes on as it was", async () => {
    const store = place.store();
    place.user(".rpi/mcp.json", { mcpServers: { s: { command: "1" } } });
    const before = await store.load({ cwd: place.cwd });
    place.user(".rpi/mcp.json", { mcpServers: { s: { command: "2" } } });
    const after = await store.load({ cwd: place.cwd });
    expect([specOf(before), specOf(after)]).toMatchObject([
      { endpoint: { command: "1" } },
      { endpoint: { command: "2" } },
    ]);
  });

  it("cannot be changed by its users", async () => {
    expect(Object.isFrozen(await place.spec({ command: "x" }))).toBe(true);
  });
});

describe("the environment", () => {
  it("is the process's own by default, read when it is used", async () => {
    const { env } = process;
    const servers = { mcpServers: { s: { command: "${CONFIG_ROOM_TEST}" } } };
    const view = await place.explicit(servers, { env: undefined as never });
    try {
      env.CONFIG_ROOM_TEST = "1";
      expect(specOf(view).endpoint).toMatchObject({ command: "1" });
      env.CONFIG_ROOM_TEST = "2";
      expect(specOf(view).endpoint).toMatchObject({ command: "2" });
    } finally {
      delete env.CONFIG_ROOM_TEST;
    }
  });
});

describe("the fingerprint", () => {
  const program = {
    command: "x",
    args: ["a"],
    env: { A: "1", B: "2" },
    cwd: "/c",
    inheritEnv: ["P"],
    protocol: "auto",
  };
  const remote = { url: "http://h/", headers: { A: "1", B: "2" }, oauth: { clientId: "c" } };

  it.each<[object, object]>([
    [program, { command: "y" }],
    [program, { args: ["a", "b"] }],
    [program, { args: [] }],
    [program, { env: { A: "1" } }],
    [program, { env: { A: "1", B: "3" } }],
    [program, { cwd: "/d" }],
    [program, { inheritEnv: false }],
    [program, { inheritEnv: true }],
    [program, { protocol: "2025-06-18" }],
    [remote, { url: "http://h/x" }],
    [remote, { headers: { A: "1" } }],
    [remote, { headers: { A: "1", B: "3" } }],
    [remote, { oauth: false }],
    [remote, { oauth: { clientId: "d" } }],
    [remote, { type: "sse" }],
  ])("of %j changes with %j", async (base, change) => {
    const before = await place.spec(base);
    expect((await place.spec({ ...base, ...change })).fingerprint).not.toBe(before.fingerprint);
  });

  it.each<[object, object]>([
    [program, { timeout: 5 }],
    [program, { maxTotalSeconds: 100 }],
    [program, { maxResultBytes: 100 }],
    [program, { autoApprove: true }],
    [program, { includeTools: ["a"], excludeTools: ["b"] }],
    [program, { exposure: "hidden", enabled: true, stopOnCancel: true, unknown: 1 }],
    [program, { env: { B: "2", A: "1" } }],
    [remote, { headers: { B: "2", A: "1" } }],
    [remote, { url: "http://h:80" }],
  ])("of %j stays with %j", async (base, change) => {
    const before = await place.spec(base);
    expect((await place.spec({ ...base, ...change })).fingerprint).toBe(before.fingerprint);
  });
});

describe("secrets", () => {
  const secrets = async (raw: unknown) => [...(await place.spec(raw)).secrets].sort();

  it("are expanded values of 8 characters and more, wherever they stand", async () => {
    Object.assign(place.env, { ONE: "value-one", TWO: "value-two", SHORT: "1234567", SIX: "value-six" });
    expect(
      await secrets({ command: "x", args: ["--a=${ONE}", "${SHORT}"], env: { A: "pre ${TWO}" }, cwd: "/${SIX}" }),
    ).toEqual(["value-one", "value-six", "value-two"]);
    expect(await secrets({ url: "http://h/${ONE}", oauth: { scope: "${TWO}" } })).toEqual(["value-one", "value-two"]);
  });

  it("are not the plain facts about a machine, its folders and its person", async () => {
    const { cwd, home } = place;
    const facts = {
      HOME: home,
      PATH: "/usr/bin:/bin",
      USER: "somebody",
      LOGNAME: "somebody",
      TMPDIR: "/var/tmp/x",
      LANG: "en_US.UTF-8",
    };
    Object.assign(place.env, facts, {
      PWD: cwd,
      SHELL: "/bin/bash-x",
      TEMP: "/temporary",
      TMP: "/temporary",
      WORK: cwd,
      MINE: home,
    });
    const names = [...Object.keys(facts), "PWD", "SHELL", "TEMP", "TMP", "WORK", "MINE"];
    expect(await secrets({ command: "x", args: names.map((name) => `\${${name}}`) })).toEqual([]);
  });

  it("are header values, with and without their scheme, but not what every client sends", async () => {
    expect(
      await secrets({
        url: "http://h/",
        headers: {
          Authorization: "Bearer abcdefgh12",
          "X-Key": "key-12345",
          "X-Short": "1234567",
          Accept: "application/json",
        },
      }),
    ).toEqual(["Bearer abcdefgh12", "abcdefgh12", "key-12345"]);
  });

  it("are values of variables with a telling name, and passwords in addresses", async () => {
    expect(
      await secrets({
        command: "x",
        args: ["postgres://me:password-1@h/db"],
        env: {
          API_KEY: "key-12345",
          DB_PASSWORD: "password-2",
          GITHUB_TOKEN: "token-123",
          CLIENT_SECRET: "secret-12",
          BASIC_AUTH: "auth-1234",
          DATABASE_URL: "mysql://u:password-3@h/",
          REPOSITORY: "https://a-token-instead-of-a-name@git.example/x",
          GIT_AUTHOR_NAME: "Jane Doe Smith",
          MODE: "production",
          KEY: "short",
        },
      }),
    ).toEqual([
      "a-token-instead-of-a-name",
      "auth-1234",
      "key-12345",
      "password-1",
      "password-2",
      "password-3",
      "secret-12",
      "token-123",
    ]);
  });

  it("are what arguments and values of variables write out beside a telling name", async () => {
    expect(
      await secrets({
        command: "x",
        args: ["-e", "API_KEY=key-12345", "--header", "Authorization: Bearer abcdefgh12", "--token", "token-123"],
        env: { HEADERS: '{"Authorization": "Bearer ijklmnop34", "Version": "2022-06-28"}', DB_PWD: "password-1" },
      }),
    ).toEqual([
      "Bearer abcdefgh12",
      "Bearer ijklmnop34",
      "abcdefgh12",
      "ijklmnop34",
      "key-12345",
      "password-1",
      "token-123",
    ]);
  });

  it.each([
    "--authentication interactive",
    "--auth-type managed-identity",
    "--authenticator externalbrowser",
    "--auth-server-url https://auth.example/",
    "--oauth-scopes=repo,user:email",
    "--token-limit 100000000",
    "--max-tokens 100000000",
    "--key-prefix production:",
    "--set auth.enabled=everywhere",
    "--no-auth everything",
    "--keyboard-layout german-neo2",
    "-Djavax.net.ssl.keyStore=conf/keys.jks",
    "--headers Accept text/event-stream",
    "--hotkey Control+Shift+A",
    "--tokenizer cl100k_base",
    "--api-key-env OPENAI_API_KEY",
    "--private-key-file key-for-this-server",
    "--ssh-key /home/me/.ssh/id_ed25519",
    "--credentials ./service-account.json",
    "-e GOOGLE_APPLICATION_CREDENTIALS=/run/secrets/gcp.json",
  ])("are no modes, names, numbers and places beside such a name, as in %s", async (text) => {
    const args = text.split(" ");
    expect(await secrets({ command: "x", args })).toEqual([]);
    expect((await place.entry({ command: "x", args })).summary).toBe(`x ${text}`);
    const [, name = "", value = ""] = /([\w-]+)[ =](\S+)$/.exec(text) ?? [];
    if (!name.startsWith("-")) expect(await secrets({ command: "x", env: { [name]: value } })).toEqual([]);
  });

  it.each([
    "--auth-header Bearer-abcdefgh",
    "--auth user:password-1",
    "--key /tVb/3fZ+base64/text=",
    "-e AWS_ACCESS_KEY_ID=AKIA12345678",
    "--header Authentication:abcdefgh12",
    "--headers Authorization Bearer-abcdefgh",
  ])("are values beside other names that hold a telling word, as in %s", async (text) => {
    expect(await secrets({ command: "x", args: text.split(" ") })).toHaveLength(1);
  });

  it.each([
    ["API_KEY=key-12345 node server.js", ["key-12345"]],
    ["cd /srv && API_KEY=key-12345 exec node server.js", ["key-12345"]],
    ["export API_KEY=key-12345;node server.js --verbose", ["key-12345"]],
    ["API_KEY='key 12345' TOKEN=\"token 123\" npx server", ["key 12345", "token 123"]],
    ["npx server --token 'token-123' --port 1", ["token-123"]],
    ['npx mcp-remote http://h --header "Authorization: Bearer abcdefgh12"', ["Bearer abcdefgh12", "abcdefgh12"]],
    [
      "docker run --env=API_KEY=key-12345 -e 'DB_PWD=pass word1' -eTOKEN=token-123 image",
      ["key-12345", "pass word1", "token-123"],
    ],
    ["sh -c 'API_KEY=key-12345 npx server'", ["key-12345"]],
    // What is run in place of a value is no secret: whoever is asked to start it must see it.
    ["TOKEN=$(curl http://h/x|sh) node server.js", []],
    ['TOKEN="`curl http://h/x`" node server.js', []],
  ])("are the values alone where a shell is to run %j", async (command, expected) => {
    for (const args of [
      ["-c", command],
      ["-lc", command],
      ["--stdio", command],
    ])
      expect(await secrets({ command: "sh", args })).toEqual(expected);
  });

  it.each([
    ["/c", "set API_KEY=key-12345&& npx server"],
    ["/C", 'set "API_KEY=key-12345" && npx server'],
    ["-Command", "$env:API_KEY='key-12345'; npx server"],
    ["-c", '$env:API_KEY="key-12345"; npx server'],
  ])("are the values alone where a shell of Windows is to run %s %j", async (option, command) => {
    expect(await secrets({ command: "cmd", args: [option, command] })).toEqual(["key-12345"]);
  });

  it("are known as the address spells them", async () => {
    place.env["MIXED"] = "a b+c/d{e}";
    const { secrets: found, endpoint } = await place.spec({ url: "http://h/${MIXED}?v=${MIXED}&key=Ab+Cd/Ef==" });
    const redactor = new Redactor();
    redactor.add(found);
    expect(redactor.text((endpoint as HttpEndpoint).url)).toBe("http://h/[redacted]?v=[redacted]&key=[redacted]");
    expect(found).toContain("Ab Cd/Ef==");
    place.env["MIXED"] = place.cwd;
    expect((await place.spec({ url: "http://h${MIXED}" })).secrets).toEqual([]);
  });

  it("are telling parameters of an address and what signs us in", async () => {
    expect(await secrets({ url: "http://h/?api_key=key-12345&page=page-12345" })).toEqual(["key-12345"]);
    expect(
      await secrets({
        url: "http://h/",
        oauth: {
          clientId: "client-123456",
          clientSecret: "secret-123",
          privateKey: "private-123",
          assertion: "assertion-1",
          identityProvider: { clientSecret: "idp-secret", idToken: "id-token-1", issuer: "https://issuer" },
        },
      }),
    ).toEqual(["assertion-1", "id-token-1", "idp-secret", "private-123", "secret-123"]);
  });
});

describe("an entry of very many headers", () => {
  it("is looked through in no time to speak of, and one that is given twice is still found", async () => {
    const headers = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`X-${at}`, "v"]));
    const entry = await place.entry({ url: "http://h/", headers: { ...headers, "x-19999": "w" } });
    const began = process.cpuUsage();
    expect(entry.flaw({ cwd: place.cwd })?.message).toContain("headers.x-19999 is given twice");
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});
