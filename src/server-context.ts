import type { ServerContext } from "./contract.ts";
import { defined } from "./defined.ts";

/** What a host is told with every question: for which server it is, in which session and folder. */
export function serverContext(
  server: string,
  { cwd, sessionId }: { readonly cwd?: string | undefined; readonly sessionId?: string | undefined },
  signal: AbortSignal,
): ServerContext {
  return {
    server,
    ...defined({ sessionId, cwd }),
    signal,
  };
}
