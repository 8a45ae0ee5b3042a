import { AdapterError } from "../errors.ts";
import { isObject, type JsonRpcErrorObject, URL_ELICITATION_REQUIRED } from "../protocol/jsonrpc.ts";

const MESSAGE_CHARACTERS = 4000;
const DATA_CHARACTERS = 4000;

/** A server's JSON-RPC error as ours; its data is cut. */
export function rpcError(server: string, method: string, { code, message, data }: JsonRpcErrorObject): AdapterError {
  const whole = code === URL_ELICITATION_REQUIRED ? [message, ...addresses(data)].join(" ") : message;
  const text = whole.length > MESSAGE_CHARACTERS ? `${whole.slice(0, MESSAGE_CHARACTERS)}…` : whole;
  return new AdapterError("rpc.error", { server, method, rpcError: { code, message: text, ...(data === undefined ? {} : { data: cut(data) }) } });
}

/** What a person has to visit before the call can work. */
function addresses(data: unknown): string[] {
  const elicitations = isObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(elicitations)) return [];
  return elicitations.flatMap((each: unknown) => (isObject(each) && typeof each["url"] === "string" ? [each["url"]] : []));
}

function cut(data: unknown): unknown {
  const json = JSON.stringify(data);
  return json !== undefined && json.length > DATA_CHARACTERS ? `${json.slice(0, DATA_CHARACTERS)}… (${json.length} characters)` : data;
}
