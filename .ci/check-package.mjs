/** Packs the built package, installs the tarball in an empty folder and uses it there as a stranger would. */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { check, equal, install, matches, npm, pack, ROOT, runChecks } from "./checks.mjs";

const NAME = "rpi-mcp-adapter";
const ENTRIES = [NAME, `${NAME}/host`, `${NAME}/pi`];
const INSTALLED_BYTES = 8 * 1024 * 1024;
/** Scripts of package.json that npm runs on a user's machine. */
const USER_SCRIPTS = ["preinstall", "install", "postinstall", "preuninstall", "uninstall", "postuninstall"];
/** The modules that the types of test/types are about, and where a consumer finds them. */
const PUBLISHED = { "src/index.ts": NAME, "src/host/host.ts": `${NAME}/host`, "src/pi/extension.ts": `${NAME}/pi` };

/** A host of a few lines, whose call loads what is behind the tools. */
const USE = `
  import { createPlugin } from "${NAME}";
  const tools = new Map();
  const plugin = createPlugin();
  plugin.register({ abiVersion: 1, registerTool: (tool) => tools.set(tool.name, tool) });
  const handle = tools.get("mcp_list").execute("1", { action: "status" });
  handle.settled.then(() => {
    const end = handle.poll();
    console.log("mcp_list", end.tag === "done" ? end.result.content[0].text : end.message);
    return plugin.shutdown();
  });`;

await runChecks("package-check", checkAll);

async function checkAll(folder) {
  const packed = await pack(folder);
  const app = join(folder, "app");
  const installed = join(app, "node_modules", NAME);

  await check("the tarball holds only what is published", () => {
    const allowed = /^(dist\/|docs\/|schemas\/|(plugin|package)\.json$|(README|CHANGELOG)\.md$|LICENSE$)/;
    equal(
      packed.files.map(({ path }) => path).filter((path) => !allowed.test(path)),
      [],
    );
  });
  await check("the tarball holds its papers", () => {
    const wanted = [
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "docs/config.md",
      "plugin.json",
      "dist/THIRD_PARTY_LICENSES.txt",
    ];
    equal(
      wanted.filter((path) => !packed.files.some((file) => file.path === path)),
      [],
    );
  });
  await check("the tarball installs, and brings no other package", async () => {
    await install(app, packed.path);
    equal(
      (await readdir(join(app, "node_modules"))).filter((each) => !each.startsWith(".")),
      [NAME],
    );
  });
  await check("what is installed is at most 8 MB, and none of it runs by being installed", async () => {
    const bytes = await sizeOf(installed);
    if (bytes > INSTALLED_BYTES) throw new Error(`${bytes} bytes are installed`);
    const { scripts = {}, dependencies = {} } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    equal([USER_SCRIPTS.filter((name) => name in scripts), dependencies], [[], {}]);
  });
  await check("what a host loads is Latin-1, so that it is kept at one byte a character", async () => {
    for (const file of ["index.js", "host/host.js", "pi/extension.js", "lazy/engine.js"]) {
      const beyond = /[\u0100-\u{10ffff}]/u.exec(await readFile(join(installed, "dist", file), "utf8"));
      equal([file, beyond?.[0]], [file, undefined]);
    }
  });
  await check("npx rpi-mcp --help tells how to use it", async () => {
    matches(await npm("npx", ["--no-install", "rpi-mcp", "--help"], app), /rpi-mcp/);
  });
  for (const entry of ENTRIES) {
    await check(`import "${entry}" works and prints nothing`, async () => {
      await writeFile(join(app, "import.js"), `await import("${entry}");\n`);
      equal(await runNode(["import.js"], app), "");
    });
  }
  await check("a bundler finds all that it imports, and what comes of it works as CommonJS too", async () => {
    await writeFile(join(app, "app.js"), USE);
    for (const format of ["esm", "cjs"]) {
      const outfile = join(app, `bundled.${format === "esm" ? "mjs" : "cjs"}`);
      const { metafile, warnings } = await build({
        ...{ absWorkingDir: app, entryPoints: ["app.js"], outfile, format },
        ...{ bundle: true, platform: "node", metafile: true, packages: "bundle", logLevel: "silent" },
      });
      const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
      const foreign = imported.filter(({ external, path }) => external && !isBuiltin(path)).map(({ path }) => path);
      equal([warnings, foreign], [[], []]);
      equal((await runNode([outfile], app)).trim(), 'mcp_list {"connections":[]}');
    }
  });
  await check("it works where other libraries have extended Object.prototype", async () => {
    await writeFile(join(app, "extended.js"), `Object.prototype.extra = 1;\nawait import("./app.js");\n`);
    equal((await runNode(["extended.js"], app)).trim(), 'mcp_list {"connections":[]}');
  });
  await check("plugin.json is exported, agrees with package.json and names a file that registers", async () => {
    const script = `
      import { createRequire } from "node:module";
      const require = createRequire(import.meta.url);
      const plugin = require("${NAME}/plugin.json");
      const { abiVersion, entry, tools, events } = plugin.extensions["io.github.pi-rust.rpi"];
      const { register } = await import(new URL(entry, import.meta.resolve("${NAME}/plugin.json")).href);
      console.log(plugin.version === require("${NAME}/package.json").version, typeof register, abiVersion, ...tools, ...events);`;
    await writeFile(join(app, "plugin.js"), script);
    const expected = "true function 1 mcp_list mcp_call mcp_request SessionShutdown";
    equal((await runNode(["plugin.js"], app)).trim(), expected);
  });
  await check("the extensions that package.json gives to Pi exist", async () => {
    const { pi } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    for (const path of pi.extensions) await readFile(join(installed, path));
  });
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["preserve", "bundler"],
  ]) {
    await check(`a consumer with module ${module} compiles`, () => compile(app, module, moduleResolution));
  }
  await check("publint finds nothing", () => runNode([tool("publint", "src/cli.js"), installed, "--strict"], app));
  await check("every entry has the right types", () => {
    const flags = ["--profile", "esm-only", "--no-emoji", "--no-color"];
    return runNode([tool("@arethetypeswrong/cli", "dist/index.js"), packed.path, ...flags], app);
  });
}

async function sizeOf(path) {
  const entry = await stat(path);
  if (!entry.isDirectory()) return entry.size;
  const sizes = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
  return sizes.reduce((sum, each) => sum + each, 0);
}

/**
 * Compiles a file that imports every entry, and the type tests against what is published, with the declarations themselves
 * checked and only Node's types at hand.
 */
async function compile(app, module, moduleResolution) {
  const consumer = join(app, `consumer-${module}`);
  await mkdir(consumer);
  await cp(join(ROOT, "node_modules", "@types", "node"), join(consumer, "types", "node"), { recursive: true });
  await cp(join(ROOT, "node_modules", "undici-types"), join(app, "node_modules", "undici-types"), { recursive: true });
  const lines = ENTRIES.map((entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};\n`);
  await writeFile(join(consumer, "consumer.ts"), lines.join(""));
  const tests = await readdir(join(ROOT, "test", "types"));
  for (const name of tests) {
    let text = await readFile(join(ROOT, "test", "types", name), "utf8");
    for (const [source, entry] of Object.entries(PUBLISHED)) text = text.replaceAll(`"../../${source}"`, `"${entry}"`);
    await writeFile(join(consumer, name), text);
  }
  const compilerOptions = { module, moduleResolution, target: "es2023", lib: ["es2023"], strict: true, noEmit: true };
  const types = { skipLibCheck: false, typeRoots: ["./types"], types: ["node"], exactOptionalPropertyTypes: true };
  const config = { compilerOptions: { ...compilerOptions, ...types }, files: ["consumer.ts", ...tests] };
  await writeFile(join(consumer, "tsconfig.json"), JSON.stringify(config));
  await runNode([tool("typescript", "bin/tsc"), "-p", consumer], app);
}

function tool(name, path) {
  return join(ROOT, "node_modules", name, path);
}

async function runNode(args, cwd) {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 2 ** 26, timeout: 120_000 });
  return stdout;
}
