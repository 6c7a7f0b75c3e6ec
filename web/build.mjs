// Builds the report's front end: node web/build.mjs OUTPUT_FOLDER TABLES_D_TS (or --no-check)
//
//   src/**.tsx                --esbuild--> app.js  \
//   style.css, src/**.css     --esbuild--> app.css  }--> page.html: page.html of this folder with style, script
//                                                        and the content security policy filled in
//
// page.html still has five marks, {{title}}, {{headlines}}, {{data}}, {{contents}} and {{islands}}, that outputs/report/html
// (and, in tests, tests/browser/fixture.mjs) replace for each run. The policy allows this script and this style by
// their hashes and scripts that lie beside the page (src/run/islands.ts), and no network but the server that the
// page came from, if it came from one.
//
// Pages of `debrief compile` (tree/): one template, tree/page.html, with the style and the script of each kind,
// is written as tree_<kind>.html; compat/tlparse fills {{title}} and {{body}}. Its policy stands on a
// line of its own, for a page with a header of the user's to leave it out.
//
// The type check runs beside the bundling and fails the build; rows of tables have the types that src/**/tables.def
// gives their columns. Nothing is fetched; no source maps; the same sources give the same bytes.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const web = path.dirname(fileURLToPath(import.meta.url));
const marks = ["{{title}}", "{{headlines}}", "{{data}}", "{{contents}}", "{{islands}}"];

// `import { views } from "views"`: every file of src/views, in order of the view's own `order`. A new view
// is a new file and nothing else.
const viewsPlugin = {
  name: "views",
  setup(build) {
    build.onResolve({ filter: /^views$/ }, () => ({ path: "views", namespace: "views" }));
    build.onLoad({ filter: /.*/, namespace: "views" }, () => {
      const folder = path.join(web, "src", "views");
      const files = readdirSync(folder)
        .filter((name) => name.endsWith(".tsx"))
        .sort();
      const imports = files.map((name, i) => `import { view as v${i} } from "./${name}";`);
      const list = files.map((_, i) => `v${i}`).join(", ");
      const contents = `${imports.join("\n")}
export const views = [${list}].sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1));`;
      return { contents, resolveDir: folder, loader: "ts" };
    });
  },
};

// `@import "rooms";` in style.css: every style of src/, in order of name. A room brings its own.
const roomStylesPlugin = {
  name: "rooms",
  setup(build) {
    build.onResolve({ filter: /^rooms$/ }, () => ({ path: "rooms", namespace: "rooms" }));
    build.onLoad({ filter: /.*/, namespace: "rooms" }, () => {
      const folder = path.join(web, "src");
      const files = readdirSync(folder, { recursive: true })
        .filter((name) => name.endsWith(".css"))
        .sort();
      const contents = files.map((name) => `@import "./${name}";`).join("\n");
      return { contents, resolveDir: folder, loader: "css" };
    });
  },
};

// `import type { TableRows } from "tables"`: the row of every table, by name, as tools/gen_tables.py makes them of tables.def.
function typeCheck(folder, tables) {
  mkdirSync(path.join(folder, "types"), { recursive: true });
  const project = path.join(folder, "types", "tsconfig.json");
  const include = ["src", "tree"].map((one) => path.join(web, one));
  const settings = { extends: path.join(web, "tsconfig.json"), include, files: [tables] };
  writeFileSync(project, JSON.stringify(settings));
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [tsc, "--noEmit", "-p", project], { stdio: "inherit" });
    child.on("close", (code) => resolve(code === 0));
  });
}

async function bundle() {
  const result = await esbuild.build({
    entryPoints: { app: path.join(web, "src", "main.tsx"), style: path.join(web, "style.css") },
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2020",
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "ascii",
    legalComments: "none",
    plugins: [viewsPlugin, roomStylesPlugin],
    outdir: path.join(web, "out"), // only names the results: nothing is written
    write: false,
    logLevel: "warning",
  });
  const text = (name) => result.outputFiles.find((file) => file.path.endsWith(name)).text;
  return { script: text("app.js"), style: text("style.css") };
}

// An inline element ends at the first "</script" or "</style", and the parser turns CR into LF, which
// would break the hash.
function checkInline(name, text) {
  if (/<\/(script|style)|<!--|\r/i.test(text))
    throw new Error(`${name} cannot stand inside a page`);
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function fillPage({ script, style }) {
  checkInline("script", script);
  checkInline("style", style);
  const policy =
    `default-src 'none'; script-src ${hash(script)} 'self' file:; style-src ${hash(style)}; ` +
    "img-src data:; connect-src 'self'; frame-src 'self' file:; base-uri 'none'; form-action 'none'";
  const values = { policy, style, script };
  const page = readFileSync(path.join(web, "page.html"), "utf8").replace(
    /\{\{(policy|style|script)\}\}/g,
    (_, name) => values[name],
  );
  for (const mark of marks) {
    if (page.split(mark).length !== 2) throw new Error(`${mark} must occur once in the page`);
  }
  return page;
}

const treeKinds = ["plain", "index", "code", "provenance"];
const treeLimit = 6400; // bytes of a style or a script: they stand in each of some thousand pages

async function bundleTree() {
  const tree = path.join(web, "tree");
  const entryPoints = treeKinds.flatMap((kind) => [
    path.join(tree, kind === "plain" ? "base.css" : `${kind}.css`),
    path.join(tree, `${kind}.ts`),
  ]);
  const result = await esbuild.build({
    entryPoints,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2020",
    charset: "ascii",
    legalComments: "none",
    outdir: path.join(web, "out"),
    write: false,
    logLevel: "warning",
  });
  const text = (name) =>
    result.outputFiles.find((file) => path.basename(file.path) === name)?.text.trimEnd() ?? "";
  return treeKinds.map((kind) => ({
    kind,
    style: text(kind === "plain" ? "base.css" : `${kind}.css`),
    script: text(`${kind}.js`),
  }));
}

function fillTreePage({ kind, style, script }) {
  for (const [name, text] of Object.entries({ style, script })) {
    checkInline(`${kind} ${name}`, text);
    if (text.length > treeLimit) throw new Error(`${kind} ${name} has ${text.length} bytes`);
  }
  const policy =
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
    `script-src ${script ? hash(script) : "'none'"}; style-src ${hash(style)}; ` +
    `img-src data:; base-uri 'none'; form-action 'none'">\n`;
  const values = { policy, style, script: script && `<script>${script}</script>\n` };
  return readFileSync(path.join(web, "tree", "page.html"), "utf8").replace(
    /\{\{(policy|style|script)\}\}/g,
    (_, name) => values[name],
  );
}

const [folder, tables] = process.argv.slice(2);
if (!folder || !tables) {
  console.error("usage: node web/build.mjs OUTPUT_FOLDER TABLES_D_TS (or --no-check)");
  process.exit(2);
}
const checked = tables === "--no-check" || typeCheck(path.resolve(folder), path.resolve(tables));
const parts = await bundle();
const page = fillPage(parts);
const treePages = (await bundleTree()).map((one) => [`tree_${one.kind}.html`, fillTreePage(one)]);
if (!(await checked)) process.exit(1);
mkdirSync(folder, { recursive: true });
for (const [name, text] of [
  ["app.js", parts.script],
  ["app.css", parts.style],
  ["page.html", page],
  ...treePages,
]) {
  writeFileSync(path.join(folder, name), text);
}
