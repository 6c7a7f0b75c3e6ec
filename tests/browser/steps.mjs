// Ways through the page that several tests go.
import assert from "node:assert/strict";

// Titles in a row of the navigation: "Sections" or "Views".
async function titlesIn(page, row) {
  const links = page.getByRole("navigation", { name: row, exact: true }).getByRole("link");
  return (await links.allInnerTexts()).map((one) => one.replace(/[\d,]+$/, "").trim());
}

export const sectionsOf = (page) => titlesIn(page, "Sections");
export const viewsOf = (page) => titlesIn(page, "Views");

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
