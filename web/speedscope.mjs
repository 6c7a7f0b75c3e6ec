// Prepares speedscope, the viewer of flame graphs, for the binary: node web/speedscope.mjs OUTPUT_FOLDER
//
//   node_modules/speedscope --> index.html.z, speedscope.css.z, speedscope.js.z, font.woff2.z, LICENSE.z, font_license.md.z
//
// Files that the package names by their hashes get names that stay, so that outputs/report/html knows them; the icons, the
// sample and the reader of Java recordings stay behind. The page gets a policy: it may read what lies beside it and
// nothing else. Each file is packed as zlib (base/bytes/inflate.h). Fails when the package does not look as expected.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { deflateSync } from "node:zlib";

const packageFolder = path.dirname(createRequire(import.meta.url).resolve("speedscope/package.json"));
const release = path.join(packageFolder, "dist", "release");

function only(pattern) {
  const names = readdirSync(release).filter((name) => pattern.test(name));
  if (names.length !== 1) throw new Error(`speedscope has ${names.length} files like ${pattern}`);
  return names[0];
}

function replaced(text, from, to) {
  if (text.split(from).length !== 2) throw new Error(`speedscope does not name ${from} once`);
  return text.replace(from, to);
}

const script = only(/^speedscope-\w+\.js$/);
const style = only(/^speedscope-\w+\.css$/);
const font = only(/\.woff2$/);
const read = (name) => readFileSync(path.join(release, name));
const withoutMap = (text) => text.replace(/\n(\/\*|\/\/)# sourceMappingURL=.*\s*$/, "\n");

// WebAssembly makes C++ names readable; it is part of the script. Styles are made by the script.
const policy =
  "default-src 'none'; script-src 'self' file: 'wasm-unsafe-eval'; style-src 'self' file: 'unsafe-inline'; " +
  "font-src 'self' file:; img-src data: blob:; connect-src blob:; base-uri 'none'; form-action 'none'";

function page() {
  let text = read("index.html").toString();
  text = replaced(text, script, "speedscope.js");
  text = replaced(text, style, "speedscope.css");
  text = text.replace(/\s*<link rel="icon"[^>]*>/g, "");
  return replaced(
    text,
    '<meta charset="UTF-8">',
    `<meta charset="UTF-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}

const files = {
  "index.html": page(),
  "speedscope.css": withoutMap(replaced(read(style).toString(), font, "font.woff2")),
  "speedscope.js": withoutMap(read(script).toString()),
  "font.woff2": read(font),
  LICENSE: readFileSync(path.join(packageFolder, "LICENSE")),
  "font_license.md": read("source-code-pro.LICENSE.md"),
};

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node web/speedscope.mjs OUTPUT_FOLDER");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
for (const [name, content] of Object.entries(files))
  writeFileSync(path.join(folder, `${name}.z`), deflateSync(content, { level: 9 }));
