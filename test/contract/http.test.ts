import { LIMITS, resolveLimits } from "../../src/limits.ts";
import { HttpTransport } from "../../src/transport/http.ts";
import { type FaultExchange, FaultServer } from "../support/http-fault-server.ts";
import { type Peer, serveContract } from "./server.ts";
import { describeTransport, type TransportFactory } from "./transport.ts";

describeTransport("Streamable HTTP with event streams", factory("stream"));
describeTransport("Streamable HTTP with JSON where that is enough", factory("json"));

function factory(scenario: "stream" | "json"): TransportFactory {
  return {
    create: async (limits) => {
      const listeners: ((result: unknown) => void)[] = [];
      const serve = (exchange: FaultExchange): void => {
        const { rpc } = exchange.seen;
        if (rpc.method === undefined) for (const listener of listeners.splice(0)) listener(rpc.result);
        if (rpc.id === undefined || rpc.method === undefined) exchange.respond(202);
        else serveContract(rpc as never, peerOf(exchange, scenario === "json" && rpc.method === "echo", listeners));
      };
      const server = await FaultServer.start({ scenarios: { [scenario]: { on: "*", post: serve } } });
      return {
        transport: new HttpTransport({
          server: "srv",
          url: server.url(scenario),
          headers: {},
          limits: resolveLimits(limits),
        }),
        received: () => server.seen.map(({ rpc }) => rpc as never),
        dispose: () => server.dispose(),
      };
    },
    createToNobody: async () => {
      const server = await FaultServer.start({ scenarios: {} });
      const url = server.url("gone");
      await server.dispose();
      return new HttpTransport({ server: "srv", url, headers: {}, limits: LIMITS });
    },
  };
}

/** A stream that begins with the first message and ends with the answer. */
function peerOf(exchange: FaultExchange, asJson: boolean, listeners: ((result: unknown) => void)[]): Peer {
  let begun = false;
  const begin = (): void => {
    if (!begun) exchange.begin();
    begun = true;
  };
  return {
    say: (message) => {
      if (asJson) {
        exchange.json(JSON.stringify(message));
        return;
      }
      begin();
      exchange.event(JSON.stringify(message));
      if ("result" in message) exchange.finish();
    },
    junk: () => {
      begin();
      exchange.event("no message");
    },
    leave: () => exchange.reset(),
    onAnswer: (listener) => void listeners.push(listener),
  };
}
