import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import type { Dialect } from "../protocol/dialect.ts";
import {
  isObject,
  type JsonRpcErrorObject,
  UNSUPPORTED_PROTOCOL_VERSION,
  URL_ELICITATION_REQUIRED,
} from "../protocol/jsonrpc.ts";
import { listed, supportedVersions } from "../protocol/opening.ts";
import { REVISIONS } from "../protocol/versions.ts";

const MESSAGE_CHARACTERS = 4000;
const DATA_CHARACTERS = 4000;

/** A server's JSON-RPC error as ours; its data is cut. */
export function rpcError(
  server: string,
  method: string,
  { code, message, data }: JsonRpcErrorObject,
  status?: number,
): AdapterError {
  const whole = code === URL_ELICITATION_REQUIRED ? [message, ...addresses(data)].join(" ") : message;
  return new AdapterError("rpc.error", {
    server,
    method,
    rpcError: boundedError({ code, message: whole, data }),
    ...defined({ status }),
  });
}

/** The same for a list: a server that refuses the revision it agreed to has changed, and is asked anew by whoever connects. */
export function listError(
  { server, dialect }: { readonly server: string; readonly dialect: Dialect },
  method: string,
  error: JsonRpcErrorObject,
  status: number | undefined,
): AdapterError {
  if (error.code !== UNSUPPORTED_PROTOCOL_VERSION) return rpcError(server, method, error, status);
  const answered = listed(supportedVersions(error) ?? []);
  return new AdapterError("version.unsupported", { server, offered: dialect.version, answered, supported: REVISIONS });
}

/** A server's error in reasonable length. */
export function boundedError({ code, message, data }: JsonRpcErrorObject): JsonRpcErrorObject {
  const told = { code, message: cut(message, MESSAGE_CHARACTERS) };
  return data === undefined ? told : { ...told, data: bounded(data) };
}

/** What a person has to visit before the call can work. */
function addresses(data: unknown): string[] {
  const elicitations = isObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(elicitations)) return [];
  return elicitations.flatMap((each: unknown) =>
    isObject(each) && typeof each["url"] === "string" ? [each["url"]] : [],
  );
}

function bounded(data: unknown): unknown {
  const json = JSON.stringify(data);
  return json !== undefined && json.length > DATA_CHARACTERS
    ? `${cut(json, DATA_CHARACTERS)} (${json.length} characters)`
    : data;
}
