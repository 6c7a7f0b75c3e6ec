// The filter over compilations: words that must all occur in the id, the function or a file's name.
import "./links";

const field = document.querySelector<HTMLInputElement>("#filter");
const items = [...document.querySelectorAll<HTMLElement>(".products > li")];
const shown = document.querySelector("#shown");
const texts = new Map<HTMLElement, string>();

function textOf(item: HTMLElement): string {
  let text = texts.get(item);
  if (text === undefined) texts.set(item, (text = (item.textContent ?? "").toLowerCase()));
  return text;
}

function apply(): void {
  const words = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const item of items) {
    const text = words.length > 0 ? textOf(item) : "";
    item.hidden = !words.every((word) => text.includes(word));
    if (!item.hidden) ++count;
  }
  if (shown) shown.textContent = count === items.length ? `${count}` : `${count} of ${items.length}`;
}

field?.addEventListener("input", apply);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field?.focus();
  } else if (event.key === "Escape" && field && document.activeElement === field) {
    field.value = "";
    apply();
  }
});
// A link to a compilation that the filter hides shows it.
addEventListener("hashchange", () => {
  const id = decodeURIComponent(location.hash.slice(1));
  const item = document.getElementById(id)?.closest<HTMLElement>(".products > li");
  if (item?.hidden && field) {
    field.value = "";
    apply();
    item.scrollIntoView();
  }
});
if (field?.value) apply(); // what a browser kept over a reload
export {};
