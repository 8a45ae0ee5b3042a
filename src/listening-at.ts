/** An address of this machine, bare or with a path that servers give to MCP. */
const ADDRESS =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d{1,5})?(?:(?:\/[\w.-]{1,40}){0,3}\/(?:mcp|sse|messages?))?(?=\/?(?:[\s"'`),;.]|$))/i;

/** The local URL that a program logged, if any: a server that is silent on stdio may have been started in HTTP mode. */
export function listeningAt(written: readonly string[]): string | undefined {
  for (const text of written) {
    const [address] = ADDRESS.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  return undefined;
}
