import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { resolveLimits } from "../../src/limits.ts";
import { REVISIONS } from "../../src/protocol/versions.ts";
import type { HttpEndpoint, StdioEndpoint } from "../../src/server-spec.ts";
import { ConfigHome, failure } from "../support/config-home.ts";

const place = new ConfigHome();
afterAll(() => place.remove());

/** Why an entry is refused, without the part that names server and file. */
async function refusal(raw: unknown): Promise<string> {
  const entry = await place.entry(raw);
  const text = entry.error?.message ?? (await failure(() => entry.spec({ cwd: place.cwd })));
  return text.slice(text.indexOf("explicit.json: ") + "explicit.json: ".length);
}

describe("a program", () => {
  it("takes over every field, with its variables expanded", async () => {
    Object.assign(place.env, { WHO: "me" });
    const spec = await place.spec({
      command: "npx",
      args: ["-y", "pkg", "${WHO}"],
      env: { A: "${WHO}/x", N: 1, B: true },
      cwd: "sub",
      timeout: 90,
      maxTotalSeconds: 600,
      maxResultBytes: 1000,
      protocol: REVISIONS[0],
      inheritEnv: ["EXTRA"],
      stopOnCancel: true,
      autoApprove: ["read_*"],
      includeTools: ["a*"],
      excludeTools: ["ab"],
      exposure: "deferred",
      "x-unknown": { kept: true },
    });
    expect(spec).toMatchObject({
      name: "one",
      origin: "explicit",
      configPath: join(place.cwd, "explicit.json"),
      endpoint: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "pkg", "me"],
        env: { A: "me/x", N: "1", B: "true" },
        inheritEnv: ["EXTRA"],
        cwd: join(place.cwd, "sub"),
      },
      protocol: REVISIONS[0],
      timeoutSeconds: 90,
      maxTotalSeconds: 600,
      maxResultBytes: 1000,
      stopOnCancel: true,
      autoApprove: ["read_*"],
      autoApproveFrom: "explicit",
      includeTools: ["a*"],
      excludeTools: ["ab"],
      exposure: "deferred",
    });
  });

  it("has plain defaults", async () => {
    const spec = await place.spec({ command: "x" });
    expect(spec.endpoint).toEqual({ kind: "stdio", command: "x", args: [], env: {}, inheritEnv: true, cwd: place.cwd });
    expect(spec).toMatchObject({ protocol: "auto", stopOnCancel: false, autoApprove: [] });
    expect(spec).not.toHaveProperty("timeoutSeconds");
    expect(spec).not.toHaveProperty("enabled");
  });

  it("starts relative folders at the config file and ~ at the home folder", async () => {
    const folder = async (cwd: string) => ((await place.spec({ command: "x", cwd })).endpoint as StdioEndpoint).cwd;
    expect(await folder("a/b")).toBe(join(place.cwd, "a", "b"));
    expect(await folder("..")).toBe(place.root);
    expect(await folder("~/deep")).toBe(join(place.home, "deep"));
    expect(await folder("/abs")).toBe("/abs");
    expect(((await place.spec({ command: "~/bin/server" })).endpoint as StdioEndpoint).command).toBe(
      join(place.home, "bin", "server"),
    );
  });

  it.each([
    [true, true],
    [false, []],
    [["A"], ["A"]],
  ])("reads inheritEnv %j", async (inheritEnv, expected) => {
    expect((await place.spec({ command: "x", inheritEnv })).endpoint).toMatchObject({ inheritEnv: expected });
  });
});

describe("a remote server", () => {
  it("that is written in two spellings is read in ours", async () => {
    const oauth = { scope: "ours", redirectUri: "http://localhost:1/here" };
    const theirs = { scopes: ["theirs"], callbackPort: 2, redirectPort: 3 };
    const spec = await place.spec({ url: "http://x/", oauth: { ...oauth, ...theirs } });
    expect(spec.endpoint).toMatchObject({ oauth });
    const { endpoint } = await place.spec({ url: "http://x/", oauth: theirs });
    expect(endpoint).toMatchObject({ oauth: { scope: "theirs", redirectUri: "http://127.0.0.1:3/callback" } });
    const plain = await place.spec({ url: "http://x/", oauth: { clientId: "c" } });
    expect((plain.endpoint as { oauth: object }).oauth).toEqual({ clientId: "c" });
  });

  it.each([
    [{ bearerToken: "${TOKEN}" }, { Authorization: "Bearer s3cret-token" }],
    [{ bearerTokenEnv: "TOKEN" }, { Authorization: "Bearer s3cret-token" }],
    [
      { bearerTokenEnv: "TOKEN", headers: { A: "1" } },
      { A: "1", Authorization: "Bearer s3cret-token" },
    ],
    [{ bearerTokenEnv: "TOKEN", headers: { authorization: "Basic x" } }, { authorization: "Basic x" }],
  ])("that is written with %j has the headers %j", async (fields, headers) => {
    place.env.TOKEN = "s3cret-token";
    const { endpoint, secrets } = await place.spec({ url: "http://x/", ...fields });
    expect(endpoint).toMatchObject({ headers });
    if ("Authorization" in headers) expect(secrets).toContain("s3cret-token");
  });

  it("may have variables as pi-mcp-adapter spells them", async () => {
    Object.assign(place.env, { TOKEN: "s3cret-token", HOST: "h" });
    const headers = { A: "Bearer $env:TOKEN", B: "$$env:TOKEN $TOKEN" };
    const { endpoint, secrets } = await place.spec({ url: "http://$env:HOST/x", headers, bearerToken: "$env:TOKEN" });
    expect(endpoint).toMatchObject({
      url: "http://h/x",
      headers: { A: "Bearer s3cret-token", B: "$$env:TOKEN $TOKEN", Authorization: "Bearer s3cret-token" },
    });
    expect(secrets).toContain("s3cret-token");
    const program = { command: "x", args: ["$env:TOKEN"], env: { A: "$env:TOKEN" }, cwd: "/$env:HOST" };
    expect((await place.spec(program)).endpoint).toMatchObject({
      args: ["$env:TOKEN"],
      env: { A: "s3cret-token" },
      cwd: "/h",
    });
    expect(await refusal({ url: "http://x/", headers: { A: "$env:NOT_SET" } })).toContain("NOT_SET");
  });

  it("takes over every field", async () => {
    Object.assign(place.env, { TOKEN: "s3cret-token", CLIENT: "id" });
    const spec = await place.spec({
      url: "http://localhost:8931/mcp#part",
      headers: { Authorization: "Bearer ${TOKEN}" },
      oauth: {
        clientId: "${CLIENT}",
        clientSecret: "${TOKEN}",
        scopes: ["a", "b"],
        callbackPort: 8123,
        identityProvider: { idToken: "${TOKEN}" },
        dpop: true,
      },
    });
    expect(spec.endpoint).toEqual({
      kind: "http",
      transport: "auto",
      url: "http://localhost:8931/mcp",
      headers: { Authorization: "Bearer s3cret-token" },
      oauth: {
        clientId: "id",
        clientSecret: "s3cret-token",
        scope: "a b",
        redirectUri: "http://localhost:8123/callback",
        identityProvider: { idToken: "s3cret-token" },
        dpop: true,
      },
    });
  });

  it.each([
    [false, false],
    [true, undefined],
    [undefined, undefined],
  ])("reads oauth %j", async (oauth, expected) => {
    const { endpoint } = await place.spec({ url: "http://h/", oauth });
    expect((endpoint as HttpEndpoint).oauth).toBe(expected);
  });
});

describe("the transport's name", () => {
  it.each([
    ["http", "http"],
    ["HTTP", "http"],
    ["streamable-http", "http"],
    ["streamableHttp", "http"],
    ["streamable_http", "http"],
    ["sse", "sse"],
    ["SSE", "sse"],
  ])("reads %s as %s, under type and under transport", async (word, expected) => {
    for (const key of ["type", "transport"]) {
      const entry = await place.entry({ [key]: word, url: "http://h/" });
      expect(entry.transport).toBe(expected);
      expect(entry.spec({ cwd: place.cwd }).endpoint).toMatchObject({ kind: "http", transport: expected });
    }
  });

  it("is deduced from command or url", async () => {
    expect((await place.entry({ command: "x" })).transport).toBe("stdio");
    expect((await place.entry({ url: "http://h/" })).transport).toBe("http");
    expect((await place.spec({ url: "http://h/" })).endpoint).toMatchObject({ transport: "auto" });
    expect((await place.entry({ type: "STDIO", command: "x" })).transport).toBe("stdio");
  });

  it.each([
    [{ type: "websocket", url: "http://h/" }, 'type is "websocket"; write stdio, http or sse.'],
    [{ type: "htttp", url: "http://h/" }, 'type is "htttp"; write stdio, http or sse.'],
    [{ transport: "tcp", command: "x" }, 'transport is "tcp"; write stdio, http or sse.'],
    [{ type: "local", command: "x" }, 'type is "local"; write "stdio".'],
    [{ type: "streamable", url: "http://h/" }, 'type is "streamable"; write "http".'],
    [{ type: "remote", url: "http://h/" }, 'type is "remote"; write "http".'],
    [{ type: 1, command: "x" }, "type is 1; write stdio, http or sse."],
    [{ type: "stdio", url: "http://h/" }, 'type is "stdio", but the entry has a url; remove one of them.'],
    [
      { type: "sse", command: "x" },
      'type is "sse", but the entry has a command; remove type, or write url instead of command.',
    ],
    [
      { transport: "http", command: "x" },
      'transport is "http", but the entry has a command; remove transport, or write url instead of command.',
    ],
    [{ type: "http", transport: "sse", url: "http://h/" }, "transport contradicts type; keep one of them."],
    [{ serverUrl: "http://h/" }, 'serverUrl is not read; write "url".'],
    [{ httpUrl: "http://h/", type: "http" }, 'httpUrl is not read; write "url".'],
  ])("refuses %j by name", async (raw, reason) => {
    expect(await refusal(raw)).toBe(reason);
    expect((await place.entry(raw)).transport).toBe("unknown");
  });
});

describe("a field that is null", () => {
  it.each([
    [{ command: "x", args: null, env: null, cwd: null, url: null, headers: null, type: null, timeout: null }],
    [{ url: "http://x/", command: null, args: null, env: null, oauth: null, disabled: null }],
  ])("counts as absent: %j", async (raw) => {
    const plain = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
    expect(await place.spec(raw)).toEqual(await place.spec(plain));
  });
});

describe("a tool that is named with its server before it", () => {
  it.each(["figma_get_code", "mcp__figma__get_code", "mcp__figma_get_code"])("is that tool: %s", async (name) => {
    const { servers } = await place.explicit({
      mcpServers: { figma: { command: "x", includeTools: ["a", name], excludeTools: [name, "figma_*", "figma_"] } },
    });
    expect(servers.get("figma")?.spec({ cwd: place.cwd })).toMatchObject({
      includeTools: ["a", name, "get_code"],
      excludeTools: [name, "figma_*", "figma_", "get_code"],
    });
  });

  it("may have the server's name with other separators", async () => {
    const { servers } = await place.explicit({
      mcpServers: { "chrome-devtools": { command: "x", excludeTools: ["chrome_devtools_close"] } },
    });
    expect(servers.get("chrome-devtools")?.spec({ cwd: place.cwd }).excludeTools).toEqual([
      "chrome_devtools_close",
      "close",
    ]);
  });
});

describe("a bad entry", () => {
  it("never hides the good ones", async () => {
    const bad = { args: ["x"] };
    const { servers, problems } = await place.explicit({
      mcpServers: {
        good: { command: "x" },
        bad,
        nothing: null,
        text: "npx",
        list: [],
        both: { command: "x", url: "http://h/" },
      },
    });
    expect(problems).toEqual([]);
    expect([...servers.keys()]).toEqual(["good", "bad", "nothing", "text", "list", "both"]);
    expect([...servers.values()].filter(({ error }) => error === undefined).map(({ name }) => name)).toEqual(["good"]);
    for (const name of ["bad", "nothing", "text", "list", "both"]) {
      expect(servers.get(name)?.error?.message).toContain(`Server "${name}" in ${join(place.cwd, "explicit.json")}: `);
      expect(servers.get(name)?.error?.code).toBe("config_error");
      expect(() => servers.get(name)?.spec({ cwd: place.cwd })).toThrow(servers.get(name)?.error?.message ?? "");
    }
  });

  it.each<[unknown, string]>([
    [null, "the entry must be an object with command or url."],
    [{}, "the entry needs command (a program) or url (a remote server)."],
    [{ command: "x", url: "http://h/" }, "the entry has both command and url; keep one of them."],
    [{ command: "" }, "command is empty."],
    [{ command: "  " }, "command is empty."],
    [{ url: "" }, "url is empty."],
    [
      { command: ["npx", "-y"] },
      "command must be a string; it names the program alone, and its arguments belong in args.",
    ],
    [{ command: "x", args: "y" }, 'args must be a list, such as ["-y", "some-server"].'],
    [{ command: "x", args: ["a", 1] }, "args[1] must be a string."],
    [{ command: "x", env: { A: null } }, "env.A must be a string or a number or true or false."],
    [{ command: "x", env: { A: { b: 1 } } }, "env.A must be a string or a number or true or false."],
    [{ command: "x", env: { "A=B": "1" } }, 'env has a name that is empty or holds = or NUL: "A=B".'],
    [{ command: "x", env: { "": "1" } }, 'env has a name that is empty or holds = or NUL: "".'],
    [{ command: "x", env: { "A\0": "1" } }, 'env has a name that is empty or holds = or NUL: "A\\u0000".'],
    [{ command: "x", env: ["A=1"] }, "env must be an object."],
    [{ command: "x\0y" }, "command holds NUL."],
    [{ command: "x", args: ["\0"] }, "args[0] holds NUL."],
    [{ command: "x", cwd: "" }, "cwd must not be empty."],
    [{ command: "x", enabled: "yes" }, "enabled must be true or false."],
    [{ command: "x", timeout: 0 }, "timeout must be a number of seconds from 1 to 300."],
    [
      { command: "x", timeout: 301 },
      "timeout must be a number of seconds from 1 to 300; milliseconds go in timeoutMs.",
    ],
    [
      { command: "x", timeout: 3600 },
      "timeout must be a number of seconds from 1 to 300; milliseconds go in timeoutMs.",
    ],
    [{ command: "x", timeout: "60" }, "timeout must be a number of seconds from 1 to 300."],
    [{ command: "x", timeout_ms: 60 }, "timeout_ms must be a number of milliseconds from 1000 to 300000."],
    [{ command: "x", timeoutMs: 3e6 }, "timeoutMs must be a number of milliseconds from 1000 to 300000."],
    [{ command: "x", timeout: 5, timeoutMs: 6000 }, "timeoutMs differs from the other timeout; keep one of them."],
    [{ command: "x", maxTotalSeconds: 3601 }, "maxTotalSeconds must be a number of seconds from 1 to 3600."],
    [{ command: "x", maxResultBytes: 0.5 }, "maxResultBytes must be a whole number."],
    [{ command: "x", protocol: "2024" }, `protocol must be one of ${["auto", ...REVISIONS].join(", ")}.`],
    [{ command: "x", exposure: "loud" }, "exposure must be one of codemode, deferred, direct, hidden."],
    [{ command: "x", inheritEnv: "no" }, "inheritEnv must be true or false or a list."],
    [{ command: "x", autoApprove: "all" }, "autoApprove must be true or false or a list."],
    [{ command: "x", autoApprove: [1] }, "autoApprove[0] must be a string."],
    [{ command: "x", includeTools: "a" }, "includeTools must be a list."],
    [{ url: "http://h/", headers: { A: 1 } }, "headers.A must be a string."],
    [{ url: "http://h/", oauth: { clientId: 1 } }, "oauth.clientId must be a string."],
    [{ url: "http://h/", oauth: "no" }, "oauth must be an object or true or false."],
  ])("%j is refused by field and reason", async (raw, reason) => {
    expect(await refusal(raw)).toBe(reason);
  });

  it.each([
    [{ url: "ftp://h/" }, "url must begin with http:// or https://."],
    [{ url: "localhost:8931" }, "url must begin with http:// or https://."],
    [{ url: "not a url" }, "url is not a valid address; write it as http://host:port/path or https://host/path."],
    [{ url: "http://me:s3cret@h/" }, "url must not hold a user name or password; use headers."],
    [{ url: "http://h/", headers: { "a b": "x" } }, "headers.a b is not a valid HTTP header name."],
    [{ url: "http://h/", headers: { "": "x" } }, "headers. is not a valid HTTP header name."],
    [
      { url: "http://h/", headers: { A: "x\r\nB: y" } },
      "headers.A has a line break, NUL or another character in its value that HTTP does not allow.",
    ],
    [
      { url: "http://h/", headers: { A: "x\0" } },
      "headers.A has a line break, NUL or another character in its value that HTTP does not allow.",
    ],
    [{ url: "http://h/", headers: { A: "1", a: "2" } }, "headers.a is given twice."],
    [
      { url: "http://h/", headers: { "Content-Length": "2" } },
      "headers.Content-Length is set by the transport itself.",
    ],
    [{ url: "http://h/", headers: { host: "other" } }, "headers.host is set by the transport itself."],
  ])("%j is refused when it is used", async (raw, reason) => {
    expect(await refusal(raw)).toBe(reason);
  });

  it.each([
    [{ command: "x", env: { K: "!cat key" } }, "env.K"],
    [{ url: "http://h/", headers: { K: "!cat key" } }, "headers.K"],
    [{ url: "http://h/", oauth: { clientSecret: "!cat key" } }, "oauth.clientSecret"],
    [{ url: "http://h/", bearerToken: "!cat key" }, "bearerToken"],
    [{ command: "!x" }, "command"],
  ])("%j: a value that begins with ! is not run, and says so", async (raw, field) => {
    expect(await refusal(raw)).toBe(
      `${field} begins with "!", which is not run as a command; put the value into a variable, such as \${VAR}.`,
    );
  });

  it.each([
    "headersHelper",
    "headerCommand",
    "requestHeadersCommand",
    "envHelper",
    "apiKeyHelper",
    "authCommand",
    "bearerTokenCommand",
  ])("%s names a program, which is not run, and says so", async (field) => {
    expect(await refusal({ url: "http://h/", [field]: "/bin/helper" })).toBe(
      `${field} names a program, which is not run; put the value into a variable.`,
    );
  });

  it("may say ! in arguments, and through a variable", async () => {
    Object.assign(place.env, { BANG: "!x" });
    const spec = await place.spec({ command: "find", args: ["!", "-name"], env: { A: "${BANG}" } });
    expect(spec.endpoint).toMatchObject({ args: ["!", "-name"], env: { A: "!x" } });
  });

  it("is told apart from a bad variable: no value is ever shown", async () => {
    Object.assign(place.env, { BAD: "hunter2\nX: y", BADURL: "hunter2 x" });
    expect(await refusal({ url: "http://h/", headers: { A: "${BAD}" } })).not.toContain("hunter2");
    expect(await refusal({ url: "${BADURL}" })).not.toContain("hunter2");
    expect(await refusal({ command: "x", env: { "API_KEY=hunter2": "" } })).toContain("API_KEY=[redacted]");
    expect(await refusal({ command: "x", env: { "API_KEY=hunter2": null } })).toContain(
      "env.API_KEY=[redacted] must be",
    );
    expect(await refusal({ url: "http://h/", headers: { "Authorization: Bearer hunter2": "" } })).toBe(
      "headers.Authorization: [redacted] is not a valid HTTP header name.",
    );
    expect(await refusal({ command: "${EMPTY:-}" })).toBe("command is empty once its variables are expanded.");
  });
});

describe("names", () => {
  it("may be those of JavaScript's own properties, and differ by case", async () => {
    const text =
      '{"mcpServers": {"__proto__": {"command":"a"}, "constructor": {"command":"b"}, "A": {"command":"c"}, "a": {"command":"d"}}}';
    for (const written of [text, `// a comment makes it JSONC\n${text}`]) {
      const { servers } = await place.explicit(written);
      expect([...servers.keys()]).toEqual(["__proto__", "constructor", "A", "a"]);
      const commands = [...servers.values()].map((entry) => entry.spec({ cwd: place.cwd }).endpoint);
      expect(commands).toMatchObject([{ command: "a" }, { command: "b" }, { command: "c" }, { command: "d" }]);
    }
  });

  it.each(["a/b", "", "a b", "ü", "a.b"])("%j is refused by name", async (name) => {
    const { servers } = await place.explicit({ mcpServers: { [name]: { command: "x" }, good: { command: "x" } } });
    expect(servers.get(name)?.error?.message).toMatch(/must have only ASCII letters, digits/);
    expect(servers.get("good")?.error).toBeUndefined();
  });

  it("of variables and headers may be __proto__", async () => {
    const entry = '{"mcpServers": {"one": {"command": "x", "env": {"__proto__": "1"}}}}';
    const { servers } = await place.explicit(entry);
    const endpoint = servers.get("one")?.spec({ cwd: place.cwd }).endpoint as StdioEndpoint;
    expect(Object.entries(endpoint.env)).toEqual([["__proto__", "1"]]);
  });
});

describe("switches and times", () => {
  it.each([
    [{}, true],
    [{ enabled: true }, true],
    [{ enabled: false }, false],
    [{ disabled: true }, false],
    [{ disabled: false }, true],
    [{ enabled: true, disabled: true }, false],
  ])("%j means enabled: %j", async (fields, expected) => {
    expect((await place.entry({ command: "x", ...fields })).enabled).toBe(expected);
    expect((await place.entry({ ...fields, args: [] })).enabled).toBe(expected);
  });

  it.each([
    [{ timeout: 5 }, 5],
    [{ timeout: 1.5 }, 1.5],
    [{ timeout_ms: 2500 }, 2.5],
    [{ timeoutMs: 90_000 }, 90],
    [{ timeout: 60, timeout_ms: 60_000 }, 60],
    [{ timeout: 90_000 }, 90],
    [{ timeout: 10_000 }, 10],
    [{ timeout: 600_000 }, 300],
    [{ requestTimeoutMs: 120_000 }, 120],
    [{ requestTimeoutMs: 900_000 }, 300],
    [{ requestTimeoutMs: 10 }, 1],
    [{ requestTimeoutMs: 0 }, undefined],
    [{ requestTimeoutMs: "5" }, undefined],
    [{ requestTimeoutMs: 120_000, timeout: 30 }, 30],
  ])("%j is %d seconds", async (fields, expected) => {
    expect((await place.spec({ command: "x", ...fields })).timeoutSeconds).toBe(expected);
  });

  it("keep within the embedder's limits", async () => {
    const limits = resolveLimits({ minTimeoutSeconds: 0.1, maxTimeoutSeconds: 2 });
    expect((await place.spec({ command: "x", timeout: 0.2 }, { limits })).timeoutSeconds).toBe(0.2);
    expect((await place.entry({ command: "x", timeout: 3 }, { limits })).error?.message).toContain("from 0.1 to 2");
  });

  it.each([
    [true, true],
    [false, []],
    [
      ["a", "b*"],
      ["a", "b*"],
    ],
  ])("autoApprove %j", async (autoApprove, expected) => {
    expect((await place.spec({ command: "x", autoApprove })).autoApprove).toEqual(expected);
  });
});

describe("what a file says twice", () => {
  it.each([
    [
      '{"mcpServers": {"a": {"command":"x"}, "b": {"command":"y"}, "a": {"command":"z"}}}',
      [/names servers more than once \("a"\)/],
    ],
    ['{"mcpServers": {"a": {"command":"x"}, "a": {"command":"z"}, "b": {"command":"y"},}} // "b":', [/\("a"\)/]],
    ['{"mcpServers": {"b": {"command":"x"}}, "mcpServers": {"a": {"command":"z"}}}', [/has "mcpServers" more/]],
    ['{"mcpServers": {"a": {"command":"z", "env": {"a": "\\"a\\": 1"}}, "env": {"command":"y"}}}', []],
    ['{"mcpServers": {"a": {"command":"z", "autoApprove": ["a", "a"], "mcpServers": {}}}}', []],
  ])("is told, and the last counts: %s", async (text, expected) => {
    const { servers, problems } = await place.explicit(text);
    expect(servers.get("a")).toMatchObject({ enabled: true, summary: "z" });
    expect(problems.map(({ error }) => error.message)).toEqual(expected.map((words) => expect.stringMatching(words)));
  });
});

describe("the summary", () => {
  it.each([
    [{ command: "npx", args: ["-y", "a b"] }, 'npx -y "a b"'],
    [
      { command: "x", args: ["--token", "abc", "--api-key=abc", "--name", "n"] },
      "x --token [redacted] --api-key=[redacted] --name n",
    ],
    [{ command: "x", args: ["--token", "${TOKEN}", "y"] }, "x --token ${TOKEN} y"],
    [
      {
        command: "docker",
        args: ["run", "-e", "GITHUB_TOKEN=abc", "--env=MYSQL_PWD=abc", "-eAPI_KEY=abc", "-e", "A=b"],
      },
      "docker run -e GITHUB_TOKEN=[redacted] --env=MYSQL_PWD=[redacted] -eAPI_KEY=[redacted] -e A=b",
    ],
    [
      { command: "npx", args: ["mcp-remote", "https://h/sse?key=abc", "--header", "Authorization: Bearer abc"] },
      'npx mcp-remote https://h/sse?key=[redacted] --header "Authorization: [redacted]"',
    ],
    [
      { command: "x", args: ["--header=X-Api-Key:abc", "--header", "Authorization:${AUTH}", "keycloak:latest"] },
      "x --header=X-Api-Key:[redacted] --header Authorization:${AUTH} keycloak:latest",
    ],
    [
      { command: "x", args: ["postgresql://me:p@ss@h/db", "git+https://0123456789abcdefghij@h/o", "ssh://git@h/o"] },
      "x postgresql://me:[redacted]@h/db git+https://[redacted]@h/o ssh://git@h/o",
    ],
    [
      { command: "supergateway", args: ["--stdio", " npx  server --api-key abc -e X_TOKEN=abc --port 1 "] },
      'supergateway --stdio " npx  server --api-key [redacted] -e X_TOKEN=[redacted] --port 1 "',
    ],
    [
      { command: "x", args: ['{"token": "abc d", "how": "with --force"}'] },
      'x "{\\"token\\": \\"[redacted]\\", \\"how\\": \\"with --force\\"}"',
    ],
    [
      { command: "sh", args: ["-c", "cd a; X_TOKEN=abc npx server --key='a b' | tee log"] },
      "sh -c \"cd a; X_TOKEN=[redacted] npx server --key='[redacted]' | tee log\"",
    ],
    [
      { command: "sh", args: ["-c", 'A_KEY=${K:-abc} B_KEY="${K:-a b}" x'] },
      'sh -c "A_KEY=${K:-[redacted]} B_KEY=\\"${K:-[redacted]}\\" x"',
    ],
    [{ command: "x", args: ["Server=h;Password=abc;User=u"] }, "x Server=h;Password=[redacted];User=u"],
    [{ command: "x", args: ['{"apiKey":"abc"}'] }, 'x "{\\"apiKey\\":\\"[redacted]\\"}"'],
    [{ command: "x", args: ["--token", "${TOKEN:-abc}"] }, "x --token ${TOKEN:-[redacted]}"],
    [{ command: "x", args: ["http://h:80?mail=a@b", "--author", "Jane"] }, "x http://h:80?mail=a@b --author Jane"],
    [{ url: "https://h/mcp?api_key=abc&x=1" }, "https://h/mcp?api_key=[redacted]&x=1"],
    [{ url: "https://h/mcp?token=${TOKEN}" }, "https://h/mcp?token=${TOKEN}"],
    [{ url: "https://${TOKEN}:pass@h/mcp" }, "https://[redacted]@h/mcp"],
  ])("of %j shows no secret", async (raw, expected) => {
    Object.assign(place.env, { TOKEN: "s3cret-token" });
    expect((await place.entry(raw)).summary).toBe(expected);
  });

  it.each(["?", "&", "?a=", "--a=", "a: ", "//a:", "//", "@", '"', '"a":', "-", " ", " a=${", ' a="', " --a '", ";a"])(
    "of a long address or argument of %j takes no time to speak of",
    async (text) => {
      const long = text.repeat(200_000 / text.length);
      const began = process.cpuUsage();
      await place.entry({ url: `http://h/${long}` });
      await place.entry({ command: "x", args: [long, "--header", long] });
      await place.entry({ command: "x", args: ["-c", long] });
      expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
    },
  );
});
