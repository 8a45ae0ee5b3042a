import type { Agent, AgentOptions, ClientRequest } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { getProxyForUrl } from "proxy-from-env";
import { isLoopback } from "../web-address.ts";

export interface Proxied {
  readonly agent: Agent;
  /** Without credentials. */
  readonly proxy: string;
  /** Closes what is being opened for a request that was destroyed. */
  readonly giveUp: (request: ClientRequest) => void;
}

/** The agent that reaches `url` through the proxy that the environment names for it; `undefined` if it names none or excepts the host. */
export function proxyAgent(url: URL, options: AgentOptions): Proxied | undefined {
  // This machine is another one to a proxy.
  if (isLoopback(url) || isExcepted(url)) return undefined;
  const named = withScheme(getProxyForUrl(url.href));
  if (!URL.canParse(named)) return undefined;
  const agent = url.protocol === "https:" ? new HttpsProxyAgent(named, options) : new HttpProxyAgent(named, options);
  const { origin, protocol, host } = new URL(named);
  const proxy = origin === "null" ? `${protocol}//${host}` : origin;
  const opener = agent as unknown as Opener;
  if (!/^https?:$/.test(protocol)) opener.connect = () => Promise.reject(new Error(NOT_HTTP));
  return { agent, proxy, giveUp: abandonable(opener) };
}

const NOT_HTTP = "only HTTP proxies are supported; set HTTPS_PROXY or HTTP_PROXY to one";

/** Whether NO_PROXY exempts the host as curl, Go and Python read it, unlike the package: a domain covers its subdomains, a CIDR range its addresses. */
function isExcepted({ protocol, hostname, port }: URL): boolean {
  const { no_proxy, NO_PROXY = "" } = process.env;
  const host = hostname.replace(/^\[|\]$/g, "");
  const at = port || (protocol === "https:" ? "443" : "80");
  return (no_proxy || NO_PROXY)
    .toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => covers(entry, host, at));
}

function covers(entry: string, host: string, port: string): boolean {
  const [address = "", bits] = entry.split("/");
  if (isIP(address) !== 0) return isIP(host) === isIP(address) && isInRange(host, address, bits);
  const [, name = "", at = port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return name !== "" && at === port && (host === name || host.endsWith(`.${name}`));
}

function isInRange(host: string, address: string, bits: string | undefined): boolean {
  const [family, most] = isIP(address) === 6 ? (["ipv6", 128] as const) : (["ipv4", 32] as const);
  const prefix = bits === undefined ? most : /^\d+$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(prefix <= most)) return false;
  const range = new BlockList();
  range.addSubnet(address, prefix, family);
  return range.check(host, family);
}

/** The members of both agents that are used here. */
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
