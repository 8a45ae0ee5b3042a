/** A model that says what a script tells it: the streaming half of OpenAI's chat completions, on a loopback port. */
import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";

/**
 * Answers each request with the next turn: `{ say }` ends the run, `{ calls: [[tool, argumentsOrJson], ...] }` uses tools.
 * `requests` holds what Pi sent, in order, each with `at`, the time of its arrival.
 */
export class ScriptedModel {
  requests = [];
  #turns = [];
  #server = createServer((request, response) => void this.#answer(request, response));

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get baseUrl() {
    return `http://127.0.0.1:${this.#server.address().port}/v1`;
  }

  script(...turns) {
    this.#turns.push(...turns);
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request, response) {
    const body = JSON.parse(await readText(request));
    this.requests.push({ at: performance.now(), ...body });
    const { say, calls = [] } = this.#turns.shift() ?? { say: "[the script is over]" };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta, finish_reason = null) => {
      const choices = [{ index: 0, delta, finish_reason }];
      const chunk = { id: "chunk", object: "chat.completion.chunk", created: 0, model: body.model, choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    send({ role: "assistant", content: say ?? "" });
    for (const [index, [name, args]] of calls.entries()) {
      const id = `call-${this.requests.length}-${index}`;
      const json = typeof args === "string" ? args : JSON.stringify(args ?? {});
      send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      // In two pieces, as they come from a real one.
      for (const part of [json.slice(0, 7), json.slice(7)])
        send({ tool_calls: [{ index, function: { arguments: part } }] });
    }
    send({}, calls.length > 0 ? "tool_calls" : "stop");
    response.end("data: [DONE]\n\n");
  }
}

/** What the model has to read anew with a request: the results since its last message. */
export function resultsIn({ messages }) {
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  return fresh.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
}

/** The images of a request, as data URLs. */
export function imagesIn({ messages }) {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return parts.filter(({ type }) => type === "image_url").map(({ image_url }) => image_url.url);
}

function textOf(content) {
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
}
