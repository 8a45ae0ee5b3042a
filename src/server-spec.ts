import type { Trust } from "./contract.ts";

/** How a server process is started. Every string is expanded and checked. */
export interface StdioEndpoint {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `true`: the host's whole environment; otherwise the base set and these names. */
  readonly inheritEnv: true | readonly string[];
  /** Absolute. */
  readonly cwd: string;
}

/** Sign-in settings of a remote server; every string is expanded. */
export interface OAuthSettings {
  readonly grantType?: "authorization_code" | "client_credentials" | "jwt_bearer" | "enterprise";
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  readonly tokenEndpointAuthMethod?: string;
  readonly privateKey?: string;
  readonly signingAlgorithm?: string;
  readonly assertion?: string;
  readonly identityProvider?: {
    readonly issuer?: string;
    readonly tokenEndpoint?: string;
    readonly clientId?: string;
    readonly clientSecret?: string;
    readonly idToken?: string;
  };
  /** Where the browser is sent back to; with its port, exactly as it is written. */
  readonly redirectUri?: string;
  readonly issuer?: string;
  readonly dpop?: boolean;
  /** Sent instead of ours of that name, or in addition; an empty text: not sent. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The settings that are secrets, for the redactor. */
export function oauthSecrets({ clientSecret, privateKey, assertion, identityProvider }: OAuthSettings): string[] {
  const secrets = [clientSecret, privateKey, assertion, identityProvider?.clientSecret, identityProvider?.idToken];
  return secrets.filter((secret) => secret !== undefined);
}

/** Where a remote server listens. `sse` is the HTTP+SSE transport of the first revision; `auto` may fall back to it. */
export interface HttpEndpoint {
  readonly kind: "http";
  readonly transport: "auto" | "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `false`: never sign in. Absent: sign in when challenged. */
  readonly oauth?: OAuthSettings | false;
}

export type Endpoint = StdioEndpoint | HttpEndpoint;

/** One server, ready to connect to: an entry of a config file after expansion, or a bare `url` target. */
export interface ServerSpec {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Where it comes from, which decides about trust: a named file or URL, a user-level file, a project's own file. */
  readonly origin: "explicit" | "user" | "project";
  /** The config file, absolute; absent for a `url` target. */
  readonly configPath?: string;
  /** `trust` of the user-level file, if it says any. */
  readonly trust?: Trust;
  /** `auto`, or the revision the entry pins. */
  readonly protocol: string;
  readonly timeoutSeconds?: number;
  readonly maxTotalSeconds?: number;
  readonly maxResultBytes?: number;
  readonly stopOnCancel: boolean;
  /** Patterns of tools that are called without asking; `true` for all. */
  readonly autoApprove: true | readonly string[];
  /** The kind of file that set `autoApprove`; absent if none did. `project` may stand over a user's own entry. */
  readonly autoApproveFrom?: "explicit" | "user" | "project";
  /** The project file that enabled an entry which the user's own file disables; absent otherwise. */
  readonly enabledBy?: string;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
  readonly exposure?: string;
  /** Equal for equal settings: a connection is replaced when it changes. */
  readonly fingerprint: string;
  /** Values that must never be shown: expanded variables, header values. */
  readonly secrets: readonly string[];
  /** The host's environment variables that the entry uses, with what they held; none that say only where and how it runs. */
  readonly variables: ReadonlyMap<string, string>;
}

/** Whether a project's files want the server started: its own servers, and those that the user has disabled and it enables. */
export function isWantedByProject({ origin, enabledBy }: ServerSpec): boolean {
  return origin === "project" || enabledBy !== undefined;
}
