import { OAuthAuthorizer } from "../auth/oauth-authorizer.ts";
import { workOver } from "../auth/resource-state.ts";
import { DiskStore } from "../auth/store/disk-store.ts";
import type { TokenStore } from "../auth/store/token-store.ts";
import type { Authorizer } from "../authorizer.ts";
import type { HostServices } from "../contract.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import type { ClientIdentity } from "../protocol/dialect.ts";
import type { Redactor } from "../redactor.ts";
import { serverContext } from "../server-context.ts";
import type { ServerSpec } from "../server-spec.ts";
import { sendPlain } from "../transport/send-plain.ts";
import { logToHost } from "./host-log.ts";
import type { Scope } from "./scope.ts";

export interface SignInOptions {
  readonly services: HostServices;
  readonly limits: Limits;
  readonly redactor: Redactor;
  readonly clientInfo: ClientIdentity["info"];
  readonly scope: Scope;
  /** Told the host at which a person is awaited. */
  readonly onWaiting: (host: string) => void;
  readonly wait: PersonWait;
}

/** Creates the authorizers of one plugin. They share one token store, and through it the sign-ins in progress. */
export class SignIns {
  #store: TokenStore | undefined;

  /** Resolves when no sign-in or renewal is in progress any more; for shutdown, when every caller is gone. */
  async over(): Promise<void> {
    if (this.#store !== undefined) await workOver(this.#store);
  }

  /** The authorizer of one server's connection; request deadlines are suspended while it answers a challenge. */
  authorizer(spec: ServerSpec, options: SignInOptions): Authorizer {
    const { endpoint, name: server, origin, configPath } = spec;
    if (endpoint.kind !== "http")
      throw new AdapterError("internal", { reason: "only remote servers are signed in to" });
    const { services, limits, redactor, clientInfo, onWaiting, wait } = options;
    this.#store ??= new DiskStore({
      limits,
      onWarning: (message) => logToHost(services, redactor, { level: "warning", server, message }),
    });
    const inner = new OAuthAuthorizer({
      server,
      ...(origin === "explicit" ? { configPath } : {}),
      url: endpoint.url,
      ...(endpoint.oauth ? { settings: endpoint.oauth } : {}),
      store: this.#store,
      ...openUrl(services, server, options),
      onWaiting,
      clientInfo,
      limits,
      redactor,
      send: sendPlain,
    });
    return {
      headers: (request, wait) => inner.headers(request, wait),
      observe: (headers, status, sent) => inner.observe(headers, status, sent),
      challenge: async (challenge, signal) => {
        const end = wait.begin();
        try {
          await inner.challenge(challenge, signal);
        } finally {
          end();
        }
      },
    };
  }
}

function openUrl(
  services: HostServices,
  server: string,
  { scope, wait }: SignInOptions,
): { openUrl?: (url: string, signal: AbortSignal) => Promise<void> } {
  const open = services.openUrl;
  if (open === undefined) return {};
  return {
    openUrl: (url, signal) => {
      wait.asked++;
      return open(url, serverContext(server, scope, signal));
    },
  };
}
