// Texts of compile logs: the code viewer, one compilation, provenance.
import assert from "node:assert/strict";
import { hasCount } from "./steps.mjs";
import { compileTables, withCompile } from "./fixtures/compile_fixture.mjs";
import { hostileTexts } from "./fixtures/fixture.mjs";
import { graph, textIslands, textsRun } from "./fixtures/texts_fixture.mjs";

const at = (id) => encodeURIComponent(`0:0:0:${id}`);
const panelOf = (page) => page.getByRole("complementary", { name: "Selected compilation" });
const addressHas = (page, text) =>
  page.waitForFunction((part) => decodeURIComponent(location.hash).includes(part), text);

// Lines that are drawn now, with their marks; locators reach into the viewer's shadow root.
const linesOf = (box) => box.locator(".cm-line");

const unfolds = {
  name: "texts: a graph unfolds into the viewer, as code and as a table",
  async run(t) {
    const page = await t.open(textsRun(), { hash: `#/compile?at=${at("0/0")}&show=dynamo` });
    const panel = panelOf(page);
    const line = panel.getByRole("button", { name: /dynamo_output_graph/ });
    assert.match(await line.innerText(), /36 lines/);
    await line.click();
    await addressHas(page, "text=10");
    await linesOf(panel).filter({ hasText: "add_7:" }).waitFor();
    await panel.getByRole("button", { name: "Table" }).click();
    const rows = panel.getByRole("table", { name: "Nodes of the graph" }).locator("tbody tr");
    await rows.first().waitFor();
    const mul = await rows.filter({ hasText: "mul_1" }).nth(0).innerText();
    for (const part of ["torch.ops.aten.mul.Tensor", "add_7, s0", "f32[4, 8]", "train.py:12"])
      assert.ok(mul.includes(part), `${part} in ${mul}`);
    await rows.filter({ hasText: "mul_1" }).nth(0).getByRole("button").click();
    await addressHas(page, "line=10.5");
    assert.match(await panel.locator(".mark-selected").innerText(), /mul_1:/);
  },
};

const definitions = {
  name: "texts: a name leads to its definition and back",
  async run(t) {
    const hash = `#/compile?at=${at("0/0")}&show=inductor&text=40&line=40.210`;
    const page = await t.open(textsRun(), { hash });
    const panel = panelOf(page);
    const use = linesOf(panel).filter({ hasText: "triton_poi_fused_0.run(" });
    await use.waitFor();
    await use
      .getByText("triton_poi_fused_0", { exact: false })
      .first()
      .dblclick({ position: { x: 80, y: 8 } });
    await panel.getByText(/triton_poi_fused_0 is defined in line 2\./).waitFor();
    await linesOf(panel).filter({ hasText: "async_compile.triton(" }).waitFor();
    await panel.getByRole("button", { name: "Go back" }).click();
    await panel.getByText(/Back at line 2\d\d/).waitFor();
    await use.waitFor();
  },
};

const search = {
  name: "texts: / finds inside of the viewer, and what is typed there is not the page's",
  async run(t) {
    const hash = `#/compile?at=${at("0/0")}&show=dynamo&text=10`;
    const page = await t.open(textsRun(), { hash });
    const panel = panelOf(page);
    await linesOf(panel).first().waitFor();
    await panel.locator(".cm-content").focus();
    await page.keyboard.press("/");
    await panel.locator(".cm-search input[name=search]").waitFor();
    const before = page.url();
    await page.keyboard.type("neg_2]n");
    assert.equal(await panel.locator(".cm-search input[name=search]").inputValue(), "neg_2]n");
    assert.equal(page.url(), before);
    await hasCount(panel.locator(".cm-search input[name=replace]"), 0);
    await page.keyboard.press("Escape");
    await hasCount(panel.locator(".cm-search"), 0);
  },
};

const keys = {
  name: "texts: sections and texts by keys, and the keys are in the help",
  async run(t) {
    const page = await t.open(textsRun(), { hash: `#/compile?at=${at("0/0")}` });
    await panelOf(page)
      .getByRole("button", { name: /Dynamo 1/ })
      .waitFor();
    await page.keyboard.press("]");
    await addressHas(page, "show=time");
    await page.keyboard.press("[");
    await page.waitForFunction(() => !location.hash.includes("show="));
    await page.keyboard.press("n");
    await addressHas(page, "show=dynamo&text=10");
    await page.keyboard.press("n");
    await addressHas(page, "show=aot&text=20");
    await page.keyboard.press("p");
    await addressHas(page, "show=dynamo&text=10");
    await page.keyboard.press("?");
    const help = await page.getByRole("dialog").innerText();
    for (const words of ["next section", "previous section", "next text", "previous text"])
      assert.ok(help.includes(words), words);
  },
};

const absent = {
  name: "texts: what is not in the page is told",
  async run(t) {
    const hash = `#/compile?at=${at("0/0")}&show=inductor&text=60`;
    const page = await t.open(textsRun(), { hash });
    const panel = panelOf(page);
    await panel.getByText(/1 text of the logs \(5.00 MB\) is not in this page/).waitFor();
    await panel.getByText(/This text is not in the page/).waitFor();
    assert.match(await panel.innerText(), /debrief compile LOG/);
  },
};

const chain = {
  name: "texts: the chain of a frame compares graphs side by side",
  async run(t) {
    const page = await t.open(textsRun(), { hash: `#/compile?at=${at("0/1")}`, height: 1400 });
    const panel = panelOf(page);
    const steps = panel.getByRole("region", { name: "All compilations of this frame" });
    await hasCount(steps.getByRole("listitem"), 2);
    await steps.getByRole("button", { name: "Compare with 0/0" }).click();
    await addressHas(page, "diff=0/1");
    await panel.locator(".mark-removed").first().waitFor();
    await hasCount(panel.locator(".mark-removed"), 3);
    await hasCount(panel.locator(".mark-added"), 3);
    assert.match(await panel.locator(".mark-added").nth(1).innerText(), /add_7: "f32\[4, 16\]"/);
    const folds = panel.locator(".mark-fold");
    assert.match(await folds.first().innerText(), /28 equal lines/);
    await folds.first().click();
    await linesOf(panel).filter({ hasText: "neg_20 =" }).first().waitFor();
    await hasCount(folds, 0);
  },
};

const stacks = {
  name: "texts: frames of packages are folded, the program's are open",
  async run(t) {
    const torch = (line) => [`/x/site-packages/torch/_dynamo/a.py`, line, "wrapper", "return fn()"];
    const frames = [
      ["/home/user/train.py", 12, "forward", "return self.l(x)"],
      torch(1),
      torch(2),
      ["/home/user/train.py", 52, "main", ""],
    ];
    const run = textsRun([], { frames, stacks: { "0:0:0:0/0": [0, 1, 2, 3] } });
    const page = await t.open(run, { hash: `#/compile?at=${at("0/0")}` });
    const panel = panelOf(page);
    await panel.getByText("2 frames of torch").waitFor();
    assert.match(await panel.innerText(), /train\.py:52 in main/);
    assert.equal(await panel.getByText("a.py:2").isVisible(), false);
    await panel.getByText("2 frames of torch").click();
    assert.equal(await panel.getByText("a.py:2").isVisible(), true);
  },
};

const hostile = {
  name: "texts: hostile texts and names are text",
  async run(t) {
    const text = [...hostileTexts, "y".repeat(300000)].join("\n");
    const more = [
      { entry: 70, name: hostileTexts[0], text },
      { entry: 80, name: `${hostileTexts[1]}.json`, form: "json", text: '{"a": "</script>"' },
      { entry: 90, kind: hostileTexts[3], text: "" },
    ];
    const hash = `#/compile?at=${at("0/0")}&show=other&text=70,80,90`;
    const page = await t.open(textsRun(more), { hash, height: 1600 });
    const panel = panelOf(page);
    await linesOf(panel).filter({ hasText: "<img src=x" }).first().waitFor();
    await panel.getByText("1 line is cut after 100,000 characters.").waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    const shown = await linesOf(panel).allInnerTexts();
    assert.ok(
      shown.some((line) => line.includes("\\u202e")),
      "controls are made visible",
    );
    assert.ok(!shown.some((line) => line.includes("\u202e")));
  },
};

const large = {
  name: "texts: 14 MB open and scroll without freezing",
  async run(t) {
    const text = Array.from(
      { length: 200000 },
      (_, i) => `        buf${i}: "f32[4, 8]" = torch.ops.aten.add.Tensor(buf${i >> 1}, 1)  # ${i}`,
    ).join("\n");
    assert.ok(text.length > 14e6);
    const run = textsRun([{ entry: 70, name: "after_x_graph", text }]);
    const page = await t.open(run, { hash: `#/compile?at=${at("0/0")}&show=inductor` });
    const panel = panelOf(page);
    const start = Date.now();
    await panel.getByRole("button", { name: /after_x_graph/ }).click();
    await linesOf(panel).filter({ hasText: "buf3:" }).waitFor();
    assert.ok(Date.now() - start < 4000, `${Date.now() - start} ms`);
    assert.ok((await linesOf(panel).count()) < 300);
    await page.evaluate(() => (location.hash += "&line=70.150000"));
    await linesOf(panel).filter({ hasText: "buf149999:" }).waitFor();
  },
};

function provenanceRun() {
  const who = { job: 0, attempt: 0, rank: 0, input: 0 };
  const line = (map, number, targets) => ({ ...who, graph: "-_0_0_0", map, line: number, targets });
  const lines = [
    line("preToPost", 4, [5, 6]), line("postToPre", 5, [4]), line("postToPre", 6, [4]),
    line("postToPyCode", 5, [120]), line("postToPyCode", 6, [120]), line("pyCodeToPost", 120, [5, 6]),
  ]; // prettier-ignore
  const graphs = [
    {
      ...who,
      compile_id: "0/0",
      graph: "-_0_0_0",
      pre_entry: 1,
      post_entry: 2,
      python_entry: 3,
      mapped: true,
    },
    { ...who, compile_id: "0/1", graph: "-_0_1_0", pre_entry: 4, mapped: false },
  ];
  const code = Array.from({ length: 200 }, (_, i) => `call_${i + 1}()`).join("\n");
  const artifacts = [
    { entry: 1, name: "before_pre_grad_graph", text: graph(8) },
    { entry: 2, name: "inductor_post_grad_graph", text: graph(8) },
    { entry: 3, kind: "inductor_output_code", form: "code", text: code },
    { entry: 4, id: "0/1", name: "before_pre_grad_graph" },
  ];
  const table = (rows) => ({ total: rows.length, rows });
  const provenance = {
    tables: { provenance_graph: table(graphs), provenance_line: table(lines) },
  };
  return { ...withCompile(compileTables()), islands: { ...textIslands(artifacts), provenance } };
}

const provenance = {
  name: "texts: provenance marks and shows the lines that belong together",
  async run(t) {
    const page = await t.open(provenanceRun(), { hash: "#/provenance" });
    const pane = (name) => page.getByRole("region", { name });
    await linesOf(pane("Pre-grad graph")).filter({ hasText: "add_7:" }).click();
    await addressHas(page, "pane=pre&line=4");
    await pane("Generated code").locator(".mark-linked").waitFor();
    assert.equal(await pane("Generated code").locator(".mark-linked").innerText(), "call_120()");
    await hasCount(pane("Post-grad graph").locator(".mark-linked"), 2);
    assert.match(
      await page.getByRole("status").first().innerText(),
      /post-grad graph: lines 5, 6; generated code: line 120/,
    );
    await page.reload();
    await pane("Generated code").locator(".mark-linked").waitFor();
    await page.getByRole("heading", { name: "Provenance", exact: true }).click();
    await page.evaluate(() => (location.hash = "#/provenance?pane=post&line=5"));
    await pane("Pre-grad graph").locator(".mark-linked").waitFor();
    await page.keyboard.press("j");
    await addressHas(page, "pane=post&line=6");
    await page.getByLabel("Compilation").selectOption("0:-_0_1_0");
    await page.getByText("does not show which lines").waitFor();
    await pane("Pre-grad graph").getByText("This text is not in the page").waitFor();
  },
};

const nothing = {
  name: "texts: provenance without its log says how to record it",
  async run(t) {
    const page = await t.open(withCompile(compileTables()), { hash: "#/provenance" });
    await page.getByText("INDUCTOR_PROVENANCE=1").waitFor();
  },
};

export const tests = [
  unfolds,
  definitions,
  search,
  keys,
  absent,
  chain,
  stacks,
  hostile,
  large,
  provenance,
  nothing,
];
