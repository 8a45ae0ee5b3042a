import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { unknownServer } from "../../src/config/store.ts";
import { ConfigHome } from "../support/config-home.ts";

let home: ConfigHome;
beforeEach(() => {
  home = new ConfigHome();
});
afterEach(() => home.remove());

describe("a server that is not configured", () => {
  test("is told by the file that cannot be read, where that is all there is", async () => {
    home.user(".rpi/mcp.json", "{ not JSON");
    expect(unknownServer("it", await home.load())).toMatchObject({ situation: "config.syntax" });
  });

  test("is not found, also where the only file says something that is ignored", async () => {
    home.project(".mcp.json", { trust: "always" });
    expect(unknownServer("it", await home.load())).toMatchObject({
      code: "server_not_found",
      details: { problems: [expect.stringContaining("trust is read from user-level files only")] },
    });
  });

  test("is told with the problems of files beside the servers there are", async () => {
    home.user(".rpi/mcp.json", "{ not JSON");
    home.project(".mcp.json", { mcpServers: { one: { command: "x" } } });
    expect(unknownServer("it", await home.load())).toMatchObject({
      code: "server_not_found",
      details: { configured: ["one"], problems: [expect.stringContaining("is not valid JSON")] },
    });
  });
});
