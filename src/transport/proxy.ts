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
  readonly giveUp: (request: ClientRequest) => void;
}

/** The agent that reaches `url` through the proxy that the environment names for it; `undefined` if it names none or excepts the host. */
export function proxyAgent(url: URL, options: AgentOptions): Proxied | undefined {
  const named = withScheme(getProxyForUrl(url.href));
  if (!URL.canParse(named)) return undefined;
  const agent = url.protocol === "https:" ? new HttpsProxyAgent(named, options) : new HttpProxyAgent(named, options);
  const { origin, protocol, host } = new URL(named);
  const proxy = origin === "null" ? `${protocol}//${host}` : origin;
  return { agent, proxy, giveUp: abandonable(agent as unknown as Opener) };
}

/** What the agents have in common. */
interface Opener {
  readonly connectOpts: object;
  connect(request: ClientRequest, options: unknown): Promise<Socket>;
}

/** The agents themselves wait for a proxy, and for its answer to CONNECT, however long that takes and whatever has become of the request. */
function abandonable(agent: Opener): Proxied["giveUp"] {
  const opening = new WeakMap<ClientRequest, AbortController>();
  const { connect } = agent;
  agent.connect = async (request, options) => {
    const ending = new AbortController();
    if (request.destroyed) ending.abort();
    opening.set(request, ending);
    const connectOpts = { value: { ...agent.connectOpts, signal: ending.signal } };
    try {
      return await connect.call(Object.create(agent, { connectOpts }), request, options);
    } finally {
      opening.delete(request);
    }
  };
  return (request) => opening.get(request)?.abort();
}

/** A proxy that is named without a scheme speaks plain HTTP, as everywhere else; the package gives it the scheme of the URL. */
function withScheme(proxy: string): string {
  const { https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY } = process.env;
  const isBare = [https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY].some((named) => proxy === `https://${named}`);
  return isBare ? proxy.replace("https:", "http:") : proxy;
}
