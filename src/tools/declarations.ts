import type { JsonSchema, ToolName } from "../contract.ts";

/**
 * What the model is told of a tool. Every byte is paid for in every request: at most 1,300 for the three together, with
 * what a host wraps around them.
 */
export interface Declaration {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: JsonSchema;
}

const TEXT = { type: "string" } as const;
const OBJECT = { type: "object" } as const;
/** Its bounds are checked, and named in the error; here they would cost bytes of every request. */
const TIMEOUT = { type: "integer" } as const;
const TARGET = { server: TEXT, configPath: TEXT, url: TEXT } as const;

const LIST: Declaration = {
  name: "mcp_list",
  description: "List MCP servers, or what one has. query: find by words; tool: one in full.",
  parameters: {
    type: "object",
    properties: {
      ...TARGET,
      kind: { type: "string", enum: ["tools", "resources", "resource_templates", "prompts"] },
      query: TEXT,
      tool: TEXT,
      action: { type: "string", enum: ["close", "status"] },
      timeoutSeconds: TIMEOUT,
    },
  },
};

export const CALL: Declaration = {
  name: "mcp_call",
  description: "Call a tool of an MCP server; mcp_list finds it and its parameters.",
  parameters: {
    type: "object",
    properties: { ...TARGET, tool: TEXT, arguments: OBJECT, timeoutSeconds: TIMEOUT },
    required: ["tool"],
  },
};

const REQUEST: Declaration = {
  name: "mcp_request",
  description: "Send another MCP method to a server (resources/read, prompts/get), or raw JSON-RPC to a url.",
  parameters: {
    type: "object",
    properties: { ...TARGET, method: TEXT, params: OBJECT, id: TEXT, timeoutSeconds: TIMEOUT },
    required: ["method"],
  },
};

export const DECLARATIONS: readonly Declaration[] = [LIST, CALL, REQUEST];
