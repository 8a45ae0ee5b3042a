import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type Browser, chromium } from "playwright-core";
import { FakeAuthorizationServer, FakeResource } from "../support/fake-oauth.ts";
import { authorizerFor, call } from "../support/oauth-client.ts";

/** The browser is no dependency of the package: `npm run test:browser` wants one that is installed. */
const { CHROMIUM = "/usr/bin/chromium" } = process.env;
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

describe("a person who signs in with a real browser", () => {
  let browser: Browser;
  let server: FakeAuthorizationServer;
  let resource: FakeResource;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    server = await new FakeAuthorizationServer().start();
    resource = await new FakeResource(server).start();
  }, 60_000);
  afterAll(async () => {
    await Promise.all([browser.close(), server.stop(), resource.stop()]);
  });

  it("ends at a page that says in plain words that it may be closed, and loads nothing else", async () => {
    const page = await browser.newPage();
    const requested: string[] = [];
    const problems: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    page.on("pageerror", (error) => problems.push(error.message));
    let loaded: Promise<unknown> | undefined;
    const authorizer = authorizerFor(resource.url, {
      openUrl: async (url) => {
        loaded = page.goto(url);
      },
    });
    expect(await call(authorizer, resource.url)).toEqual({ status: 200, answered: 1 });
    await loaded;
    expect(await page.title()).toBe("Signed in");
    expect(await page.getByText(/You may close this page/).isVisible()).toBe(true);
    expect(requested.filter((path) => path !== "/favicon.ico")).toEqual(["/authorize", "/callback"]);
    expect(problems).toEqual([]);
    // The style is the page's own: the policy that keeps everything else out must let it through.
    const family = await page.evaluate<string>("getComputedStyle(document.querySelector('h1')).fontFamily");
    expect(family).toMatch(/sans-serif/);
    await page.close();
  }, 60_000);
});
