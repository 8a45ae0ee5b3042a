import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { harnesses, textOf } from "../support/plugin-harness.ts";

const make = harnesses();
const SECRET = "s3cr3t-t0ken-value";

describe("secrets of a config", () => {
  test("are masked in errors, with the stderr tail, skipped lines and every detail", async () => {
    process.env["HARNESS_TOKEN"] = SECRET;
    try {
      const host = make().serve("leaky", "processes", "leaks-secret", { env: { API_TOKEN: "${HARNESS_TOKEN}" } });
      const failure = await host.callFailure("leaky", "x");
      expect(failure.code).toBe("connect_failed");
      expect(JSON.stringify(failure)).not.toContain(SECRET);
      expect(failure.message).toContain("cannot log in with [redacted]");
      expect(failure.details).toMatchObject({
        stderr: "cannot log in with [redacted]",
        skippedLines: ["token is [redacted]"],
      });
      const search = await host.run("mcp_list", { configPath: host.configPath, query: "x" });
      expect(JSON.stringify(search)).not.toContain(SECRET);
      expect(JSON.stringify(await host.run("mcp_list", { configPath: host.configPath }))).not.toContain(SECRET);
      expect(JSON.stringify(await host.run("mcp_list", { action: "status" }))).not.toContain(SECRET);
    } finally {
      delete process.env["HARNESS_TOKEN"];
    }
  });

  test("are masked in what the host logs, but a result is the server's and stays untouched", async () => {
    const logged: string[] = [];
    const host = make({ services: { log: ({ message }) => logged.push(message) } }).serve("env", "processes", "env", {
      env: { API_TOKEN: SECRET },
    });
    expect(textOf(await host.call("env", "env"))).toContain(SECRET);
    expect(logged.join()).not.toContain(SECRET);
  });

  test("are masked before a text is cut, so that none shows its beginning", async () => {
    const long = `${SECRET}-${"x".repeat(70)}`;
    const logged: string[] = [];
    const host = make({ services: { log: ({ message }) => logged.push(message) } })
      .serve("leaky", "processes", "leaks-secret", { env: { API_TOKEN: long } })
      .serve("talker", "agent", "", { env: { API_TOKEN: long } });
    const search = textOf(await host.run("mcp_list", { configPath: host.configPath, query: "x" }));
    expect(search).toContain("cannot log in with [redacted]");
    expect(search).not.toContain(SECRET);
    await host.call("talker", "log", { level: "info", message: `${"m".repeat(3980)}${long}` });
    expect(logged).toEqual([`${"m".repeat(3980)}[redacted]…`]);
  });

  test("of a url target are masked before anything is connected, and as the address spells them", async () => {
    const echo = createServer((request, response) => response.writeHead(500).end(`no ${request.url}`));
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    try {
      const asked: unknown[] = [];
      const host = make({ services: { approve: async (request) => asked.push(request) > 0 } });
      const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/?api_key=Ab+Cd/Ef12==&page=1`;
      const failure = await host.failure("mcp_request", { url, method: "ping" });
      expect(failure.message).toContain("no /?api_key=[redacted]&page=1");
      expect(asked).toMatchObject([{ url: expect.stringContaining("/?api_key=[redacted]&page=1") }]);
      expect(JSON.stringify([failure, asked])).not.toContain("Ab+Cd");
    } finally {
      echo.closeAllConnections();
      echo.close();
    }
  });

  test("of a variable that is not set are named, not printed, and nothing starts [K05]", async () => {
    const host = make().serve("env", "processes", "env", { env: { A: "${HARNESS_NOT_SET}" } });
    const { code, message } = await host.callFailure("env", "env");
    expect(code).toBe("config_error");
    expect(message).toContain("HARNESS_NOT_SET");
    expect(message).toContain('"env"');
    expect(host.ledger("env")).toEqual([]);
  });
});
