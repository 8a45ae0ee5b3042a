/** Brings the real Pi, a Node for it, and the packed project into folders outside of the project. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const PI = "@earendil-works/pi-coding-agent";
const VERSION = "1.6.0";
const NODE = "24";
const windows = process.platform === "win32";
const npm = windows ? "npm.cmd" : "npm";

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

/** Packs the project as it was built and installs the tarball, as a user has it; gives the package's folder. */
export async function installPacked(project, folder) {
  const [packed] = JSON.parse(
    await run(npm, ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], project),
  );
  const app = join(folder, "app");
  await mkdir(app);
  await writeFile(join(app, "package.json"), '{"private":true}');
  await run(npm, ["install", "--no-audit", "--no-fund", "--ignore-scripts", join(folder, packed.filename)], app);
  return join(app, "node_modules", packed.name);
}

/** In a folder beside first: one that is there is complete, even if this process is stopped. */
async function installInto(root, packages) {
  const draft = await mkdtemp(`${root}-`);
  try {
    await writeFile(join(draft, "package.json"), '{"private":true}');
    await run(npm, ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], draft);
    await rm(root, { recursive: true, force: true });
    await rename(draft, root);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function run(command, args, cwd) {
  const options = { cwd, shell: windows, maxBuffer: 2 ** 26, timeout: 600_000 };
  const { stdout } = await promisify(execFile)(command, args, options);
  return stdout;
}
