import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  EmbeddedJWK,
  exportJWK,
  generateKeyPair,
  type JWK,
  jwtVerify,
} from "jose";

interface Grant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}

interface Provider {
  readonly Grant: new (of: { clientId: string; accountId: string }) => Grant;
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{
    prompt: { name: string };
    params: { client_id: string; resource?: string };
    session?: { accountId: string };
  }>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  on(event: string, listener: (context: unknown, error: unknown) => void): void;
}

type ProviderClass = new (issuer: string, configuration: object) => Provider;

const SCOPES = "read write";
const ARTIFACTS = [
  "AuthorizationCode",
  "ClientCredentials",
  "Grant",
  "IdToken",
  "Interaction",
  "RefreshToken",
  "Session",
];

async function loadProvider(): Promise<ProviderClass> {
  // @ts-expect-error It ships no declarations; what is used of it is declared above.
  return (await import("oidc-provider")).Provider as ProviderClass;
}

/** Without its warnings, which are for those who run it in earnest. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await run();
  } finally {
    console.warn = warn;
  }
}

/** The certified authorization server of the registry, with one person who agrees to everything. */
export class RealAuthorizationServer {
  readonly #server: Server;
  /** Public keys of the access tokens. */
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly tokenRequests: string[] = [];
  accessTokenSeconds = 300;

  /** Whether proofs have to carry the server's nonce. */
  requireNonce = false;

  static async start(clients: readonly object[] = []): Promise<RealAuthorizationServer> {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const names = { alg: "ES256", kid: "one", use: "sig" };
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const keys = [{ ...(await exportJWK(privateKey)), ...names }];
    return await quietly(
      async () =>
        new RealAuthorizationServer(
          server,
          await loadProvider(),
          keys,
          { ...(await exportJWK(publicKey)), ...names },
          clients,
        ),
    );
  }

  private constructor(
    server: Server,
    ProviderClass: ProviderClass,
    keys: object[],
    publicKey: JWK,
    clients: readonly object[],
  ) {
    this.#server = server;
    this.keys = createLocalJWKSet({ keys: [publicKey] });
    const provider = new ProviderClass(this.issuer, this.#configuration(keys, clients));
    const callback = provider.callback();
    server.on("request", (request, response) => {
      if (request.url?.startsWith("/interaction/")) void agree(provider, request, response);
      else {
        if (request.url === "/token") this.tokenRequests.push(request.url);
        callback(request, response);
      }
    });
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #configuration(keys: object[], clients: readonly object[]): object {
    const resource = (_: unknown, indicator: string): object => ({
      scope: SCOPES,
      audience: indicator,
      accessTokenFormat: "jwt",
      accessTokenTTL: this.accessTokenSeconds,
      jwt: { sign: { alg: "ES256" } },
    });
    return {
      clients,
      jwks: { keys },
      cookies: { keys: ["a cookie key of the tests"] },
      scopes: ["openid", "offline_access", "read", "write"],
      clientDefaults: { id_token_signed_response_alg: "ES256" },
      enabledJWA: { dPoPSigningAlgValues: ["ES256"] },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: true, allowedPolicy: () => true },
        clientCredentials: { enabled: true },
        dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => this.requireNonce },
        resourceIndicators: { enabled: true, getResourceServerInfo: resource, useGrantedResource: () => false },
      },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
      rotateRefreshToken: true,
      ttl: { ...Object.fromEntries(ARTIFACTS.map((name) => [name, 600])), AccessToken: () => this.accessTokenSeconds },
      renderError: (context: { body: unknown }, out: object) => {
        context.body = JSON.stringify(out);
      },
    };
  }
}

async function agree(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: "somebody" } });
    return;
  }
  const grant = new provider.Grant({ clientId: params.client_id, accountId: session?.accountId ?? "" });
  grant.addOIDCScope("openid offline_access read write");
  if (params.resource !== undefined) grant.addResourceScope(params.resource, SCOPES);
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** A server that takes only tokens for itself: audience, scope, expiry, and the proof of a token bound to a key. */
export class StrictResource {
  readonly #server: Server;
  readonly #trusted: RealAuthorizationServer;
  readonly #proofs = new Set<string>();
  needs = "read";
  /** What proofs have to carry; changes with every use. */
  nonce: string | undefined;
  /** Why requests were refused. */
  readonly refusals: string[] = [];
  readonly schemes: string[] = [];
  executed = 0;
  /** Announces and takes only bound tokens. */
  bound = false;

  static async start(trusted: RealAuthorizationServer): Promise<StrictResource> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new StrictResource(server, trusted);
  }

  private constructor(server: Server, trusted: RealAuthorizationServer) {
    this.#server = server;
    this.#trusted = trusted;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    if (request.url?.startsWith("/.well-known/") === true) {
      const bound = this.bound ? { dpop_bound_access_tokens_required: true } : {};
      const body = { resource: this.url, authorization_servers: [this.#trusted.issuer], ...bound };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    const refusal = await this.#refusal(request);
    if (refusal === undefined) {
      this.executed += 1;
      response.writeHead(200).end();
      return;
    }
    this.refusals.push(refusal);
    const error = refusal === "no token" ? "" : `error="${refusal}", `;
    const challenge = `${this.bound ? "DPoP" : "Bearer"} ${error}scope="${this.needs}"`;
    const nonce = this.nonce === undefined ? {} : { "dpop-nonce": this.nonce };
    response.writeHead(refusal === "insufficient_scope" ? 403 : 401, { "www-authenticate": challenge, ...nonce }).end();
  }

  async #refusal(request: IncomingMessage): Promise<string | undefined> {
    const [scheme = "", token] = (request.headers.authorization ?? "").split(" ");
    if (token === undefined) return "no token";
    this.schemes.push(scheme);
    try {
      const { payload } = await jwtVerify(token, this.#trusted.keys, {
        audience: this.url,
        issuer: this.#trusted.issuer,
      });
      const key = (payload.cnf as { jkt?: string } | undefined)?.jkt;
      if (this.bound || key !== undefined) {
        const wrong = scheme === "DPoP" ? await this.#proofError(request, token, key) : "invalid_token";
        if (wrong !== undefined) return wrong;
      }
      const have = String(payload.scope).split(" ");
      return this.needs.split(" ").every((scope) => have.includes(scope)) ? undefined : "insufficient_scope";
    } catch {
      return "invalid_token"; // Expired, of another audience, or not signed by the server.
    }
  }

  async #proofError(request: IncomingMessage, token: string, key: string | undefined): Promise<string | undefined> {
    const { payload, protectedHeader } = await jwtVerify(String(request.headers.dpop), EmbeddedJWK, {
      typ: "dpop+jwt",
    });
    const ath = createHash("sha256").update(token).digest("base64url");
    const fresh = typeof payload.jti === "string" && !this.#proofs.has(payload.jti);
    this.#proofs.add(String(payload.jti));
    const right = payload.htm === request.method && payload.htu === this.url && payload.ath === ath && fresh;
    if (!right || (await calculateJwkThumbprint(protectedHeader.jwk as JWK)) !== key) return "invalid_dpop_proof";
    if (this.nonce === undefined || payload.nonce === this.nonce) return undefined;
    return "use_dpop_nonce";
  }

  /** Demands another nonce from now on. */
  renewNonce(): void {
    this.nonce = randomUUID();
  }
}
