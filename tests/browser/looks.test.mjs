// What can be measured of the looks: contrast of every text, and names of everything that can be used.
import assert from "node:assert/strict";
import { allViews, hasCount, settled } from "./steps.mjs";
import { hungWithFlight } from "./fixtures/flight_fixture.mjs";

const addresses = [
  "#/verdict?more=f1",
  "#/flight?group=0&seq=41&rank=5",
  "#/inventory?filter=rank:6",
  "#/diagnostics?at=text.invalid_utf8@17",
];

// Texts whose contrast with the ground behind them is under 4.5, as WCAG AA asks for. Runs in the page.
export function faintTexts() {
  const parse = (colour) =>
    /^rgba?\(/.test(colour) ? colour.match(/[\d.]+/g).map(Number) : [0, 0, 0, 0];
  const part = (value) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if ((colour[3] ?? 1) > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (
      !walker.currentNode.data.trim() ||
      !element.checkVisibility() ||
      element.closest("script, style, noscript")
    )
      continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5)
      faint.push(`${contrast.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return faint;
}

const contrast = {
  name: "looks: every text reaches a contrast of 4.5",
  async run(t) {
    for (const dark of [false, true]) {
      for (const hash of addresses) {
        const page = await t.open(hungWithFlight(), { dark, hash });
        assert.deepEqual(await page.evaluate(faintTexts), [], `${hash} ${dark ? "dark" : "light"}`);
      }
    }
  },
};

const named = {
  name: "looks: landmarks, one h1, everything usable has a name",
  async run(t) {
    for (const hash of addresses) {
      const page = await t.open(hungWithFlight(), { hash });
      for (const role of ["banner", "main", "contentinfo"])
        await hasCount(page.getByRole(role), 1, role);
      await hasCount(page.getByRole("navigation", { name: "Sections" }), 1);
      await hasCount(page.locator("h1"), 1);
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll("button, a, input, select")]
          .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim()))
          .map((one) => one.outerHTML),
      );
      assert.deepEqual(nameless, []);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      const outline = await page.evaluate(
        () => getComputedStyle(document.activeElement).outlineStyle,
      );
      assert.equal(outline, "solid", "focus is visible");
    }
  },
};

const narrow = {
  name: "looks: no view of an example scrolls sideways on 390 px, and the tab of each is in sight",
  needsBinary: true,
  async run(t) {
    for (const example of ["examples/hung-job", "examples/two-rank-profile"]) {
      const page = await t.report([example], { width: 390, height: 844 });
      for (const view of await allViews(page)) {
        await page.evaluate((hash) => (location.hash = hash), view);
        await settled(page);
        const seen = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          const tab = document.querySelector("nav a[aria-current]").getBoundingClientRect();
          return { over: scrollWidth - clientWidth, isTabSeen: tab.left >= 0 && tab.right <= clientWidth };
        });
        assert.deepEqual(seen, { over: 0, isTabSeen: true }, `${example} ${view}`);
      }
    }
  },
};

const stillTabs = {
  name: "looks: tabs stay where they are when one is chosen",
  async run(t) {
    const page = await t.open(hungWithFlight());
    const places = () =>
      page
        .getByRole("navigation", { name: "Sections" })
        .getByRole("link")
        .evaluateAll((links) => links.map((one) => one.getBoundingClientRect().left));
    const before = await places();
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Inputs" }).click();
    await page.locator("nav a[aria-current]", { hasText: "Inputs" }).waitFor();
    assert.deepEqual(await places(), before);
  },
};

export const tests = [contrast, named, narrow, stillTabs];
