import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { ended, Shell } from "../support/cli.ts";
import { FakeAuthorizationServer, FakeResource, json } from "../support/fake-oauth.ts";
import { browse } from "../support/oauth-client.ts";
import { waitFor } from "../support/wait.ts";

const onPosix = process.platform === "win32" ? it.skip : it;
const onLinux = process.platform === "linux" ? it : it.skip;

let shell: Shell;
let authority: FakeAuthorizationServer;
let resource: FakeResource;
let servers: string[];

beforeEach(async () => {
  shell = new Shell();
  authority = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(authority).start();
  servers = shell.config({
    shop: { url: resource.url },
    plain: { url: resource.url, oauth: false },
    local: { command: "node" },
  });
});
afterEach(async () => {
  await Promise.all([authority.stop(), resource.stop()]);
  shell.remove();
});

const env = (): Record<string, string> => ({ XDG_DATA_HOME: join(shell.root, "data") });
const stored = (): string[] => {
  const folder = join(shell.root, "data", "rpi-mcp");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
};

/** Starts a login without a browser, and gives the address it prints. */
async function begin(
  ...words: string[]
): Promise<{ address: string; child: ReturnType<Shell["start"]>; end: ReturnType<typeof ended> }> {
  const child = shell.start(["login", "--no-browser", ...words], { env: env() });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const end = ended(child);
  const address = await waitFor("the address", () => /^ {2}(http\S+)$/m.exec(stderr)?.[1] ?? "");
  return { address, child, end };
}

describe("rpi-mcp login and logout", () => {
  it("signs in through a browser on this machine, keeps the sign-in, and forgets it", async () => {
    const { address, end } = await begin("shop", ...servers);
    await browse(address);
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([0, `Signed in to shop at ${authority.issuer}.\n`]);
    expect(stored()).toHaveLength(1);

    const doctor = await shell.run(["doctor", "--json", "--timeout", "1", ...servers], { env: env() });
    const { servers: found } = JSON.parse(doctor.stdout) as { servers: { server: string; signIn?: object }[] };
    expect(found.find(({ server }) => server === "shop")?.signIn).toMatchObject({
      state: "signed_in",
      issuer: authority.issuer,
    });

    const out = await shell.run(["logout", "shop", ...servers], { env: env() });
    expect([out.status, out.stdout]).toEqual([0, "Signed out of shop.\n"]);
    expect(stored()).toEqual([]);
    const again = await shell.run(["logout", "shop", ...servers], { env: env() });
    expect([again.status, again.stdout]).toEqual([0, "There was no sign-in to shop.\n"]);
  });

  it("takes the pasted address where the browser runs on another machine, and says if it is a wrong one", async () => {
    const { address, child, end } = await begin(resource.url, "--json");
    const answer = await fetch(address, { redirect: "manual" });
    child.stdin.write("http://127.0.0.1/callback?code=x&state=wrong\n\n");
    child.stdin.write(`${answer.headers.get("location")}\n`);
    const { status, stdout, stderr } = await end;
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: "signed_in", issuer: authority.issuer });
    expect(stderr).toContain("not the address this sign-in ends at");
  });

  onLinux("asks for no pasted address where it takes none: without a terminal to read it from", async () => {
    const child = shell.start(["login", "shop", ...servers], { env: { ...env(), PATH: shell.root } });
    const end = ended(child);
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    await waitFor("the word about the browser", () => stderr.includes("No browser could be started"));
    child.kill("SIGINT");
    expect((await end).stderr).toMatch(/No browser could be started\. With --no-browser .* from stdin\./);
    expect(stderr).not.toContain("Paste");
  });

  it("says where it signed in without what a terminal would interpret, whatever that calls itself", async () => {
    const issuer = `${authority.origin}/\u001b[2J\nx`;
    resource.describe = () => ({ resource: resource.url, authorization_servers: [issuer] });
    authority.overrides.set(`/.well-known/oauth-authorization-server${new URL(issuer).pathname}`, (_, response) =>
      json(response, 200, { ...authority.describe(), issuer }),
    );
    authority.redirectBack = (callback) => callback.searchParams.set("iss", issuer);
    const { address, end } = await begin("shop", ...servers);
    await browse(address);
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([0, `Signed in to shop at ${authority.origin}/ x.\n`]);
  });

  it("shows no token, in the output as in the errors", async () => {
    const { address, end } = await begin("shop", "--json", ...servers);
    await browse(address);
    const { stdout, stderr } = await end;
    const [file = ""] = stored();
    const { grants } = JSON.parse(readFileSync(join(shell.root, "data", "rpi-mcp", file), "utf8")) as {
      grants: { accessToken: string }[];
    };
    expect(grants[0]?.accessToken).toMatch(/^access-/);
    expect(stdout + stderr).not.toContain(grants[0]?.accessToken);
  });

  it("ends with 1 when the person refuses", async () => {
    authority.redirectBack = (callback) => {
      callback.searchParams.delete("code");
      callback.searchParams.set("error", "access_denied");
    };
    const refused = await begin("shop", ...servers);
    await browse(refused.address);
    const { status, stderr } = await refused.end;
    expect(status).toBe(1);
    expect(stderr).toContain("auth_required");
  });

  onPosix("ends with 130 on Ctrl-C", async () => {
    const { child, end } = await begin("shop", ...servers);
    child.kill("SIGINT");
    expect((await end).status).toBe(130);
    expect(stored().length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["local", "it is a program (stdio)"],
    ["plain", '"oauth": false'],
  ])("refuses %s, which needs no sign-in, with 2", async (server, reason) => {
    const { status, stderr } = await shell.run(["login", server, ...servers], { env: env() });
    expect(status).toBe(2);
    expect(stderr).toContain(reason);
  });

  it("ends with 1 for a server that is not configured", async () => {
    expect((await shell.run(["login", "nobody", ...servers], { env: env() })).status).toBe(1);
    expect((await shell.run(["logout", "nobody", ...servers], { env: env() })).status).toBe(1);
  });

  it("is told by the address where a header was given, not by the private file that is gone by then", async () => {
    const { stderr } = await shell.run(["call", "--url", resource.url, "--header", "X-Team: a", "any"], { env: env() });
    expect(stderr).toContain(`rpi-mcp login ${resource.url}`);
    expect(stderr).not.toContain("--config");
    // As on macOS, and on Windows where its name is a short one.
    const [real, link] = [join(shell.root, "real"), join(shell.root, "link")];
    mkdirSync(real);
    symlinkSync(real, link, "junction");
    const words = ["call", "--url", resource.url, "--header", "X-Team: a", "any"];
    const linked = await shell.run(words, { env: { ...env(), TMPDIR: link, TEMP: link } });
    expect(linked.stderr).toBe(stderr);
  });

  it("is what a call tells to do when the server asks for a sign-in", async () => {
    const { status, stderr } = await shell.run(["call", "shop", "any", ...servers], { env: env() });
    expect(status).toBe(1);
    expect(stderr).toMatch(/Error \(auth_required\)[\s\S]*rpi-mcp login shop/);
  });
});
