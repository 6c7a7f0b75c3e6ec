// Which line came from which: pre-grad graph <-> post-grad graph <-> generated code.
//
// Pointing at a line marks its lines in the other panes; a click or Enter also scrolls them into view.
// Only lines that lead somewhere can be reached with the arrow keys; each pane is one stop of the Tab key.
import "./links";

type Lines = Record<string, number[]>;
type PaneName = "pre" | "post" | "code";

const mappings = JSON.parse(
  document.getElementById("lineMappings")?.textContent || "{}",
) as Record<string, Lines | undefined>;
const main = document.querySelector("main") as HTMLElement;
const isCpp = main.dataset["code"] === "cpp";
const names: PaneName[] = ["pre", "post", "code"];
const panes = names.map((name) => document.getElementById(name) as HTMLElement);
const lineOf = (pane: number, line: number) => panes[pane]?.children[line - 1];

const map = (name: string): Lines => mappings[name] ?? {};
const up = [{}, map("postToPre"), map(isCpp ? "cppCodeToPost" : "pyCodeToPost")];
const down = [map("preToPost"), map(isCpp ? "postToCppCode" : "postToPyCode"), {}];

// The lines that `line` of `pane` leads to, by pane.
function related(pane: number, line: number): number[][] {
  const result: number[][] = [[], [], []];
  result[pane] = [line];
  const follow = (maps: Lines[], from: number, to: number) => {
    result[to] = [...new Set((result[from] ?? []).flatMap((one) => maps[from]?.[one] ?? []))];
  };
  for (let at = pane; at > 0; --at) follow(up, at, at - 1);
  for (let at = pane; at < 2; ++at) follow(down, at, at + 1);
  return result;
}

let marked: Element[] = [];
function mark(pane: number, line: number, scroll: boolean): void {
  for (const one of marked) one.classList.remove("on", "at");
  marked = [];
  related(pane, line).forEach((lines, at) => {
    const found = lines.map((one) => lineOf(at, one)).filter((one) => one !== undefined);
    for (const one of found) one.classList.add(at === pane ? "at" : "on");
    marked.push(...found);
    const middle = found[found.length >> 1];
    if (scroll && at !== pane) middle?.scrollIntoView({ block: "center", inline: "nearest" });
  });
}

const numberOf = (element: Element) =>
  Array.prototype.indexOf.call(element.parentElement?.children, element) + 1;

function moveTo(stops: HTMLElement[], from: number, to: number): void {
  const next = stops[Math.min(Math.max(to, 0), stops.length - 1)];
  const old = stops[from];
  if (!next || !old) return;
  old.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

panes.forEach((pane, at) => {
  const numbers = [...new Set([...Object.keys(up[at] ?? {}), ...Object.keys(down[at] ?? {})])];
  const stops = numbers
    .map(Number)
    .sort((a, b) => a - b)
    .map((line) => lineOf(at, line) as HTMLElement | undefined)
    .filter((line) => line !== undefined);
  stops.forEach((line, i) => {
    line.classList.add("m");
    line.tabIndex = i === 0 ? 0 : -1;
  });
  const stopAt = (event: Event) => (event.target as Element).closest<HTMLElement>(".m");
  pane.addEventListener("mouseover", (event) => {
    const line = stopAt(event);
    if (line) mark(at, numberOf(line), false);
  });
  pane.addEventListener("focusin", (event) => {
    const line = stopAt(event);
    if (line) mark(at, numberOf(line), false);
  });
  pane.addEventListener("click", (event) => {
    const line = stopAt(event);
    if (line) mark(at, numberOf(line), true);
  });
  pane.addEventListener("keydown", (event) => {
    const line = stopAt(event);
    if (!line) return;
    const from = stops.indexOf(line);
    const to: Record<string, number> = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      Home: 0,
      End: stops.length - 1,
    };
    const next = to[event.key];
    if (next !== undefined) moveTo(stops, from, next);
    else if (event.key === "Enter" || event.key === " ") mark(at, numberOf(line), true);
    else return;
    event.preventDefault();
  });
});

if (isCpp) {
  const start = [...(panes[2]?.children ?? [])].find((one) => one.textContent?.includes("::run_impl("));
  start?.scrollIntoView({ block: "start" });
}

// Dividers: dragged, or moved with the arrow keys.
const variables = ["--a", "--b", "--c"];
function resize(left: number, shift: number): void {
  const widths = panes.map((pane) => pane.closest("section")?.offsetWidth ?? 0);
  const [a = 0, b = 0] = [widths[left], widths[left + 1]];
  const by = Math.min(Math.max(shift, 80 - a), b - 80);
  widths[left] = a + by;
  widths[left + 1] = b - by;
  widths.forEach((width, i) => main.style.setProperty(variables[i] ?? "", `${width}fr`));
}
document.querySelectorAll<HTMLElement>("[role=separator]").forEach((bar, left) => {
  bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
  bar.addEventListener("pointermove", (event) => {
    if (bar.hasPointerCapture(event.pointerId)) resize(left, event.movementX);
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") resize(left, -40);
    if (event.key === "ArrowRight") resize(left, 40);
  });
});
export {};
