import { callBack } from "../call-back.ts";
import type { HostServices } from "../contract.ts";
import { cut } from "../cut.ts";
import { reasonOf } from "../errors.ts";
import type { Redactor } from "../redactor.ts";

const MESSAGE_CHARACTERS = 4000;

/** Hosts whose log service failed, so that each is warned of only once. */
const warned = new WeakSet<HostServices>();

/** Passes a log entry to the host, with known secrets masked. Never throws: a failing log service must not cost a result. */
export function logToHost(
  services: HostServices,
  redactor: Redactor,
  { level, server, message }: { level: string; server: string; message: string },
): void {
  callBack(
    () =>
      // Cut before it is masked, since a message may have megabytes; beside the mark of the cut the redactor finds the rest of a secret.
      services.log?.({ level, server, message: redactor.text(cut(message, MESSAGE_CHARACTERS)) }),
    (error) => {
      if (warned.has(services)) return;
      warned.add(services);
      process.emitWarning(`rpi-mcp-adapter: the host's log service failed: ${reasonOf(error)}`);
    },
  );
}
