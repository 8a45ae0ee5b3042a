import { readArguments } from "./arguments.ts";
import { saveOutput } from "./save-output.ts";
import { type CommandContext, withSession } from "./session.ts";
import { responseText } from "./text-result.ts";
import { splitWords } from "./words.ts";

/** `rpi-mcp request SERVER METHOD [PARAMS...]` */
export async function request(words: readonly string[], context: CommandContext): Promise<number> {
  const { options, terminal, signal } = context;
  const { server, name: method, rest } = splitWords("request", "METHOD", words, options);
  const { values } = await readArguments(rest, "PARAMS", signal);
  return withSession(context, async (session) => {
    const params = {
      ...session.target(server),
      method,
      params: values,
      ...(options.id === undefined ? {} : { id: options.id }),
    };
    const result = await terminal.busy(`Requesting ${method}`, (update) =>
      session.call({ tool: "mcp_request", params, onPartial: update }),
    );
    if (options.json === true) await terminal.json(result);
    else await terminal.print(responseText(result.details));
    if (options.output === undefined) return 0;
    return (await saveOutput(result.details, options.output, terminal)) > 0 ? 0 : 1;
  });
}
