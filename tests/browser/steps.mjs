// Ways through the page that several tests go.
import assert from "node:assert/strict";

// Titles in a row of the navigation: "Sections" or "Views".
async function titlesIn(page, row) {
  const links = page.getByRole("navigation", { name: row, exact: true }).getByRole("link");
  return (await links.allInnerTexts()).map((one) => one.replace(/[\d,]+$/, "").trim());
}

export const sectionsOf = (page) => titlesIn(page, "Sections");

// By its key: sections have numbers by their place.
export async function pressKeyOf(page, section) {
  const at = (await sectionsOf(page)).indexOf(section);
  assert.ok(at >= 0 && at < 9, `${section} in ${await sectionsOf(page)}`);
  await page.keyboard.press(String(at + 1));
}

// A view of a section, by clicking.
export async function goTo(page, section, view) {
  const click = (row, name) =>
    page
      .getByRole("navigation", { name: row, exact: true })
      .getByRole("link", { name: new RegExp(`^${name}[\\d,]*$`) })
      .click();
  await click("Sections", section);
  if (view) await click("Views", view);
}

// Addresses of all views, as the navigation has them.
export async function allViews(page) {
  const addresses = [];
  const sections = await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link")
    .evaluateAll((links) => links.map((one) => one.getAttribute("href")));
  for (const section of sections) {
    await page.evaluate((hash) => (location.hash = hash), section);
    const within = page.getByRole("navigation", { name: "Views" }).getByRole("link");
    await page.locator("nav a[aria-current]").first().waitFor();
    const views = await within.evaluateAll((links) => links.map((one) => one.getAttribute("href")));
    addresses.push(...(views.length > 0 ? views : [section]));
  }
  return [...new Set(addresses)];
}

export const idOf = (address) => address.replace(/^#\//, "").replace(/\?.*/, "");

// The view is there when its heading is and nothing is being read any more.
export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  const loading = page.locator("main .loading");
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: "detached" });
  if ((await page.locator("main .tl-box").count()) > 0) await timelineReady(page);
}

// The timeline shows its lanes and reads nothing any more.
export const timelineReady = (page) => page.waitForSelector(".tl-box[aria-busy=false] >> css=.tl-lane");

// So many are there, or come to be: what the page shows follows a click in its own time.
export async function hasCount(locator, wanted, what = "") {
  const deadline = performance.now() + 5000;
  let count = await locator.count();
  while (count !== wanted && performance.now() < deadline) {
    await locator.page().evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    count = await locator.count();
  }
  assert.equal(count, wanted, what || String(locator));
}
