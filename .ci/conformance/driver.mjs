/**
 * The client under test of the official conformance suite: a host that loads the built plugin and works through its three
 * tools. The suite passes the server's URL as the last argument and the rest in the environment.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "rpi-mcp-adapter/host";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const STATELESS = "2026-07-28";
const SERVER = "conformance";
/** The suite's servers know a client by this document; nobody fetches it. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** Failures that say what the server is, not that the client is wrong. */
const NOT_OFFERED = new Set(["capability_missing"]);

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
  MCP_CONFORMANCE_CONTEXT,
} = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? "{}");
const folder = await mkdtemp(join(tmpdir(), "rpi-mcp-conformance-"));
// Sign-ins of one scenario are nothing to the next, nor to the user.
process.env.XDG_DATA_HOME = folder;

const host = createHost({ cwd: folder, sessionId: scenario, services: services() });
try {
  await host.load(ROOT);
  const configPath = await writeConfig(process.argv.at(-1));
  await work({ server: SERVER, configPath });
} catch (error) {
  console.error(`${error.code ?? error.name}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await host.shutdown();
  await rm(folder, { recursive: true, force: true });
}

async function work(target) {
  const tools = await list(target, "tools");
  for (const { name, ...args } of plannedCalls(tools))
    await host.call("mcp_call", { ...target, tool: name, arguments: args.arguments });
  for (const { uri } of await list(target, "resources"))
    await host.call("mcp_request", { ...target, method: "resources/read", params: { uri } });
  for (const { name } of await list(target, "prompts"))
    await host.call("mcp_request", { ...target, method: "prompts/get", params: { name } });
}

/** All items of one kind; none where the server has no such thing. */
async function list(target, kind) {
  try {
    const { details } = await host.call("mcp_list", { ...target, kind });
    for (const { name } of details.leftOut ?? []) await expectRefusal(target, name);
    return details[kind];
  } catch (error) {
    if (NOT_OFFERED.has(error.code)) return [];
    throw error;
  }
}

/** A tool that was left out of the list cannot be called either. */
async function expectRefusal(target, tool) {
  const refused = await host.call("mcp_call", { ...target, tool }).then(
    () => undefined,
    (error) => error.code,
  );
  if (refused !== "tool_not_found") throw new Error(`${tool} was left out and yet could be called (${refused})`);
}

/** The calls that the scenario prescribes, or each tool once with arguments that fit its schema. */
function plannedCalls(tools) {
  if (Array.isArray(context.toolCalls)) return context.toolCalls;
  const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  if (focal !== undefined) return [{ name: "json_schema_echo", arguments: { schema: focal.inputSchema } }];
  // This server lists a tool and does not serve it.
  if (scenario === "json-schema-ref-no-deref") return [];
  return tools.map(({ name, inputSchema }) => ({ name, arguments: sampleArguments(inputSchema) }));
}

function sampleArguments({ properties = {}, required = [] }) {
  const samples = { string: "text", number: 2.5, integer: 2, boolean: true, array: [], object: {}, null: null };
  return Object.fromEntries(required.map((name) => [name, samples[properties[name]?.type] ?? null]));
}

function services() {
  return {
    // Fields with defaults are left to the plugin.
    elicit: async ({ requestedSchema }) => ({ action: "accept", content: answers(requestedSchema) }),
    createMessage: async () => ({ role: "assistant", content: { type: "text", text: "Hello." }, model: "none" }),
    listRoots: async () => [{ uri: "file:///tmp" }],
    approve: async () => true,
    openUrl: browse,
    log: () => undefined,
  };
}

function answers(schema) {
  const properties = Object.entries(schema?.properties ?? {}).filter(([, property]) => property.default === undefined);
  const samples = { string: "text", number: 1, integer: 1, boolean: true };
  return Object.fromEntries(
    properties.map(([name, { type, enum: choices }]) => [name, choices?.[0] ?? samples[type] ?? "text"]),
  );
}

/** A browser whose user agrees to everything: it follows redirects, the last of which leads to the plugin. */
async function browse(url) {
  await fetch(url, { redirect: "follow" });
}

async function writeConfig(url) {
  const oauth = oauthSettings();
  const entry = {
    url,
    timeout: 20,
    ...(revision === STATELESS ? { protocol: STATELESS } : {}),
    ...(oauth === undefined ? {} : { oauth }),
  };
  const path = join(folder, "mcp.json");
  await writeFile(path, JSON.stringify({ mcpServers: { [SERVER]: entry } }));
  return path;
}

/** What a user would write into the entry of such a server. */
function oauthSettings() {
  if (!scenario.startsWith("auth/")) return undefined;
  const clientId = context.client_id;
  const clientSecret = context.client_secret;
  switch (scenario) {
    case "auth/client-credentials-basic":
      return {
        grantType: "client_credentials",
        clientId,
        clientSecret,
        tokenEndpointAuthMethod: "client_secret_basic",
      };
    case "auth/client-credentials-jwt":
      return {
        grantType: "client_credentials",
        clientId,
        privateKey: context.private_key_pem,
        signingAlgorithm: context.signing_algorithm ?? "ES256",
        tokenEndpointAuthMethod: "private_key_jwt",
      };
    case "auth/cross-app-access-complete-flow":
    case "auth/enterprise-managed-authorization":
      return {
        grantType: "enterprise",
        clientId,
        clientSecret,
        identityProvider: {
          issuer: context.idp_issuer,
          tokenEndpoint: context.idp_token_endpoint,
          clientId: context.idp_client_id,
          idToken: context.idp_id_token,
        },
      };
    case "auth/wif-jwt-bearer":
      return { grantType: "jwt_bearer", clientId, assertion: context.valid_jwt };
    case "auth/pre-registration":
      return { clientId, clientSecret };
    case "auth/dpop":
    case "auth/dpop-nonce":
      return { clientMetadataUrl: CLIENT_METADATA_URL, dpop: true };
    default:
      return { clientMetadataUrl: CLIENT_METADATA_URL };
  }
}
