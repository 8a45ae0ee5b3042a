import { LIMITS, resolveLimits } from "../../src/limits.ts";
import { LegacySseTransport } from "../../src/transport/legacy-sse.ts";
import { LegacySseServer } from "../support/legacy-sse-server.ts";
import { serveContract } from "./server.ts";
import { describeTransport } from "./transport.ts";

describeTransport("HTTP+SSE", {
  create: async (limits) => {
    const listeners: ((result: unknown) => void)[] = [];
    const server = await LegacySseServer.start({
      onMessage: (message, { send, response }) => {
        if ("result" in message) for (const listener of listeners.splice(0)) listener(message.result);
        serveContract(message, {
          say: (answer) => send(JSON.stringify(answer)),
          junk: () => send("no message"),
          leave: () => response.destroy(),
          onAnswer: (listener) => void listeners.push(listener),
        });
      },
    });
    return {
      transport: new LegacySseTransport({ server: "srv", url: server.url, headers: {}, limits: resolveLimits(limits) }),
      received: () => server.messages,
      dispose: () => server.dispose(),
    };
  },
  createToNobody: async () => {
    const server = await LegacySseServer.start();
    const { url } = server;
    await server.dispose();
    return new LegacySseTransport({ server: "srv", url, headers: {}, limits: LIMITS });
  },
});
