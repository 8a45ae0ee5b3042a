import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { factOf, harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";

const make = harnesses();

interface Brief {
  readonly server?: string;
  readonly name: string;
  readonly summary: string;
  readonly parameters: string;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);

describe("a server with 400 tools", () => {
  test("costs at most 1,500 bytes from the question to the call", async () => {
    const host = make().serve("big", "catalog");
    for (const [query, name] of [
      ["make a new invoice", "billing_create_invoice"],
      ["remove a mailbox", "mail_delete_mailbox"],
      ["audit a dns zone", "dns_audit_zone"],
      ["tickets", "support_list_ticket"],
    ] as const) {
      const found = textOf(await host.list("big", { query }));
      expect(bytesOf(found)).toBeLessThanOrEqual(1500);
      const { tools, more } = JSON.parse(found) as { tools: Brief[]; more: number };
      expect(tools.slice(0, 3).map((tool) => tool.name)).toContain(name);
      expect(tools).toHaveLength(8);
      expect(more).toBeGreaterThan(0);
    }
    const [best] = jsonOf(await host.list("big", { query: "make a new invoice" }))["tools"] as Brief[];
    expect(best).toEqual({
      name: "billing_create_invoice",
      summary: "Creates a invoice of the billing service that the account owns.",
      parameters: "title: string, owner?: string, tags?: string",
    });
    expect(textOf(await host.call("big", "billing_create_invoice", { title: "May" }))).toBe(
      'billing_create_invoice {"title":"May"}',
    );
  });

  test("is searched within the bound that its file sets, by itself and with all others", async () => {
    const host = make().serve("big", "catalog");
    const config = JSON.parse(readFileSync(host.configPath, "utf8")) as object;
    host.write("mcp.json", { ...config, maxResultBytes: 1200 });
    for (const [server, key] of [["big", "tools"] as const, [undefined, "matches"] as const]) {
      const found = await host.run("mcp_list", { configPath: "mcp.json", server, query: "invoice" });
      expect(jsonOf(found)[key]).toHaveLength(8);
      expect(bytesOf(textOf(found))).toBeLessThanOrEqual(1200);
    }
  });

  test("is listed within the bound: in full, in brief, as names, as some names", async () => {
    const host = make();
    for (const [name, maxResultBytes] of Object.entries({ full: 400_000, brief: 80_000, names: 20_000, some: 3_000 }))
      host.serve(name, "catalog", "", { maxResultBytes });
    host.serve("usual", "catalog");
    const [full, brief, names, some, usual] = await Promise.all(
      ["full", "brief", "names", "some", "usual"].map(async (name) => host.list(name)),
    );
    const whole = full === undefined ? [] : (jsonOf(full)["tools"] as object[]);
    expect(bytesOf(JSON.stringify(whole))).toBeGreaterThan(170_000);
    for (const [result, limit] of [[brief, 80_000] as const, [names, 20_000] as const, [some, 3_000] as const]) {
      if (result === undefined) throw new Error("No answer.");
      expect(bytesOf(textOf(result))).toBeLessThanOrEqual(limit);
      expect(jsonOf(result)["hint"]).toContain('"tool"');
      expect(result.details?.["tools"]).toEqual(whole);
    }
    const briefs = jsonOf(brief ?? { content: [] })["tools"] as Brief[];
    expect(briefs).toHaveLength(400);
    for (const { summary, parameters } of briefs) {
      expect(summary.length).toBeLessThanOrEqual(120);
      expect(summary).toMatch(/^[^.]+\.$/);
      expect(parameters).toMatch(/^\w+: string(, \w+\?: string)*$/);
    }
    expect(jsonOf(names ?? { content: [] })).toMatchObject({ tools: expect.any(Array), more: 0 });
    const { tools, more } = jsonOf(some ?? { content: [] }) as { tools: string[]; more: number };
    expect(tools.length).toBeGreaterThan(50);
    expect(tools.length + more).toBe(400);
    expect(bytesOf(textOf(usual ?? { content: [] }))).toBeLessThanOrEqual(50 * 1024);
  });

  test("gives one tool in full for a fraction of the list", async () => {
    const host = make().serve("big", "catalog");
    const { tools } = jsonOf(await host.list("big", { tool: "dns_update_zone" })) as { tools: object[] };
    expect(tools).toEqual([expect.objectContaining({ name: "dns_update_zone", inputSchema: expect.any(Object) })]);
    expect(bytesOf(textOf(await host.list("big", { tool: "dns_update_zone" })))).toBeLessThan(1000);
  });
});

describe("a server with icons", () => {
  test("pays for none of them: a list and one tool are in full without, and the details hold them", async () => {
    const host = make().serve("small", "lists", "icons 1000").serve("large", "lists", "icons 60000");
    for (const server of ["small", "large"]) {
      for (const [more, names] of [[{}, ["one", "two"]] as const, [{ tool: "two" }, ["two"]] as const]) {
        const answer = await host.list(server, more);
        expect(jsonOf(answer)).toEqual({
          server,
          serverInfo: { name: "fixture", version: "1.0.0" },
          protocolVersion: expect.any(String),
          tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
        });
        expect(answer.details?.["tools"]).toEqual(
          names.map((name) =>
            expect.objectContaining({ name, icons: [expect.objectContaining({ mimeType: "image/png" })] }),
          ),
        );
      }
    }
    const { details } = await host.list("small");
    expect(details?.["serverInfo"]).toMatchObject({ icons: [{ mimeType: "image/png" }] });
  });

  test("pays for none of them in the status either", async () => {
    const host = make().serve("small", "lists", "icons 1000");
    await host.list("small");
    const status = await host.run("mcp_list", { action: "status" });
    const info = { name: "fixture", version: "1.0.0" };
    expect(jsonOf(status)).toMatchObject({ connections: [{ server: "small", state: "connected" }] });
    expect((jsonOf(status)["connections"] as { serverInfo: unknown }[])[0]?.serverInfo).toEqual(info);
    expect(status.details).toMatchObject({ connections: [{ serverInfo: { ...info, icons: [{}] } }] });
  });
});

describe("a search over all servers", () => {
  test("ranks across them within the same bound, and names one that fails", async () => {
    const host = make().serve("money", "catalog", "billing").serve("staff", "catalog", "people");
    host.serve("web", "catalog", "dns").serve("broken", "processes", "fatal");
    const answer = textOf(await host.run("mcp_list", { configPath: host.configPath, query: "export payslips" }));
    const { matches, more, failed } = JSON.parse(answer) as {
      matches: Brief[];
      more: number;
      failed: { server: string; error: string }[];
    };
    expect(matches[0]).toEqual({
      server: "staff",
      name: "people_export_payslip",
      summary: "Writes to a file a payslip of the people service that the account owns.",
      parameters: "id: string, format?: string",
    });
    expect(matches).toHaveLength(8);
    expect(more).toBeGreaterThan(0);
    expect(failed.map(({ server }) => server)).toEqual(["broken"]);
    expect(bytesOf(answer) - bytesOf(JSON.stringify(failed))).toBeLessThanOrEqual(1500);
    const { server = "", name } = matches[0] ?? { name: "" };
    expect(textOf(await host.call(server, name, { id: "7" }))).toBe('people_export_payslip {"id":"7"}');
  });
});

describe("hundreds of configured servers", () => {
  const LIMIT = 3000;
  const names = Array.from({ length: 300 }, (_, at) => `server-${at}`);
  const many = (): PluginHarness => {
    const host = make({ limits: { resultBytes: LIMIT } });
    const entries = names.map((name) => [name, { command: "no-such-command", args: ["x".repeat(500)] }]);
    return host.write("mcp.json", { mcpServers: Object.fromEntries(entries) });
  };

  test("are listed within the bound: in brief, else by as many names as fit; the details hold them all", async () => {
    const host = make({ limits: { resultBytes: LIMIT } });
    for (const name of names.slice(0, 20)) host.configure(name, { command: "x", args: ["x".repeat(500)] });
    const some = await host.run("mcp_list", { configPath: host.configPath });
    expect(jsonOf(some)).toMatchObject({ servers: names.slice(0, 20).map((server) => ({ server })) });
    expect(jsonOf(some)["hint"]).toContain("Shortened");
    expect(bytesOf(textOf(some))).toBeLessThanOrEqual(LIMIT);
    const all = await many().run("mcp_list", { configPath: "mcp.json" });
    const { servers, more } = jsonOf(all) as { servers: string[]; more: number };
    expect(servers).toEqual(names.slice(0, servers.length));
    expect([servers.length + more, servers.length > 100]).toEqual([300, true]);
    expect(bytesOf(textOf(all))).toBeLessThanOrEqual(LIMIT);
    expect(all.details?.["servers"]).toHaveLength(300);
  });

  test("are listed within the bound that their file sets", async () => {
    const entries = names.slice(0, 40).map((name) => [name, { command: "x", args: ["x".repeat(500)] }]);
    const host = make().write("mcp.json", { maxResultBytes: 1000, mcpServers: Object.fromEntries(entries) });
    const listed = await host.run("mcp_list", { configPath: "mcp.json" });
    expect(bytesOf(textOf(listed))).toBeLessThanOrEqual(1000);
    expect(listed.details?.["servers"]).toHaveLength(40);
  });

  test("have their first problems told briefly beside them, and all in the details", async () => {
    const host = make({ limits: { resultBytes: 8000 } });
    for (const name of names.slice(0, 30))
      host.configure(name, { command: "x", args: ["x".repeat(500)], autoApproves: [] });
    const { details, ...shown } = await host.run("mcp_list", { configPath: host.configPath });
    const { problems } = jsonOf(shown) as { problems: { error: string }[] };
    expect(problems).toHaveLength(20);
    for (const { error } of problems) expect(error.length).toBeLessThanOrEqual(121);
    expect(details?.["problems"]).toHaveLength(30);
    expect(bytesOf(textOf(shown))).toBeLessThanOrEqual(8000);
  });

  test("that fail a search are named within the bound", async () => {
    const found = await many().run("mcp_list", { configPath: "mcp.json", query: "echo" });
    expect(bytesOf(textOf(found))).toBeLessThanOrEqual(LIMIT);
    const { matches, failed, moreFailed } = jsonOf(found) as {
      matches: unknown[];
      failed: string[];
      moreFailed: number;
    };
    expect([matches, failed.length + moreFailed]).toEqual([[], 300]);
    expect(found.details?.["failed"]).toHaveLength(300);
  }, 30_000);

  test("are not all named where one is asked for that is none of them", async () => {
    const { message, details } = await many().failure("mcp_call", { configPath: "mcp.json", server: "x", tool: "x" });
    expect(message).toContain('"server-63" and 236 more.');
    expect(details?.["configured"]).toHaveLength(300);
  });
});

test("the status of many connections stays within the bound", async () => {
  const host = make({ limits: { resultBytes: 700 } });
  const names = Array.from({ length: 5 }, (_, at) => `plain-${at}`);
  for (const name of names) host.serve(name, "processes", "plain");
  await Promise.all(names.map((name) => host.call(name, "echo")));
  const status = await host.run("mcp_list", { action: "status" });
  expect(bytesOf(textOf(status))).toBeLessThanOrEqual(700);
  const shown = (jsonOf(status)["connections"] as { server: string; state: string }[]).map(({ server }) => server);
  expect(shown.sort()).toEqual(names);
  expect(factOf<unknown[]>(status, "connections")[0]).toHaveProperty("serverInfo");
});
