/**
 * Builds dist/: one file for each entry and for each part that is loaded on its own, the declarations of the public entries,
 * and the licenses of every package that was bundled.
 *
 * Files, and not chunks shared between them: at start every file costs about a millisecond, while a few kilobytes that
 * stand in two of them cost nothing. What must be the same in both is recognised by brand (errors) or shared through
 * `globalThis` (the reaper).
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { generate } from "./generate.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SRC = join(ROOT, "src");
const DIST = join(ROOT, "dist");
const CLI = "cli/main";
const ENGINE = "plugin/engine";
const PUBLIC = ["index", "host/host", "pi/extension"];
/** Parts of src/ that are loaded only when needed, and heavy enough for a file of their own. */
const PARTS = [
  "cli/account",
  "cli/browser",
  "cli/command",
  "cli/import",
  "cli/login",
  "cli/spinner",
  "config/imports/read",
  "config/plugins/package",
  "config/store",
  ENGINE,
  "pi/session",
  "runtime/sign-in",
  "session/elicitation",
  "transport/proxy",
  "validation/compile-schema",
  "validation/compiled",
];
/** Packages that are loaded only when needed. */
const PACKAGES = ["jsonc-parser", "smol-toml"];
const LAZY = "lazy";
const LOOKED_UP = /^(node:)?https?$/;
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"']+)\2/g;

/**
 * Looks modules of Node up instead of importing them, where that matters: `require("fs")` of a bundled CommonJS package needs no
 * `createRequire` in every file then, and node:http does not cost 70 ms from Node 22 on, where the namespace that an import makes
 * reads every export, and one of them loads all of undici.
 */
const builtins = {
  name: "builtins",
  setup(setup) {
    setup.onResolve({ filter: /^(node:)?[a-z_/]+$/ }, ({ kind, path }) =>
      (kind === "require-call" && isBuiltin(path)) || LOOKED_UP.test(path) ? { path, namespace: "builtin" } : undefined,
    );
    setup.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = require("./builtin.ts").builtin(${JSON.stringify(path)});`,
      resolveDir: SRC,
    }));
  },
};

/**
 * Packages that others use where they are installed, and do without where not. What we never need of them is absent for good, so
 * that whoever bundles us is not told that they are missing.
 */
const absent = {
  name: "absent",
  setup(setup) {
    setup.onResolve({ filter: /^(supports-color|kerberos)$/ }, ({ path }) => ({ path, namespace: "absent" }));
    setup.onLoad({ filter: /.*/, namespace: "absent" }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not installed`)});`,
    }));
  },
};

/** Puts the interpreter line on the command, whether its source has one or not. */
const shebang = {
  name: "shebang",
  setup(setup) {
    const main = join(SRC, `${CLI}.ts`);
    setup.onLoad({ filter: /[\\/]main\.ts$/ }, async ({ path }) => {
      if (path !== main) return undefined;
      const text = await readFile(path, "utf8");
      return { contents: text.startsWith("#!") ? text : `#!/usr/bin/env node\n${text}`, loader: "ts" };
    });
  },
};

const generated = await generate(ROOT);
const entries = [...PUBLIC, CLI].filter(exists);
/** What this build wrote: everything else in dist/ is from an earlier one. Written over, never absent: dist/ may be in use. */
const written = new Set([join(DIST, "THIRD_PARTY_LICENSES.txt")]);
const [bundled] = await Promise.all([bundleAll(), declarations(entries.filter((entry) => entry !== CLI))]);
await licenses(bundled);
if (entries.includes(CLI)) await chmod(join(DIST, `${CLI}.js`), 0o755);
await removeStale();

async function removeStale() {
  for (const entry of await readdir(DIST, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path)) await rm(path, { force: true });
  }
}

function exists(entry) {
  const found = existsSync(sourceOf(entry));
  if (!found) console.log(`build: skipped src/${entry}.ts, which does not exist yet`);
  return found;
}

/** Returns the source files that ended up in some output. */
async function bundleAll() {
  const outputs = [
    ...entries.map((entry) => [join(SRC, `${entry}.ts`), `${entry}.js`]),
    ...PARTS.filter(exists).map((part) => [sourceOf(part), partFile(part)]),
    ...PACKAGES.map((name) => [name, partFile(name)]),
  ];
  const inputs = await Promise.all(outputs.map(([source, file]) => bundle(source, file)));
  return new Set(inputs.flat());
}

/** What is generated is JavaScript already. */
function sourceOf(part) {
  const source = join(SRC, `${part}.ts`);
  const generated = join(SRC, `${part}.js`);
  return existsSync(generated) ? generated : source;
}

function partFile(name) {
  return `${LAZY}/${PARTS.includes(name) ? name.split("/").slice(1).join("-") : name}.js`;
}

async function bundle(source, file) {
  const { metafile } = await build({
    entryPoints: [source],
    absWorkingDir: ROOT,
    outfile: join(DIST, file),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.18",
    mainFields: ["module", "main"],
    legalComments: "none",
    metafile: true,
    // Less to parse for what is loaded on first use.
    minifyWhitespace: file.startsWith(LAZY),
    minifySyntax: file.startsWith(LAZY),
    // Every first call waits for this one: 2 ms less. Elsewhere names stay, since packages take those of errors from their classes.
    minifyIdentifiers: source === sourceOf(ENGINE),
    plugins: [builtins, absent, shebang, lazyParts(file)],
    logLevel: "warning",
  });
  const path = join(DIST, file);
  await writeFile(path, ownKeysOnly(await readFile(path, "utf8")));
  written.add(path);
  const [{ bytes, inputs }] = Object.values(metafile.outputs);
  if (!file.startsWith(LAZY)) console.log(`build: dist/${file} ${bytes} bytes`);
  return Object.keys(inputs).filter((input) => inputs[input].bytesInOutput > 0);
}

/** The bundler's helper takes what a host's libraries put on `Object.prototype` for exports, and nothing could be loaded. */
function ownKeysOnly(text) {
  const helper = /for ?\(var ([\w$]+) in ([\w$]+)\)(?=\s*[\w$]+\([\w$]+, ?\1, ?\{ ?get: ?\2\[\1\])/g;
  return text.replaceAll(helper, "for(var $1 of Object.keys($2))");
}

/** Leaves an `import()` of a part or a package that has a file of its own as an import of that file. */
function lazyParts(file) {
  const lazy = (name) => {
    const path = posix.relative(posix.dirname(file), partFile(name));
    return { path: path.startsWith(".") ? path : `./${path}`, external: true };
  };
  return {
    name: "lazy-parts",
    setup(setup) {
      setup.onResolve({ filter: /./ }, ({ kind, path, importer }) => {
        if (kind !== "dynamic-import") return undefined;
        if (PACKAGES.includes(path)) return lazy(path);
        if (!path.startsWith(".")) return undefined;
        const part = relative(SRC, resolve(dirname(importer), path))
          .replaceAll(sep, "/")
          .replace(/\.[jt]s$/, "");
        return PARTS.includes(part) ? lazy(part) : undefined;
      });
    },
  };
}

/** Writes the declarations of all of src, then copies those that a public entry reaches. */
async function declarations(names) {
  const draft = await mkdtemp(join(tmpdir(), "declarations-"));
  try {
    const flags = ["--noEmit", "false", "--emitDeclarationOnly", "--outDir", draft];
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    await promisify(execFile)(process.execPath, [tsc, "-p", ROOT, ...flags]).catch((error) => {
      console.error(error.stdout || error.message);
      console.error("build: the declarations have type errors");
      process.exitCode = 1;
    });
    const reached = new Set();
    for (const name of names) await copyDeclaration(draft, `${name}.d.ts`, reached);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function copyDeclaration(draft, file, reached) {
  if (reached.has(file)) return;
  reached.add(file);
  const emitted = join(draft, file);
  const source = existsSync(emitted) ? emitted : join(SRC, file); // a .d.ts in src is not copied by tsc
  const targets = [];
  const text = (await readFile(source, "utf8")).replace(SPECIFIER, (_, lead, quote, specifier) => {
    const path = specifier.replace(/\.ts$/, ".js");
    targets.push(relative(draft, resolve(draft, dirname(file), path.replace(/\.js$/, ".d.ts"))));
    return `${lead}${quote}${path}${quote}`;
  });
  await mkdir(dirname(join(DIST, file)), { recursive: true });
  await writeFile(join(DIST, file), text);
  written.add(join(DIST, file));
  for (const target of targets) await copyDeclaration(draft, target, reached);
}

async function licenses(inputs) {
  const files = new Set(inputs);
  if ([...inputs].some((path) => path.endsWith("validation/compiled.js")))
    for (const path of generated.inputs) files.add(path);
  const packages = new Map();
  for (const path of files) {
    const folder = packageFolder(path);
    if (folder === undefined || packages.has(folder)) continue;
    packages.set(folder, await license(folder));
  }
  const texts = [...packages.values()].sort();
  const head = "rpi-mcp-adapter contains code of the packages below, each under its own license.\n";
  await writeFile(join(DIST, "THIRD_PARTY_LICENSES.txt"), [head, ...texts].join(`\n${"-".repeat(80)}\n\n`));
  console.log(`build: ${packages.size} packages bundled`);
}

/** The folder of the package that a bundled file belongs to; undefined for our own files. */
function packageFolder(path) {
  const parts = path.split(/[\\/]/);
  const at = parts.lastIndexOf("node_modules");
  if (at < 0) return undefined;
  return join(ROOT, parts.slice(0, at + (parts[at + 1].startsWith("@") ? 3 : 2)).join(sep));
}

async function license(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(\.|$)/i.test(each));
  // Some packages only name their license.
  if (file === undefined && typeof license !== "string") throw new Error(`${name} is bundled, but names no license.`);
  if (file === undefined)
    return `${name} ${version} (${license})\n\nLicensed under ${license}, as its package.json says.\n`;
  return `${name} ${version} (${license})\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
}
