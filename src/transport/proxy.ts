import type { Agent, AgentOptions } from "node:http";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { getProxyForUrl } from "proxy-from-env";

/** The agent that reaches `url` through the proxy that the environment names for it; `undefined` if it names none or excepts the host. */
export function proxyAgent(
  url: URL,
  options: AgentOptions,
): { readonly agent: Agent; readonly proxy: string } | undefined {
  const proxy = withScheme(getProxyForUrl(url.href));
  if (!URL.canParse(proxy)) return undefined;
  const agent = url.protocol === "https:" ? new HttpsProxyAgent(proxy, options) : new HttpProxyAgent(proxy, options);
  const { origin, protocol, host } = new URL(proxy);
  return { agent, proxy: origin === "null" ? `${protocol}//${host}` : origin };
}

/** A proxy that is named without a scheme speaks plain HTTP, as everywhere else; the package gives it the scheme of the URL. */
function withScheme(proxy: string): string {
  const { https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY } = process.env;
  const isBare = [https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY].some((named) => proxy === `https://${named}`);
  return isBare ? proxy.replace("https:", "http:") : proxy;
}
