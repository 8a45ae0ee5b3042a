import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { FakeAuthorizationServer, FakeResource } from "../support/fake-oauth.ts";
import { harnesses } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
let server: FakeAuthorizationServer;
let resource: FakeResource;

beforeEach(async () => {
  server = await new FakeAuthorizationServer().start();
  resource = await new FakeResource(server).start();
});
afterEach(async () => {
  await Promise.all([server.stop(), resource.stop()]);
});

test("who waits for a sign-in is told so once, each session for itself", async () => {
  const dataHome = process.env["XDG_DATA_HOME"];
  const services = { openUrl: () => new Promise<void>(() => undefined) };
  const host = make({ services }).configure("remote", { url: resource.url });
  process.env["XDG_DATA_HOME"] = host.folder;
  try {
    const told: string[][] = [[], []];
    const steps = told.map((texts, at) => {
      host.context = { cwd: host.folder, sessionId: `session-${at}` };
      const step = host.callStep("remote", "echo");
      return {
        step,
        look: () => step.poll(({ content: [block] }) => void texts.push(block?.type === "text" ? block.text : "")),
      };
    });
    await waitFor("both are told", () => {
      for (const { look } of steps) look();
      return told.every((texts) => texts.length > 0);
    });
    for (const { look } of steps) look();
    const text = `Waiting for the sign-in at ${new URL(server.origin).host} …`;
    expect(told).toEqual([[text], [text]]);
    for (const { step } of steps) step.destroy();
  } finally {
    if (dataHome === undefined) delete process.env["XDG_DATA_HOME"];
    else process.env["XDG_DATA_HOME"] = dataHome;
  }
});
