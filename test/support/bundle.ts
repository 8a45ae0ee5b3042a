import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "@jest/globals";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Makes plain JavaScript of src, as it is now, for the host programs of one test file. Packages are found where they are
 * installed. The returned function gives the folder, which holds `index.js` and `host/host.js`.
 */
export function bundledSource(): () => string {
  let folder = "";
  beforeAll(async () => {
    const cache = join(ROOT, "node_modules", ".cache");
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, "bundle-"));
    const esbuild = join(ROOT, "node_modules", "esbuild", "bin", "esbuild");
    const entries = ["index", "host/host"].map((name) => `${name}=${join(ROOT, "src", `${name}.ts`)}`);
    const options = [
      "--bundle",
      "--splitting",
      "--format=esm",
      "--platform=node",
      "--packages=external",
      "--log-level=warning",
    ];
    await promisify(execFile)(esbuild, [...entries, ...options, `--outdir=${folder}`]);
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}
