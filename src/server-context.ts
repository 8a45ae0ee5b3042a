import type { ServerContext } from "./contract.ts";
import { defined } from "./defined.ts";

/** The context of every request to a host's services: the server it is for, the session and working directory, and its cancellation. */
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
