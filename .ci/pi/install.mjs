/** Brings the real Pi and a Node for it into a folder outside of the project. */
import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npm, windows } from "../checks.mjs";

const PI = "@earendil-works/pi-coding-agent";
const VERSION = "1.6.0";
const NODE = "24";

/** Gives Pi's program and the Node that runs it. Kept for the next time under PI_ROOT, or in the temporary folder. */
export async function installPi() {
  const root = process.env.PI_ROOT ?? join(tmpdir(), `rpi-mcp-adapter-pi-${VERSION}`);
  const cli = join(root, "node_modules", PI, "dist", "bundle", "cli.js");
  const node = join(root, "node_modules", "node", "bin", windows ? "node.exe" : "node");
  if (!existsSync(cli) || !existsSync(node)) {
    console.log(`Installing Pi ${VERSION} and Node ${NODE} into ${root} (once; about a minute)`);
    await installInto(root, [`${PI}@${VERSION}`, `node@${NODE}`]);
  }
  return { cli, node };
}

/** In a folder beside first: one that is there is complete, even if this process is stopped. */
async function installInto(root, packages) {
  const draft = await mkdtemp(`${root}-`);
  try {
    await writeFile(join(draft, "package.json"), '{"private":true}');
    await npm("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], draft);
    await rm(root, { recursive: true, force: true });
    await rename(draft, root);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
