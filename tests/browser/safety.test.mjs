// What a hostile input may not do: run, load, hide, or break the page.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { hasCount } from "./steps.mjs";
import { emptyRun, hostileRun, hungRun, makeFinding } from "./fixtures/fixture.mjs";

const hostile = {
  name: "safety: hostile texts stay text in every view",
  async run(t) {
    for (const view of ["verdict?more=f1", "inventory", "diagnostics"]) {
      const page = await t.open(hostileRun(), { hash: `#/${view}` });
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      await hasCount(page.locator("main img, main script, main iframe"), 0);
      assert.equal(
        await page.evaluate(() => document.querySelectorAll("a[href]:not([href^='#'])").length),
        0,
        "links lead out",
      );
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(over, 0, "the page scrolls sideways");
      const text = await page.locator("main").innerText();
      assert.ok(text.includes("</script><script>window.hacked = 1</script>"), "shown as it is");
      assert.ok(text.includes("\\u202e"), "what reorders text is made visible");
      assert.doesNotMatch(text, /[\u0000\u001b\u202a-\u202e\u2066-\u2069]/);
      await t.screenshot(page, `hostile_${view.split("?")[0]}`);
    }
  },
};

const policy = {
  name: "safety: the policy stops scripts and requests",
  async run(t) {
    const page = await t.open(hungRun());
    const ended = [];
    page.on("requestfailed", (request) => ended.push(request.failure().errorText));
    page.on("requestfinished", () => ended.push("sent"));
    await page.evaluate(
      () =>
        new Promise((done) => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
          const image = new Image();
          image.onerror = done;
          image.src = "https://example.invalid/x.png";
          document.body.append(image);
        }),
    );
    const refused = await page.evaluate(() =>
      fetch("https://example.invalid/").then(
        () => "sent",
        () => "refused",
      ),
    );
    assert.equal(refused, "refused");
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.ok(
      ended.length > 0 && ended.every((one) => one === "csp"),
      `stopped by the policy, not by us: ${ended}`,
    );
    t.problems = []; // the attempts, and the policy's words about them
  },
};

const watch = {
  name: "safety: the runner notices a request",
  async run(t) {
    const file = path.join(t.options.work, "asks.html");
    writeFileSync(file, "<!doctype html><h1>x</h1><img src='https://example.invalid/x.png'>");
    const page = await t.show(file);
    await page.waitForLoadState("load");
    assert.ok(t.problems.some((one) => one.startsWith("request: https://example.invalid/")));
    t.problems = [];
  },
};

const broken = {
  name: "safety: data that cannot be read is said so",
  async run(t) {
    for (const [data, words] of [
      [{ ...emptyRun(), schema: 2 }, "its data has schema 2"],
      [{ findings: [] }, "schema undefined"],
    ]) {
      const page = await t.open({ findings: [], ...data });
      assert.equal(await page.locator("h1").innerText(), "The report cannot be shown");
      assert.ok((await page.locator("main").innerText()).includes(words));
    }
  },
};

const noScript = {
  name: "safety: headlines without JavaScript",
  async run(t) {
    const run = {
      ...emptyRun(),
      findings: [makeFinding(1, { headline: "Rank 5 <b>skipped</b>" })],
    };
    const page = await t.open(run, { script: false });
    assert.match(await page.locator("body").innerText(), /Rank 5 <b>skipped<\/b>/);
  },
};

export const tests = [hostile, policy, watch, broken, noScript];
