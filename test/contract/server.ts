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
      return answer(
        typeof params?.["times"] === "number"
          ? { text: String(params["text"]).repeat(params["times"]) }
          : (params ?? {}),
      );
    case "chatter":
      for (const n of [1, 2, 3]) peer.say({ jsonrpc: "2.0", method: "note", params: { n } });
      return answer({});
    case "junk":
      peer.junk();
      return answer({});
    case "ask":
      peer.onAnswer(answer);
      return peer.say({ jsonrpc: "2.0", id: "q-1", method: "question" });
    case "leave":
      return peer.leave();
    default:
      return;
  }
}
