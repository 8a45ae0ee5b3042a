import open from "open";

/** Opens an address in the person's browser. Rejects where there is no way to start one. */
export async function openInBrowser(url: string): Promise<void> {
  await open(url);
}
