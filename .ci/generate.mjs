/** Compiles schemas/*.schema.json into one ES module of standalone validators: src/validation/compiled.js and its d.ts. */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";

const SUFFIX = ".schema.json";
const HEADER = "// Generated from schemas/ by `npm run generate`; do not edit.\n";
const DECLARATIONS = `${HEADER}
/** What a validator found, in ajv's form. */
export interface CompiledError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** One compiled schema; \`errors\` tells of the latest call. */
export interface CompiledCheck {
  (data: unknown): boolean;
  errors?: readonly CompiledError[] | null;
}
`;

/** Writes the two files under \`root\`; returns the source files (relative to \`root\`) that went into the module. */
export async function generate(root) {
  const schemas = await readSchemas(join(root, "schemas"));
  const { code, inputs } = await bundle(root, compile(schemas));
  const folder = join(root, "src", "validation");
  await mkdir(folder, { recursive: true });
  await replace(join(folder, "compiled.js"), HEADER + code);
  const names = schemas.map(({ name }) => `export declare const ${name}: CompiledCheck;\n`);
  await replace(join(folder, "compiled.d.ts"), `${DECLARATIONS}${names.length > 0 ? "\n" : ""}${names.join("")}`);
  return { names: schemas.map(({ name }) => name), inputs };
}

async function readSchemas(folder) {
  const files = await readdir(folder).catch(() => []);
  const schemas = [];
  for (const file of files.filter((each) => each.endsWith(SUFFIX)).sort()) {
    const schema = JSON.parse(await readFile(join(folder, file), "utf8"), withoutWords);
    if (typeof schema.$id !== "string") throw new Error(`schemas/${file} has no $id.`);
    schemas.push({ name: exportName(file), schema });
  }
  return schemas;
}

/** mcp-list.input.schema.json → mcpListInput */
function exportName(file) {
  return file.slice(0, -SUFFIX.length).replace(/[-.]+(\w)/g, (_, letter) => letter.toUpperCase());
}

function compile(schemas) {
  if (schemas.length === 0) return "export {};\n";
  const ajv = new Ajv2020({
    code: { source: true, esm: true, lines: true },
    allErrors: false,
    verbose: false,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    schemas: schemas.map(({ schema }) => schema),
  });
  return standalone.default(ajv, Object.fromEntries(schemas.map(({ name, schema }) => [name, schema.$id])));
}

/** Draws ajv's small run-time helpers into the module, so that it imports nothing. */
async function bundle(root, source) {
  const result = await build({
    stdin: { contents: source, resolveDir: dirname(fileURLToPath(import.meta.url)), sourcefile: "compiled.js" },
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20.18",
    legalComments: "none",
    // Nobody reads it, and it is parsed with the first call.
    minify: true,
    logLevel: "warning",
  });
  const [output] = Object.values(result.metafile.outputs);
  if (output.imports.length > 0) throw new Error(`compiled.js would import ${output.imports.map(({ path }) => path)}.`);
  return { code: result.outputFiles[0].text, inputs: Object.keys(output.inputs) };
}

/** Renames into place, so that a reader never meets half a file, and leaves an equal file alone. */
async function replace(path, text) {
  if ((await readFile(path, "utf8").catch(() => undefined)) === text) return;
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text);
  await rename(draft, path);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { names } = await generate(dirname(dirname(fileURLToPath(import.meta.url))));
  console.log(`generate: ${names.length === 0 ? "no schemas yet" : names.join(", ")}`);
}

/** What a schema says to people is left out: it would be loaded with the validators, and never read. */
function withoutWords(_key, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // A property may have the name of a keyword; then its value is a schema.
  const words = ["description", "title", "$comment", "examples"].filter(
    (word) => word in value && typeof value[word] !== "object",
  );
  return Object.fromEntries(Object.entries(value).filter(([key]) => !words.includes(key)));
}
