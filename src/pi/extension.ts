import { DECLARATIONS } from "../tools/declarations.ts";
import type { PiApi, PiContext, PiTool } from "./pi-api.ts";
import { renderResult } from "./preview.ts";
import { repairArguments } from "./repair.ts";
import type { PiSession } from "./session.ts";
import { isProjectTrusted } from "./trust.ts";
import { claimSession, tellOfTwin } from "./twin.ts";

export type { PiApi } from "./pi-api.ts";

const LABELS = { mcp_list: "MCP list", mcp_call: "MCP call", mcp_request: "MCP request" } as const;

/**
 * The Pi extension: registers the three tools and nothing else. What is behind them is loaded with the first call and ends
 * with the session. Never throws, since that would end Pi.
 */
export default function rpiMcpAdapter(pi: unknown): void {
  try {
    install(pi as PiApi);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`rpi-mcp-adapter: the host refused the extension: ${reason}`);
  }
}

function install(pi: PiApi): void {
  const registerTool = pi.registerTool?.bind(pi);
  if (registerTool === undefined) return;
  const claim = claimSession(pi.events);
  if (!claim.granted) {
    listen(pi, "session_start", tellOfTwin);
    return;
  }
  const life = new Life();
  listen(pi, "session_start", (context) => life.begin(isProjectTrusted(context)));
  listen(pi, "session_shutdown", () => {
    claim.release();
    return life.end();
  });
  for (const { name, description, parameters } of DECLARATIONS) {
    const tool: PiTool = {
      name,
      label: LABELS[name],
      description,
      parameters,
      executionMode: "parallel",
      exposure: "model-only",
      prepareArguments: repairArguments,
      execute: async (toolCallId, params, signal, onUpdate, context) => {
        const session = await life.session();
        return session.execute({ name, toolCallId, params, signal, onUpdate, context });
      },
      renderResult,
    };
    registerTool(tool);
  }
}

/** The lifecycle of the plugin within one Pi session: loaded by the first call, shut down with the session, and reusable for the next. */
class Life {
  #loading: Promise<PiSession> | undefined;
  #trusted = false;
  #ended = false;

  begin(trusted: boolean): void {
    if (this.#ended) this.#loading = undefined;
    this.#ended = false;
    this.#trusted = trusted;
  }

  session(): Promise<PiSession> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async end(): Promise<void> {
    this.#ended = true;
    // A load that failed has told its call; there is nothing to end then.
    const session = await this.#loading?.catch(() => undefined);
    await session?.shutdown();
  }

  async #load(): Promise<PiSession> {
    try {
      const { PiSession } = await import("./session.ts");
      const session = new PiSession({ trust: this.#trusted ? "always" : "ask" });
      if (this.#ended) await session.shutdown();
      return session;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}

/** Not every host knows these events, and some refuse what they do not know. */
function listen(
  pi: PiApi,
  event: "session_start" | "session_shutdown",
  handler: (context: PiContext | undefined) => unknown,
): void {
  try {
    pi.on?.(event, (_event, context) => handler(context));
  } catch {
    // Without the event: servers start with the first call anyway, and end with the host's process at the latest.
  }
}
