import type { JsonRpcMessage } from "../../src/protocol/jsonrpc.ts";

/** The way back to one client. */
export interface Peer {
  /** Sends one message. */
  say(message: object): void;
  /** Sends something that is no message. */
  junk(): void;
  leave(): void;
  /** Called with the answer to a question of ours. */
  onAnswer(listener: (result: unknown) => void): void;
}

/** What the server of the transport contract does with a request. */
export function serveContract(message: JsonRpcMessage, peer: Peer): void {
  if (!("method" in message) || !("id" in message)) return;
  const { id, method, params } = message;
  const answer = (result: unknown): void => peer.say({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "echo":
      answer(
        typeof params?.["times"] === "number"
          ? { text: String(params["text"]).repeat(params["times"]) }
          : (params ?? {}),
      );
      break;
    case "chatter":
      for (const n of [1, 2, 3]) peer.say({ jsonrpc: "2.0", method: "note", params: { n } });
      answer({});
      break;
    case "junk":
      peer.junk();
      answer({});
      break;
    case "ask":
      peer.onAnswer(answer);
      peer.say({ jsonrpc: "2.0", id: "q-1", method: "question" });
      break;
    case "leave":
      peer.leave();
      break;
    default:
  }
}
