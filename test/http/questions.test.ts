import { beforeEach, describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { type FaultExchange, FaultServer } from "../support/http-fault-server.ts";
import { harnesses, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const FORM = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };

/** The calls that wait. */
let asking: FaultExchange | undefined;
let waiting: FaultExchange | undefined;

const server = FaultServer.forTests({
  // A call asks on its own stream, and ends with what the host answered; one with a text waits.
  asks: {
    on: "*",
    post: (exchange) => {
      const { method, params, result } = exchange.seen.rpc;
      const { text } = (params as { arguments?: { text?: unknown } } | undefined)?.arguments ?? {};
      if (method === undefined) {
        exchange.respond(202);
        const content = [{ type: "text", text: JSON.stringify(result) }];
        asking?.event(JSON.stringify({ jsonrpc: "2.0", id: asking.seen.rpc.id, result: { content } }));
      } else if (method !== "tools/call") exchange.good();
      else if (text !== undefined) waiting = exchange;
      else {
        asking = exchange;
        exchange.begin();
        exchange.event(JSON.stringify({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: FORM }));
      }
    },
  },
});
beforeEach(() => {
  asking = undefined;
  waiting = undefined;
});

/** A person who never answers. */
function absent(): HostServices & { readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    signals,
    elicit: (_params, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  };
}

describe("a question on a call's own stream", () => {
  test("is withdrawn with that call, while others go on", async () => {
    const services = absent();
    const host = make({ services }).configure("server", { type: "http", url: server.url("asks") });
    const other = host.call("server", "echo", { text: "other" });
    await waitFor("the other call has arrived", () => waiting !== undefined);
    const step = host.callStep("server", "echo");
    await waitFor("the host is asked", () => services.signals.length > 0);
    step.cancel();
    step.destroy();
    await waitFor("the question is withdrawn", () => services.signals[0]?.aborted === true, 1000);
    waiting?.good();
    expect(textOf(await other)).toBe("other");
  });

  test("leaves that call the time to go on, however much others have", async () => {
    const host = make({ services: absent() }).configure("server", { type: "http", url: server.url("asks") });
    const other = host.call("server", "echo", { text: "other" }, { timeoutSeconds: 60 });
    await waitFor("the other call has arrived", () => waiting !== undefined);
    expect(textOf(await host.call("server", "echo", {}, { timeoutSeconds: 2 }))).toBe('{"action":"cancel"}');
    waiting?.good();
    expect(textOf(await other)).toBe("other");
  });
});
