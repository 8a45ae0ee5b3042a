import { describe, expect, it } from "@jest/globals";
import { specForUrl } from "../../src/config/url-target.ts";
import { failure } from "../support/config-home.ts";

describe("a bare url", () => {
  it("becomes a server named by its address", () => {
    expect(specForUrl("HTTP://Localhost:8931/mcp?token=secret-token&a=1#x")).toMatchObject({
      name: "http://localhost:8931/mcp",
      origin: "explicit",
      protocol: "auto",
      stopOnCancel: false,
      autoApprove: [],
      endpoint: {
        kind: "http",
        transport: "auto",
        url: "http://localhost:8931/mcp?token=secret-token&a=1",
        headers: {},
      },
      secrets: ["secret-token"],
    });
    expect(specForUrl("http://h/")).not.toHaveProperty("configPath");
  });

  it("has an equal fingerprint for equal settings only", () => {
    const { fingerprint } = specForUrl("http://h/a");
    expect(specForUrl("http://h:80/a").fingerprint).toBe(fingerprint);
    expect(specForUrl("http://h/b").fingerprint).not.toBe(fingerprint);
  });

  it.each([
    ["", "config.url: url is not a valid address; write it as http://host:port/path or https://host/path."],
    ["nonsense", "config.url: url is not a valid address; write it as http://host:port/path or https://host/path."],
    ["file:///etc/passwd", "config.url: url must begin with http:// or https://."],
    ["ws://h/", "config.url: url must begin with http:// or https://."],
    ["https://me:hunter22@h/", "config.url: url must not hold a user name or password; use headers."],
    ["https://me@h/", "config.url: url must not hold a user name or password; use headers."],
  ])("%j is refused", async (url, message) => {
    expect(await failure(() => specForUrl(url))).toBe(message);
  });
});
