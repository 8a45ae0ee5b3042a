/** A server that costs next to nothing: `node server.mjs TOOLS`. It answers `tools/list` from prepared bytes, and echoes. */
const count = Number(process.argv[2] ?? 1);
const tools = Array.from({ length: count }, (_, index) => ({
  name: index === 0 ? "echo" : `service_${String(index).padStart(4, "0")}_search_documents`,
  description: `Search the documents of collection ${index} and return the best matches with titles and addresses.`,
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to look for, in plain words" },
      size: { type: "integer", minimum: 1, description: "How many results to return at most" },
    },
  },
}));
const list = JSON.stringify({ tools });
const answers = {
  initialize: () =>
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1.0.0"}}',
  "tools/list": () => list,
  "tools/call": ({ arguments: { text = "", repeat = 1 } = {} }) =>
    JSON.stringify({ content: [{ type: "text", text: text.repeat(repeat) }] }),
  ping: () => "{}",
};

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  const out = lines
    .map((line) => JSON.parse(line))
    .filter(({ id }) => id !== undefined)
    .map(
      ({ id, method, params }) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answers[method](params)}}\n`,
    );
  if (out.length > 0) process.stdout.write(out.join(""));
});
process.stdin.on("end", () => process.exit(0));
