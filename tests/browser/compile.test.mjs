// Compile logs: every view with its tabs, the way into a compilation, hostile names, what is left out.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasCount } from "./steps.mjs";
import { compileTables, hostileName, withCompile as withTables } from "./fixtures/compile_fixture.mjs";
import { allIslands, lanesIsland } from "./fixtures/compile_islands.mjs";
import { hungRun } from "./fixtures/fixture.mjs";
import { faintTexts } from "./looks.test.mjs";

const examples = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "examples");
const at = encodeURIComponent("0:0:0:0/1");
const titles = [
  "Compilations",
  "Stacks",
  "Lanes",
  "Graph breaks",
  "Compile cost",
  "Graphs",
  "Export",
];

// Tables and islands; rows of tables that only count.
const withCompile = (lists, leftOut) => ({
  ...withTables(lists, leftOut),
  islands: allIslands(),
  rows: { compile_trie_end: 8 },
});
const breakAt = encodeURIComponent("graph_break:train.py:41:Unsupported Tensor.item() call");
const graphAt = encodeURIComponent("dynamo output graph abcd00000000");

// Each address and texts that its page must have.
const pages = {
  "#/compile": [
    "8 compilations",
    "2 failed",
    "2 recompiled",
    "2 restarted",
    "12.0 s",
    "did not end",
    "loss_fn",
    hostileName,
  ],
  [`#/compile?at=${at}`]: [
    "has another size in dimension 1",
    "8 \u2192 16",
    "mark_dynamic(x, 1)",
    "s27",
  ],
  [`#/compile?at=${encodeURIComponent("0:0:0:1/0")}`]: ["Unsupported Tensor.item() call", "250 ms"],
  [`#/compile?at=${encodeURIComponent("1:1:0:2/0")}`]: ["no kernel <b>here</b>\nsecond line"],
  [`#/compile?at=${encodeURIComponent("0:0:0:0/0")}&show=time`]: ["inductor_compile", "700 ms"],
  [`#/compile?at=${at}&show=time`]: ["no events of the phases"],
  [`#/compile?at=${at}&show=graphs`]: [
    "torch.ops.aten.mm.default",
    "input shape",
    "f32[4, 8] cuda:0",
    "f32[4, s27] cuda:0",
  ],
  [`#/compile?at=${encodeURIComponent("0:0:0:0/0")}&show=modules`]: [
    "fc",
    "weight f32[8, 8]",
    "256 B",
  ],
  [`#/compile?at=${encodeURIComponent("0:0:0:0/0")}&show=guards`]: [
    "check_tensor",
    "12.5 us",
    "1 \u00d7",
  ],
  "#/breaks": ["6 frames", "0\u20131", "33.3 %", "BackendCompilerFailed"],
  [`#/breaks?at=${breakAt}`]: [
    "Set capture_scalar_outputs",
    "train.py:80 in main",
    "1.00 s in 2 compilations",
    "6 times on ranks 0\u20131",
  ],
  "#/compile_cost": ["inductor_compile", "1.40 s, 100 %", "1.80 s"],
  "#/compile_cost?tab=slowest": ["forward", "1.50 s"],
  "#/compile_cost?tab=kernels": ["triton_poi_fused_add_0", "200 ms"],
  "#/compile_cost?tab=autotune": ["triton_mm_7", "12.3 us", "2.50 s"],
  "#/compile_cost?tab=caches": ["fx graph cache", "1, 25 %", "full_miss"],
  "#/compile_cost?tab=weight": ["artifact fx_graph_runnable", "247 kB, 100 %"],
  "#/graphs": ["dynamo output graph", "abcd00000000", "all 2", "4.10 kB"],
  [`#/graphs?at=${graphAt}`]: ["rank 1 0/0", "operator.add"],
  "#/graphs?tab=guards": ["2 guards failed", "TENSOR_MATCH"],
  "#/graphs?tab=shapes": ["create symbol", "s27", "[2, inf]"],
  "#/graphs?tab=modules": ["weight f32[8, 8]", "256 B"],
  "#/compile_tree": ["main", "loss_fn", "rank 0 1/0", "6.00 s", hostileName],
  "#/compile_tree?frames=all": ["_call_impl", "module.py:1790"],
  "#/compile_tree?frame=0.2": ["all 6.00 s", "5.00 s, 83.3 %; 2 compiled again, 2 ok"],
  "#/compile_tree?rank=1&filter=loss": ["rank 1 1/0", "main"],
  "#/compile_lanes": ["2 ranks", "4.01 s from first to last", "2.01 s rank 0", "2 with failures"],
  "#/compile_lanes?clock=log": ["From the start of each log"],
  [`#/compile_lanes?at=${encodeURIComponent("0:0:0:1/0")}`]: [
    "rank 0: 1/0 loss_fn; 500 ms, graph break or restart; 1 given up",
    "Show compilation 1/0",
  ],
  "#/export": [
    "2 issues",
    "1 exported program",
    "torch.ops.mylib.foo.default has no fake kernel",
    hostileName,
  ],
  "#/export?at=0:80": [
    "was taken to be False",
    "return z[:a]",
    "train.py:80 in main",
    "torch._check",
  ],
};

// Another address of the same page, drawn.
async function goTo(page, hash) {
  await page.evaluate(
    (to) =>
      new Promise((done) => {
        location.hash = to;
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 50);
      }),
    hash,
  );
}

async function checkPage(page, hash, texts) {
  const text = await page.locator("main").innerText();
  for (const part of texts) assert.ok(text.includes(part), `${hash}: ${part} in ${text}`);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await hasCount(page.locator("main script, main b b, main p b"), 0);
  await hasCount(page.locator("h1"), 1);
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(over, 0, `${hash} scrolls sideways`);
  assert.doesNotMatch(text, /undefined|NaN|null|\[object/, hash);
}

const everyView = {
  name: "compile: every view and tab shows its tables",
  async run(t) {
    const run = withCompile(compileTables());
    const page = await t.open(run, { height: 1600 });
    for (const [hash, texts] of Object.entries(pages)) {
      await goTo(page, hash);
      await checkPage(page, hash, texts);
      const nav = await page.getByRole("navigation", { name: "Views" }).innerText();
      for (const title of titles) assert.ok(nav.includes(title), title);
      await t.screenshot(page, `compile${hash.replace(/\W+/g, "_")}`, true);
    }
  },
};

const looks = {
  name: "compile: contrast in both schemes, narrow and wide",
  async run(t) {
    const run = withCompile(compileTables());
    for (const dark of [false, true]) {
      const page = await t.open(run, { dark, width: dark ? 420 : 1280 });
      for (const hash of Object.keys(pages)) {
        await goTo(page, hash);
        assert.deepEqual(await page.evaluate(faintTexts), [], `${hash} ${dark ? "dark" : "light"}`);
        await checkPage(page, hash, []);
      }
    }
  },
};

const keyboard = {
  name: "compile: a compilation is opened by keys, its state is in the address",
  async run(t) {
    const page = await t.open(withCompile(compileTables()), { hash: "#/compile" });
    await page.keyboard.press("/");
    await page.keyboard.type("outcome:failed");
    await page.keyboard.press("Escape");
    const rows = page.getByRole("table", { name: "Compilations", exact: true }).locator("tbody tr");
    await hasCount(rows, 2);
    await rows.first().getByRole("button").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Selected compilation" }).waitFor();
    await page.getByRole("button", { name: /^Guards/ }).focus();
    await page.keyboard.press("Space");
    await page.waitForFunction(() => location.hash.includes("show=guards"));
    await page.reload();
    const panel = page.getByRole("complementary", { name: "Selected compilation" });
    assert.match(await panel.innerText(), /3 guards, which are not on this page/);
    await page.goBack();
    await panel.getByText("second line").waitFor();
  },
};

const links = {
  name: "compile: from slow, broken and equal ones to the compilation",
  async run(t) {
    const run = withCompile(compileTables());
    const slow = await t.open(run, { hash: "#/compile_cost?tab=slowest" });
    await slow.getByRole("button", { name: "forward" }).first().click();
    await slow.getByRole("heading", { level: 2, name: "0/0 forward" }).waitFor();
    const graph = await t.open(run, { hash: `#/graphs?at=${graphAt}` });
    await graph.getByRole("link", { name: "rank 1 0/0" }).click();
    await graph.getByRole("heading", { level: 2, name: "0/0 forward" }).waitFor();
    assert.match(graph.url(), /1%3A1%3A0%3A0%2F0/);
    const broken = await t.open(run, { hash: `#/compile?at=${encodeURIComponent("0:0:0:1/0")}` });
    await broken.getByRole("link", { name: "Hints, stack and cost of this break" }).click();
    await broken.getByRole("complementary", { name: "Selected graph break" }).waitFor();
  },
};

const hidden = {
  name: "compile: without logs each view says what is missing and how to record it",
  async run(t) {
    const page = await t.open(hungRun());
    const missing = page.getByRole("region", { name: "Nothing to show" });
    for (const view of ["compile", "compile_tree", "compile_lanes", "breaks", "graphs", "export"]) {
      await goTo(page, `#/${view}`);
      assert.match(await missing.innerText(), /TORCH_TRACE=DIR/, view);
    }
    const links = page.getByRole("navigation", { name: "Views" }).locator("a.absent");
    assert.ok((await links.count()) >= titles.length, "absent views are not quiet");
  },
};

const stacks = {
  name: "compile: stacks fold, filter, zoom and lead to compilations and lines",
  async run(t) {
    const page = await t.open(withCompile(compileTables()), { hash: "#/compile_tree" });
    const frames = page.getByRole("region", { name: "Frames", exact: true });
    await hasCount(frames.locator("li"), 4);
    await page.getByRole("button", { name: "Fold all", exact: true }).click();
    await hasCount(frames.locator("li"), 1);
    assert.match(await frames.innerText(), /6.00 s/);
    await hasCount(frames.getByRole("img", { name: "failed" }), 1);
    await page.getByRole("button", { name: "Unfold all" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.match(page.url(), /frame=0\.2/);
    const flame = page.getByRole("group", { name: "Compile time by stack" });
    await hasCount(flame.getByRole("button"), 1);
    await page.getByRole("button", { name: "all 6.00 s" }).click();
    await flame.getByRole("button", { name: /^loss_fn/ }).click();
    assert.match(page.url(), /frame=0\.3/);
    const row = frames.locator("li", { hasText: "loss_fn" });
    assert.match(
      await row.getByRole("link", { name: "train.py:40" }).getAttribute("href"),
      /source\?.*line=40/,
    );
    await row.getByRole("link", { name: "rank 0 1/0" }).click();
    await page.getByRole("heading", { level: 2, name: "1/0 loss_fn" }).waitFor();
  },
};

const lanes = {
  name: "compile: lanes are pointed at, selected and zoomed; 512 ranks scroll",
  async run(t) {
    const page = await t.open(withCompile(compileTables()), { hash: "#/compile_lanes" });
    const box = page.locator(".lane-box");
    const { width } = await box.boundingBox();
    await box.hover({ position: { x: 84 + (width - 96) * 0.2, y: 40 } });
    assert.match(await page.locator(".grid-tip").innerText(), /rank 0: 0\/0 forward; 1\.50 s, ok/);
    await box.click({ position: { x: 84 + (width - 96) * 0.2, y: 40 } });
    await page.waitForFunction(() => location.hash.includes("at="));
    await page.getByRole("link", { name: "Show compilation 0/0" }).waitFor();
    await box.dblclick({ position: { x: width / 2, y: 8 } });
    await page.waitForFunction(() => location.hash.includes("from="));
    await page.getByRole("button", { name: "Show all" }).click();
    assert.ok(!page.url().includes("from="));
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("o");
    await page.getByRole("heading", { level: 2, name: "1/0 loss_fn" }).waitFor();

    const many = { ...withCompile(compileTables()) };
    many.islands.lanes = lanesIsland(512);
    const wide = await t.open(many, { hash: "#/compile_lanes" });
    assert.match(await wide.locator("main").innerText(), /512 ranks/);
    const scrolls = await wide
      .locator(".lane-box")
      .evaluate((one) => one.scrollHeight > one.clientHeight);
    assert.ok(scrolls, "rows beyond the box cannot be reached");
  },
};

const leftOut = {
  name: "compile: the page tells what it leaves out, and what is missing",
  async run(t) {
    const lists = { compilation: compileTables().compilation };
    const page = await t.open(withCompile(lists, { compilation: 1200 }), { hash: "#/compile" });
    assert.match(
      await page.locator("section .left-out").innerText(),
      /1,200 rows of compilation are not on this page: debrief query has all/,
    );
    assert.match(await page.locator("main").innerText(), /count only what is on this page/);
    const cut = await t.open(withCompile(lists, { compilation: 0 }), { hash: "#/compile" });
    await hasCount(cut.locator(".left-out"), 0);
    const lost = { ...lists, compile_graph: [] };
    const graphs = await t.open(withCompile(lost, { compile_graph: 7 }), {
      hash: `#/compile?at=${at}&show=graphs`,
    });
    assert.match(await graphs.locator(".empty").innerText(), /None of its rows are on this page/);
    for (const show of ["time", "graphs", "modules", "guards"]) {
      const one = await t.open(withCompile(lists), { hash: `#/compile?at=${at}&show=${show}` });
      assert.ok((await one.locator(".compile-detail .empty").count()) > 0, show);
    }
  },
};

const large = {
  name: "compile: 10,000 compilations and 20,000 rows of details stay quick",
  async run(t) {
    const lists = compileTables();
    const [first] = lists.compilation;
    lists.compilation = Array.from({ length: 10000 }, (_, i) => ({
      ...first,
      compile_id: `${i}/0`,
      first_entry: i,
    }));
    const [guard] = lists.compile_guard;
    lists.compile_guard = Array.from({ length: 20000 }, (_, i) => ({
      ...guard,
      compile_id: `${i % 10000}/0`,
    }));
    const page = await t.open(withCompile(lists), { hash: "#/compile" });
    const typed = performance.now();
    await page.getByRole("searchbox", { name: "Filter compilations" }).fill("9999/0");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    assert.ok(performance.now() - typed < 1500, "filtering takes long");
    await page.getByRole("searchbox", { name: "Filter compilations" }).fill("");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length > 5);
    await goTo(page, "#/compile"); // drawn, and its keys in force
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.waitForFunction(() => location.hash.includes(encodeURIComponent("0:0:0:1/0")));
    await page.keyboard.press("k");
    await page.getByRole("complementary", { name: "Selected compilation" }).waitFor();
    await page.getByRole("button", { name: "forward" }).first().click();
    const start = performance.now();
    await page.getByRole("button", { name: "forward" }).first().click();
    await page.getByRole("button", { name: /^Guards/ }).click();
    await page.getByRole("table", { name: "Guards of this compilation" }).waitFor();
    assert.ok(performance.now() - start < 3000, "opening a compilation takes long");
    assert.ok((await page.locator("tbody tr").count()) < 200, "rows out of sight are elements");
  },
};

const recorded = {
  name: "compile: the report that the binary writes",
  needsBinary: true,
  async run(t) {
    const page = await t.report([path.join(examples, "hung-job")], { hash: "#/compile" });
    const text = await page.locator("main").innerText();
    assert.match(text, /compilations/);
  },
};

export const tests = [
  everyView,
  looks,
  keyboard,
  links,
  hidden,
  stacks,
  lanes,
  leftOut,
  large,
  recorded,
];
