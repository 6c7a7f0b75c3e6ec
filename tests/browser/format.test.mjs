// Amounts on the page are written as the terminal writes them: both are held to tests/amounts.def. No browser is needed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

// What the page writes amounts with.
export async function formats() {
  const built = await esbuild.build({ entryPoints: [path.join(root, "web/src/parts/format.ts")], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
}

const writtenAsListed = {
  name: "format: amounts are written as in tests/amounts.def",
  async run() {
    const { duration, durationInWords, bytes, memory } = await formats();
    const kinds = { Duration: duration, Words: durationInWords, Bytes: bytes, Memory: memory };
    const listed = [...readFileSync(path.join(root, "tests/amounts.def"), "utf8").matchAll(/^X\((\w+), (\d+), "(.*?)"\)/gm)];
    assert.ok(listed.length > 30);
    for (const [, kind, value, text] of listed) assert.equal(kinds[kind](Number(value)), text, `${kind} of ${value}`);
  },
};

export const tests = [writtenAsListed];
