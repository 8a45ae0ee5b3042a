import { describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { eraServers, helpfulHost, WAYS } from "../support/era-servers.ts";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const start = eraServers();
const OLD = "2025-11-25";

describe.each(WAYS)("questions with a handshake, over %s", (way) => {
  test("are answered by the host, with the server's own ids", async () => {
    const server = await start(way, "plain", OLD);
    const host = make({ services: helpfulHost() });
    server.configure(host);
    const answers = {
      form: { action: "accept", content: { name: "Ada", colour: "blue" } },
      url: { action: "accept" },
      sample: { role: "assistant", content: { type: "text", text: "Hello." }, model: "test" },
      roots: { roots: [{ uri: "file:///project", name: "project" }] },
    };
    for (const [what, answer] of Object.entries(answers)) {
      const { result } = jsonOf(await host.call("server", "ask", { what }));
      expect(result).toEqual(answer);
    }
    expect(server.messages("initialize")[0]?.params?.["capabilities"]).toEqual({
      roots: {},
      elicitation: { form: {}, url: {} },
      sampling: {},
    });
    expect(server.ledger().filter(({ event }) => event === "listen")).toHaveLength(way === "http" ? 1 : 0);
  });

  test("that come after the call was cancelled are declined, and nobody is asked; roots are nobody's call", async () => {
    const server = await start(way, "asks-after-cancel", OLD);
    const services = helpfulHost();
    const host = make({ services });
    server.configure(host);
    const step = host.callStep("server", "hang");
    await waitFor("the call has arrived", () => server.messages("tools/call").length > 0);
    step.cancel();
    step.destroy();
    const answers = await waitFor("all three are answered", () => {
      const all = server.messages().filter(({ method }) => method === undefined);
      return all.length === 3 ? all : undefined;
    });
    const byId = Object.fromEntries((answers ?? []).map((each) => [each.id, each]));
    expect(byId["q1"]).toMatchObject({ result: { action: "cancel" } });
    expect(byId["q2"]).toMatchObject({ error: { code: -32603 } });
    expect(byId["q3"]).toMatchObject({ result: { roots: [{}] } });
    expect(services.asked).toEqual([{ method: "roots/list" }]);
    expect(textOf(await host.call("server", "echo"))).toBe("next");
  });

  test("that the host still thinks about are withdrawn when the call is cancelled", async () => {
    const server = await start(way, "plain", OLD);
    let signal: AbortSignal | undefined;
    const services: HostServices = {
      elicit: (_params, context) => {
        signal = context.signal;
        return new Promise(() => undefined);
      },
    };
    const host = make({ services });
    server.configure(host);
    const step = host.callStep("server", "ask", { what: "form" });
    await waitFor("the host is asked", () => signal !== undefined);
    step.cancel();
    step.destroy();
    await waitFor("the question is withdrawn", () => signal?.aborted === true, 500);
    await waitFor("the server is told", () =>
      server.messages().some(({ id, method }) => id === "q1" && method === undefined),
    );
    const answer = server.messages().find(({ id, method }) => id === "q1" && method === undefined);
    expect(answer).toMatchObject({ result: { action: "cancel" } });
  });

  test("an address that a person has to visit first is shown, and the call is not sent again", async () => {
    const server = await start(way, "address-required", OLD);
    const services = helpfulHost();
    const host = make({ services });
    server.configure(host);
    const { code, message, details } = await host.callFailure("server", "echo");
    expect(code).toBe("rpc_error");
    expect(message).toContain("https://example.com/connect");
    expect(details).toMatchObject({ rpcError: { code: -32042 } });
    expect(services.asked).toMatchObject([{ mode: "url", url: "https://example.com/connect" }]);
    expect(server.messages("tools/call")).toHaveLength(1);
  });
});
