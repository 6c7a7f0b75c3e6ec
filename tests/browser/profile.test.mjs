// The section Profile: numbers of the example, hostile names, what is missing, and speedscope in its frame.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasCount } from "./steps.mjs";
import { emptyRun } from "./fixtures/fixture.mjs";
import { hostileName, profileRun } from "./fixtures/profile_fixture.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const example = path.join(root, "examples/two-rank-profile");
const shownName = hostileName.replace("\u202e", "\\u202e");

async function go(page, hash) {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.waitForFunction((to) => location.hash === to, hash);
  await page.waitForSelector("main h1, main .missing");
}

const squeezed = (text) => text.replace(/\s+/g, " ");

async function says(page, hash, expected) {
  await go(page, hash);
  const text = () => page.locator("main").innerText();
  await page
    .waitForFunction(
      (words) => document.querySelector("main").innerText.replace(/\s+/g, " ").includes(words),
      squeezed(expected[0]),
    )
    .catch(async () => assert.fail(`${hash} does not say ${expected[0]}: ${await text()}`));
  const shown = squeezed(await text());
  for (const words of expected) assert.ok(shown.includes(words), `${hash} does not say ${words}: ${shown}`);
}

// Figures of `debrief profile SUBCOMMAND examples/two-rank-profile`.
const exampleSays = {
  "#/profile": ["480 us a step", "805 us", "400 us 49.7 %", "20.0 us", "2 of 2"],
  "#/profile?rank=1&step=4": ["Step 4 480 us", "Steps of rank 1", "Show this step in the timeline"],
  "#/profile_kernels": ["1.12 ms of work", "ncclDevKernel"],
  "#/profile_kernels?rank=0": ["602 us of work"],
  "#/profile_ops": ["aten::mm"],
  "#/profile_ops?by=modules": ["Modules of rank 0"],
  "#/profile_idle": ["28.5 % idle", "447 us of 1.57 ms", "Idle time by cause"],
  "#/profile_roofline": ["404 us of GPU time", "device not known", "The peaks of this device are not known"],
  "#/profile_memory": ["32.0 KiB peak allocated", "Memory over time"],
};

const numbers = {
  name: "profile: the views show the figures of the example",
  needsBinary: true,
  async run(t) {
    const page = await t.report([example], { hash: "#/profile" });
    for (const [hash, expected] of Object.entries(exampleSays)) await says(page, hash, expected);
    await t.screenshot(page, "profile_memory");
    await go(page, "#/profile_kernels");
    const told = page.locator('th[title="Sum of their durations"], th [title="Sum of their durations"]');
    await hasCount(told, 1, "the definition of the table, on hover");
  },
};

const hostileSays = {
  "#/profile": ["its GPU finding", "7.00 ms", "38 of 40", `upper bound: ${shownName}`],
  "#/profile?rank=1&step=12": ["Step 12 50.0 ms", "+30.0 ms", "Why it is called slow", "slow"],
  "#/profile_kernels": [
    "12.0 ms",
    "4.00 ms 2.00 ms 6.00 ms 2.00 ms", // mean, min, max, deviation over both ranks
    shownName,
    "1,000 rows of profile_kernel",
  ],
  "#/profile_kernels?rank=1": ["6.00 ms of work"],
  "#/profile_kernels?class=memory": ["Memcpy HtoD"],
  "#/profile_ops": ["aten::<b>mm</b>", "called 6 times"],
  "#/profile_ops?by=modules": ["Linear_0", "circle_a", "circle_b"],
  "#/profile_idle": ["30.0 ms", "100 %", shownName, "aten::add", "Not computable for rank 1: no synchronisation"],
  "#/profile_memory": ["23.4 MiB peak allocated", "38.7 % of it unused", "81.6 %", "\u22129.5 MiB", shownName],
  "#/profile_roofline": ["40.0 % MFU", "6.00 ms of GPU time", "memory 4.8 TB/s", "bf16 989 TFLOP/s", shownName, "2 shapes without a model"],
  "#/profile_roofline?rank=1": ["2.00 ms of GPU time"],
  "#/profile_memory?device=1.s.0": ["19.1 MiB in use at the end", "6.7 MiB fragmented", "has no trace", "train.py:10 <module>"],
  "#/profile_flames": ["A report of one file cannot hold flame graphs", "--single-file"],
};

const hostile = {
  name: "profile: hostile names stay text, and ranks are added up",
  async run(t) {
    const page = await t.open(profileRun(), { hash: "#/profile" });
    for (const [hash, expected] of Object.entries(hostileSays)) {
      await says(page, hash, expected);
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      await hasCount(page.locator("main img, main script, main b b, main iframe"), 0);
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(over, 0, `${hash} scrolls sideways`);
      assert.doesNotMatch(await page.locator("main").innerText(), /[\u0000\u202a-\u202e]/);
    }
  },
};

const selection = {
  name: "profile: what is selected is in the address, and leads on",
  async run(t) {
    const page = await t.open(profileRun(), { hash: "#/profile" });
    await page.getByRole("table", { name: "Time of the devices by rank" }).getByRole("button", { name: "1", exact: true }).click();
    assert.match(page.url(), /rank=1/);
    await page.keyboard.press("j");
    assert.match(page.url(), /step=10/);
    await page.locator(".step-chart .hit").nth(2).click();
    assert.match(page.url(), /step=12/);
    const link = page.getByRole("link", { name: "Show this step in the timeline" });
    assert.equal(await link.getAttribute("href"), "#/timeline?rank=1&step=12");
    assert.equal(
      await page.getByRole("link", { name: "finding", exact: true }).getAttribute("href"),
      "#/verdict?finding=f1",
    );
    await go(page, "#/profile_kernels");
    await page.getByRole("button", { name: /^void/ }).click();
    assert.match(page.url(), /at=\w+/);
    const panel = page.getByLabel("Selected kernel");
    assert.match(squeezed(await panel.innerText()), /3 times, 12.0 ms in all.*aten::<b>mm<\/b> \[4, 4\] /);
    await page.reload();
    await hasCount(page.getByLabel("Selected kernel"), 1, "after a reload");
    await go(page, "#/profile_ops?by=modules");
    await hasCount(page.getByText(shownName), 0, "folded");
    await page.getByRole("button", { name: "Unfold Linear_0" }).click();
    await hasCount(page.getByRole("table", { name: "Modules" }).getByText(shownName), 1);
  },
};

const looks = {
  name: "profile: light and dark",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(profileRun(), { hash: "#/profile_memory", dark });
      await page.waitForSelector(".curve canvas");
      const painted = await page.evaluate(() => {
        const canvas = document.querySelector(".curve canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length;
      });
      assert.ok(painted > 5000, `${painted} pixels of the curve`);
      assert.match(await page.locator(".curve").getAttribute("aria-label"), /the peak of 23.4 MiB is at 24.0 ms/);
      await t.screenshot(page, `profile_memory_${dark ? "dark" : "light"}`);
    }
    const page = await t.open(profileRun(), { hash: "#/profile_memory?device=1.s.1" });
    await page.waitForSelector(".curve canvas");
    assert.match(await page.locator(".curve").getAttribute("aria-label"), /the peak of 28.6 MiB is at 20.0 ms; out of memory at 24.0 ms$/);
    await t.screenshot(page, "profile_memory_out");
  },
};

const empty = {
  name: "profile: what is missing is told with what would record it",
  async run(t) {
    const page = await t.open(emptyRun(), { hash: "#/profile" });
    await says(page, "#/profile", ["No profiles were found", "torch.profiler.profile"]);
    await says(page, "#/profile_kernels", ["ProfilerActivity.CUDA"]);
    await says(page, "#/profile_ops", ["ProfilerActivity.CPU"]);
    await says(page, "#/profile_idle", ["ProfilerActivity.CPU and ProfilerActivity.CUDA"]);
    await says(page, "#/profile_roofline", ["record_shapes=True"]);
    await says(page, "#/profile_memory", ["profile_memory=True", "torch.cuda.memory._dump_snapshot"]);
    await says(page, "#/profile_flames", ["with_stack=True"]);
  },
};

// speedscope tells the console that it is there; nothing else may be told.
const ownWords = /speedscope v|WebGL|GL Driver|software WebGL|Importing as|import: /;

async function showsFlames(t, page) {
  const frame = page.frameLocator("iframe.flame-frame");
  await frame.getByText("Left Heavy").waitFor({ timeout: 20000 });
  const text = await frame.locator("body").innerText();
  assert.match(text, /thread 10[01] \(python\)/);
  assert.ok((await frame.locator("canvas").count()) > 0);
  t.problems = t.problems.filter((problem) => !ownWords.test(problem));
}

const flames = {
  name: "profile: speedscope shows the stacks of a rank, from a file",
  needsBinary: true,
  async run(t) {
    const page = await t.report([example], { hash: "#/profile_flames?rank=1" });
    await showsFlames(t, page);
    assert.equal(await page.getByLabel("Profile", { exact: true }).inputValue(), "timeline_1");
    await t.screenshot(page, "profile_flames");
  },
};

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

function serve(folder) {
  const server = createServer((request, response) => {
    const file = path.join(folder, decodeURIComponent(new URL(request.url, "http://x").pathname));
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", types[path.extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const served = {
  name: "profile: speedscope shows the stacks of a rank, from a server",
  needsBinary: true,
  async run(t) {
    const folder = path.join(t.options.work, "profile_served");
    execFileSync(t.options.binary, [example, "-o", folder, "--overwrite", "--no-store", "--quiet"], {
      stdio: "ignore",
    });
    const server = await serve(folder);
    try {
      const context = await t.browser.newContext();
      t.contexts.push(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => t.problems.push(`thrown: ${error.message}`));
      page.on("console", (message) => t.problems.push(`console: ${message.text()}`));
      await page.goto(`http://127.0.0.1:${server.address().port}/index.html#/profile_flames`);
      await showsFlames(t, page);
      t.problems = t.problems.filter((problem) => !/favicon|404/.test(problem));
    } finally {
      server.close();
    }
  },
};

const roofline = {
  name: "profile: the roofline has a dot for each shape, which its table has too",
  async run(t) {
    for (const width of [1280, 390]) {
      const page = await t.open(profileRun(), { hash: "#/profile_roofline", width });
      const dots = page.locator(".roofline circle");
      await hasCount(dots, 1, "one shape of both ranks");
      await hasCount(page.locator(".roofline .roof"), 2, "memory and bf16");
      assert.match(await dots.locator("title").textContent(), /aten::<b>mm<\/b> .*: 200 TFLOP\/s at 2,000 FLOPs a byte, 20\.2 % of its roof; compute bound, 4.00 ms in 4 calls/);
      await dots.click();
      await page.waitForFunction(() => /at=/.test(location.hash));
      assert.match(await page.getByLabel("Selected shape").innerText(), /200 GFLOP, 100 MB, 1.00 ms/);
    }
    const { islands, ...run } = profileRun();
    const tables = { ...islands.profile.tables };
    tables.profile_roofline = { total: 1, rows: tables.profile_roofline.rows.slice(-1) };
    const page = await t.open({ ...run, islands: { profile: { ...islands.profile, tables } } }, { hash: "#/profile_roofline" });
    assert.match(await page.locator("main .empty").first().innerText(), /No op has known shapes/);
  },
};

export const tests = [numbers, roofline, hostile, selection, looks, empty, flames, served];
