// The pages of `debrief compile`, from logs made here.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hasCount } from "./steps.mjs";
import { hostileTexts } from "./fixtures/fixture.mjs";
import { faintTexts } from "./looks.test.mjs";
import { hostileLog, longCode, manyCompilations, provenanceLog } from "./fixtures/tree_fixture.mjs";

// Writes the tree of a log; its folder.
function makeTree(t, log, ...flags) {
  const folder = path.join(t.options.work, t.name.replace(/\W+/g, "_"));
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(`${folder}.log`, log);
  execFileSync(t.options.binary, ["compile", `${folder}.log`, "-o", folder, "--no-browser", ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  return folder;
}

const pagesOf = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html"));
const find = (folder, part) => {
  const name = pagesOf(folder).find((one) => one.includes(part));
  assert.ok(name, `${part} among the pages`);
  return path.join(folder, name);
};

const firstScreen = {
  name: "tree: a failure stands on the first screen of the index, with its place and reason",
  needsBinary: true,
  async run(t) {
    const folder = makeTree(t, manyCompilations(600));
    const page = await t.show(path.join(folder, "index.html"));
    const failure = page.locator(".failures li").first();
    const box = await failure.boundingBox();
    assert.ok(box.y + box.height < 800, "visible without scrolling");
    const text = await failure.innerText();
    for (const part of ["[3/0]", "Unsupported", "fn_3", "/home/me/model.py:77", "Data-dependent"])
      assert.ok(text.includes(part), part);
    assert.match(await page.locator(".facts").innerText(), /600\s*compilations/);
  },
};

const filter = {
  name: "tree: the filter narrows 600 compilations, and a link shows what it hides",
  needsBinary: true,
  async run(t) {
    const page = await t.show(path.join(makeTree(t, manyCompilations(600)), "index.html"));
    const shown = page.locator(".products > li:not([hidden])");
    await hasCount(shown, 600);
    await page.keyboard.press("/");
    await page.keyboard.type("fn_12");
    await hasCount(shown, 11); // 12 and 120 to 129
    assert.equal(await page.locator("#shown").innerText(), "11 of 600");
    await page.evaluate(() => (location.hash = "#[3/0]"));
    await page.waitForFunction(() => document.querySelector("#filter").value === "");
    assert.ok(await page.locator('a[id="[3/0]"]').isVisible());
    assert.equal((await page.locator("header").boundingBox()).y, 0, "the header stays");
  },
};

const trie = {
  name: "tree: the trie joins stacks and marks how compilations ended",
  needsBinary: true,
  async run(t) {
    const page = await t.show(path.join(makeTree(t, manyCompilations(10)), "index.html"));
    await page.getByText("Stack", { exact: true }).first().click();
    assert.equal(await page.locator(".trie .error-mark").innerText(), "[3/0]");
    assert.equal(await page.locator(".trie .break").innerText(), "[5/0]");
    await hasCount(page.locator(".trie .ok"), 8);
    await hasCount(page.getByText("train.py:90 in <module>"), 1);
  },
};

const links = {
  name: "tree: every relative link of every page leads to a file",
  needsBinary: true,
  run(t) {
    const folder = makeTree(t, manyCompilations(12), "-i");
    for (const name of pagesOf(folder)) {
      const text = readFileSync(path.join(folder, name), "utf8");
      for (const [, url] of text.matchAll(/href="([^"]*)"/g)) {
        if (/^(https?:|data:|#)/.test(url)) continue;
        const target = decodeURIComponent(url.split("#")[0]);
        const file = path.join(folder, path.dirname(name), target);
        assert.ok(existsSync(file), `${name}: ${url}`);
      }
    }
  },
};

const code = {
  name: "tree: code has line numbers, colours, and anchors",
  needsBinary: true,
  async run(t) {
    const folder = makeTree(t, manyCompilations(1));
    const page = await t.show(find(folder, "inductor_output_code"), { hash: "#L5" });
    await page.waitForSelector(".code .k");
    const colours = (name) => page.locator(`.code .${name}`).allInnerTexts();
    assert.deepEqual(await colours("k"), ["import", "def", "return"]);
    assert.ok((await colours("c")).includes("# the input"));
    assert.deepEqual(await colours("s"), ["'text < & \"'"]);
    assert.ok((await colours("d")).includes("@triton.jit"));
    await hasCount(page.locator(".code > div > span"), 7);
    const ground = (line) =>
      page.locator(`#${line}`).evaluate((one) => getComputedStyle(one).backgroundColor);
    assert.notEqual(await ground("L5"), await ground("L6"), "the target is marked");
    await page.locator("#L6").click({ position: { x: 20, y: 8 } });
    assert.ok(page.url().endsWith("#L6"));
  },
};

const large = {
  name: "tree: 5 MB of code opens at once, at its end, too",
  needsBinary: true,
  async run(t) {
    const file = find(makeTree(t, longCode(120000)), "inductor_output_code");
    const start = performance.now();
    const page = await t.show(file, { hash: "#L119000" });
    await page.waitForSelector("#L119000 .f");
    assert.ok(performance.now() - start < 4000, `${performance.now() - start} ms`);
    assert.ok(await page.locator("#L119000").isVisible());
    assert.ok((await page.locator(".code .f").count()) < 5000, "only what is near is coloured");
    const box = await page.locator("#L119000").boundingBox();
    assert.ok(box.y > 40 && box.y < 800, `in view: ${box.y}`);
  },
};

const provenance = {
  name: "tree: provenance links lines by pointer and by keyboard",
  needsBinary: true,
  async run(t) {
    const folder = makeTree(t, provenanceLog(), "-i");
    const page = await t.show(find(folder, "provenance_tracking_"), { waitFor: "#pre" });
    const marked = () =>
      page.evaluate(() =>
        ["pre", "post", "code"].map((id) =>
          [...document.getElementById(id).children].flatMap((line, i) =>
            line.matches(".on, .at") ? [i + 1] : [],
          ),
        ),
      );
    await page.locator("#pre span").nth(0).hover();
    assert.deepEqual(await marked(), [[1], [2], [203]]);
    await page.locator("#pre span").nth(1).click();
    assert.deepEqual(await marked(), [[2], [3], [203]]);
    assert.ok(await page.locator("#code span").nth(202).isVisible());
    await page.locator("#pre .m").first().focus();
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(await marked(), [[2], [3], [203]]);
    await page.locator("#code .m").first().focus();
    assert.deepEqual(await marked(), [[1, 2], [2, 3], [203]]);
    const width = async () => (await page.locator("section").first().boundingBox()).width;
    const before = await width();
    await page.locator("[role=separator]").first().focus();
    await page.keyboard.press("ArrowRight");
    assert.ok((await width()) > before + 20, "dividers move");
  },
};

const hostile = {
  name: "tree: hostile texts stay texts",
  needsBinary: true,
  async run(t) {
    const text = hostileTexts.slice(0, 3).join(" ");
    const folder = makeTree(t, hostileLog(text));
    for (const name of pagesOf(folder)) {
      const page = await t.show(path.join(folder, name));
      assert.equal(await page.evaluate(() => window.hacked), undefined, name);
      await hasCount(page.locator("img, a[href^='javascript']"), 0, name);
    }
    const index = await t.show(path.join(folder, "index.html"));
    assert.equal(
      await index.getByText("good", { exact: true }).getAttribute("href"),
      "https://example.org/?a=1&b=2",
    );
  },
};

const looks = {
  name: "tree: every text reaches a contrast of 4.5, in both schemes",
  needsBinary: true,
  async run(t) {
    const folder = makeTree(t, manyCompilations(8), "-i");
    for (const dark of [false, true]) {
      for (const part of [
        "index.html",
        "failures_and",
        "compilation_metrics",
        "output_code",
        "provenance",
      ]) {
        const page = await t.show(find(folder, part), { dark });
        assert.deepEqual(await page.evaluate(faintTexts), [], `${part} ${dark ? "dark" : "light"}`);
      }
    }
  },
};

const narrow = {
  name: "tree: pages fit a narrow window",
  needsBinary: true,
  async run(t) {
    const folder = makeTree(t, manyCompilations(8));
    for (const part of ["index.html", "failures_and", "compilation_metrics", "output_code"]) {
      const page = await t.show(find(folder, part), { width: 420 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${part}: ${over} px too wide`);
    }
  },
};

export const tests = [
  firstScreen,
  filter,
  trie,
  links,
  code,
  large,
  provenance,
  hostile,
  looks,
  narrow,
];
