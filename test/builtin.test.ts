import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";

const HOST = new URL("../dist/host/host.js", import.meta.url).href;
const ROOT = fileURLToPath(new URL("..", import.meta.url));

it("without a function that looks modules of Node up, as in Node 22.0, they are found all the same", () => {
  const lines = [
    "process.getBuiltinModule = undefined;",
    `const { createHost } = await import(${JSON.stringify(HOST)});`,
    "const host = createHost();",
    `await host.load(${JSON.stringify(ROOT)});`,
    'await host.call("mcp_list", { url: "http://127.0.0.1:1/" }).catch((error) => console.log(error.message));',
    "await host.shutdown();",
  ];
  const options = { encoding: "utf8" } as const;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", lines.join("\n")], options);
  expect(printed).toContain("ECONNREFUSED");
});
