// Every recorded job, compile log and profile through every view of its report: no view writes to the console,
// throws, asks for anything, stays empty or scrolls sideways, and the first screen says what is known to have
// happened. With --pictures each view, 1280 x 800, light and dark, is left in the work folder.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { allViews, idOf, settled } from "../steps.mjs";
import { findData, foldersOf } from "./data.mjs";

// What the first screen has to say: the answers in the data's own README.
const answers = {
  "jobs/compile_divergence": [/Rank 3/, /extra/, /dist_job\.py:27/],
  "jobs/crash": [/Rank 4/],
  "jobs/healthy": [],
  "jobs/missing_collective": [/Rank 5/, /mesh_dp/, /all_reduce/, /dist_job\.py:53/],
  "jobs/p2p_size": [/Rank 4/, /mesh_pp/],
  "jobs/recompile_hang": [/Rank 3/],
  "jobs/size_mismatch": [/Rank 2/, /mesh_dp/, /all_reduce/],
  "jobs/slow_gpu": [/Rank 4/, /GPU/],
  "jobs/slow_rank": [/Rank 6/, /host/],
  "jobs/straggler": [/Rank 6/, /all_reduce/, /mesh_dp/],
  "jobs/type_mismatch": [/Rank 1/, /broadcast/, /all_reduce/],
};

// Views of data that these inputs have, and words that must be in them.
const jobViews = {
  flight: /Collectives/,
  compile: /stage/,
  compile_tree: /dist_job\.py/,
  compile_lanes: /rank/i,
  source: /dist_job\.py/,
  ranks: /rank/i,
  timeline: /rank/i,
  inventory: /rank/i,
};
const profiled = ["jobs/healthy", "jobs/slow_gpu", "jobs/slow_rank"];
const compileViews = {
  compile: /compilation/i,
  compile_tree: /\.py/,
  source: /\.py/,
  timeline: /compil/i,
};
const profileViews = { profile: /compute/, profile_kernels: /kernel/i, timeline: /stream/i };

// By input, or by kind of input.
const expected = {
  jobs: jobViews,
  compile: compileViews,
  "compile/export": { export: /exported program/ },
  "compile/provenance_cpu": { ...compileViews, provenance: /generated/i },
  "profiles/plain": profileViews,
  "profiles/stack": { ...profileViews, profile_memory: /peak/i },
  "profiles/memory_snapshot": { profile_memory: /peak/i },
};

// Shows a view, and waits until what it must say stands there: large tables come after the page.
async function lookAt(t, page, name, address) {
  const id = idOf(address);
  await page.evaluate((hash) => (location.hash = hash), address);
  await settled(page);
  const words = wanted(name)[id];
  if (words) await page.locator("main").filter({ hasText: words }).waitFor();
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(over, 0, `${name} ${id}: the page scrolls sideways`);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await t.screenshot(page, path.join("recorded", name, `${id}_${scheme}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
}

// Texts that a reader sees without scrolling.
function firstScreen(page) {
  return page.evaluate(() => {
    const texts = [];
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const box = range.getBoundingClientRect();
      if (box.height > 0 && box.bottom <= innerHeight && box.right <= innerWidth)
        texts.push(walker.currentNode.data);
    }
    return texts.join("\n");
  });
}

function wanted(name) {
  const views = expected[name] ?? expected[name.split("/")[0]];
  return profiled.includes(name) ? { ...profileViews, ...views } : views;
}

function reportTest(data, name, inputs) {
  return {
    name: `recorded: ${name}`,
    needsBinary: true,
    async run(t) {
      mkdirSync(path.join(t.options.work, "recorded", name), { recursive: true });
      const page = await t.report(inputs.map((one) => path.join(data, "recorded", one)));
      const first = await firstScreen(page);
      for (const words of answers[name] ?? []) assert.match(first, words, "first screen");
      const views = await allViews(page);
      const missing = [];
      const seen = views.map(idOf);
      for (const address of views) {
        await lookAt(t, page, name, address);
        if ((await page.locator(".missing").count()) > 0) missing.push(idOf(address));
      }
      for (const id of Object.keys(wanted(name))) {
        assert.ok(seen.includes(id), `no view ${id} in ${seen}`);
        assert.ok(!missing.includes(id), `${id} says that there is nothing to show`);
      }
    },
  };
}

// A report is sent to colleagues: the one of a whole small job fits into a mail.
const small = (data) => ({
  name: "recorded: the report of jobs/healthy is under 5 MB",
  needsBinary: true,
  async run(t) {
    const page = await t.report([path.join(data, "recorded/jobs/healthy")]);
    const folder = path.dirname(decodeURIComponent(new URL(page.url()).pathname));
    const files = readdirSync(folder, { recursive: true }).map((one) => statSync(path.join(folder, one)));
    const bytes = files.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
    assert.ok(bytes > 100_000 && bytes < 5_000_000, `${bytes} bytes`);
  },
});

const data = findData();
const folders = (kind) => foldersOf(path.join(data, "recorded", kind)).map((one) => `${kind}/${one}`);
export const tests = data
  ? [
      small(data),
      ...[...folders("jobs"), ...folders("compile")].map((one) => reportTest(data, one, [one])),
      ...["plain.json.gz", "stack.json.gz", "memory_snapshot.pickle.gz"].map((one) =>
        reportTest(data, `profiles/${one.split(".")[0]}`, [`profiles/${one}`]),
      ),
    ]
  : [];
export const skipped = data ? "" : "../shared/data is missing";
