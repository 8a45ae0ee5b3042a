import type { Agent, AgentOptions, ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { getProxyForUrl } from "proxy-from-env";

export interface Proxied {
  readonly agent: Agent;
  /** Without credentials. */
  readonly proxy: string;
  /** Closes what is being opened for a request that was destroyed. */
  readonly giveUp?: (request: ClientRequest) => void;
}

/** The agent that reaches `url` through the proxy that the environment names for it; `undefined` if it names none or excepts the host. */
export function proxyAgent(url: URL, options: AgentOptions): Proxied | undefined {
  const named = withScheme(getProxyForUrl(url.href));
  if (!URL.canParse(named)) return undefined;
  const { origin, protocol, host } = new URL(named);
  const proxy = origin === "null" ? `${protocol}//${host}` : origin;
  if (url.protocol !== "https:") return { agent: new HttpProxyAgent(named, options), proxy };
  const agent = new TunnelAgent(named, options);
  return { agent, proxy, giveUp: (request) => agent.giveUp(request) };
}

/** The package itself waits for a proxy's answer to CONNECT, however long that takes, whatever has become of the request. */
class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #opening = new WeakMap<ClientRequest, AbortController>();

  override async connect(...[request, options]: Parameters<HttpsProxyAgent<string>["connect"]>): Promise<Socket> {
    const ending = new AbortController();
    if (request.destroyed) ending.abort();
    this.#opening.set(request, ending);
    const connectOpts = { value: { ...this.connectOpts, signal: ending.signal } };
    try {
      return await super.connect.call(Object.create(this, { connectOpts }), request, options);
    } finally {
      this.#opening.delete(request);
    }
  }

  giveUp(request: ClientRequest): void {
    this.#opening.get(request)?.abort();
  }
}

/** A proxy that is named without a scheme speaks plain HTTP, as everywhere else; the package gives it the scheme of the URL. */
function withScheme(proxy: string): string {
  const { https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY } = process.env;
  const isBare = [https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY].some((named) => proxy === `https://${named}`);
  return isBare ? proxy.replace("https:", "http:") : proxy;
}
