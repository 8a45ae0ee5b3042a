import { describe, expect, test } from "@jest/globals";
import { Deadlines } from "../../src/deadlines.ts";
import { LIMITS } from "../../src/limits.ts";
import { PersonWait } from "../../src/person-wait.ts";
import type { JsonRpcRequest } from "../../src/protocol/jsonrpc.ts";
import { statelessDialect } from "../../src/protocol/stateless.ts";
import { call } from "../../src/session/call.ts";
import { InputPort } from "../../src/session/input.ts";
import { Session } from "../../src/session/session.ts";
import type { SendOptions, Transport } from "../../src/transport/transport.ts";
import { waitFor } from "../support/wait.ts";

/** A server that wants a second round of the first request, and to which that is still to be written. */
class AsksOnce {
  readonly mayRun: boolean[] = [];
  readonly sent: SendOptions[] = [];
  readonly session: Session;
  readonly outcome: Promise<unknown>;

  constructor() {
    const limits = LIMITS;
    const input = new InputPort({ server: "s", services: {}, limits });
    this.session = new Session({
      server: "s",
      transport: this.#transport(),
      dialect: statelessDialect(
        { info: { name: "c", version: "1" }, capabilities: {} },
        { capabilities: { tools: {} } },
      ),
      limits,
      input,
      stopOnCancel: false,
      wait: new PersonWait(),
      deadlines: new Deadlines(),
      onClosed: () => undefined,
      onExpired: () => undefined,
    });
    const mayRun = (may: boolean): void => void this.mayRun.push(may);
    const options = { timeoutMs: 60_000, totalMs: 60_000, effects: true, mayRun };
    this.outcome = call({ session: this.session, input, limits }, "tools/call", { name: "t" }, options).catch(
      (error: unknown) => error,
    );
  }

  #transport(): Transport {
    const send = async (message: JsonRpcRequest, options: SendOptions = {}): Promise<void> => {
      this.sent.push(options);
      if (this.sent.length > 1) return new Promise(() => undefined);
      options.mayRun?.(true);
      const result = { resultType: "input_required", requestState: "1" };
      this.session.message(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }), options);
    };
    return {
      kind: "http",
      ownStream: true,
      open: async () => undefined,
      adopt: () => undefined,
      send: send as Transport["send"],
      close: async () => undefined,
      diagnostics: () => ({}),
    };
  }
}

describe("a call whose server has asked for another round", () => {
  test("has an unknown outcome also where that round was never written: the first may have had effects", async () => {
    const server = new AsksOnce();
    await waitFor("the second round is to be sent", () => server.sent.length === 2);
    await server.session.close();
    expect(await server.outcome).toMatchObject({ details: { method: "tools/call", outcomeUnknown: true } });
  });

  test("has one, too, while that round is refused for want of a sign-in", async () => {
    const server = new AsksOnce();
    await waitFor("the second round is to be sent", () => server.sent.length === 2);
    server.sent[1]?.mayRun?.(false);
    expect(server.mayRun).toEqual([true, true]);
    await server.session.close();
    expect(await server.outcome).toMatchObject({ details: { outcomeUnknown: true } });
  });
});
