import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { harnesses, jsonOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();

test("a working directory that is a link to another folder now is that other folder", async () => {
  const host = make();
  for (const name of ["one", "two"])
    host.write(`${name}/.mcp.json`, { mcpServers: { [`of-${name}`]: { command: "x" } } });
  const link = join(host.folder, "current");
  symlinkSync(join(host.folder, "one"), link, "junction");
  host.context = { cwd: link, sessionId: "linked" };
  const names = async (): Promise<unknown> => {
    const { servers } = jsonOf(await host.run("mcp_list", {})) as { servers: { server: string }[] };
    return servers.map(({ server }) => server);
  };
  expect(await names()).toEqual(["of-one"]);
  rmSync(link);
  symlinkSync(join(host.folder, "two"), link, "junction");
  await waitFor("the other folder counts", async () => String(await names()) === "of-two");
});
