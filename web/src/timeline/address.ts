// The state of the timeline in the address:
//
//   from, to   what is in sight, nanoseconds from the timeline's base; numbers since 1970 are understood too
//   rank       ranks that are shown, "3" or "0,3"        source   likewise, "profile"
//   open       processes that are unfolded, when not those that are at first
//   sel        PROCESS/LANE/NUMBER of the selected slice
//   area       FROM~TO~PROCESS/LANE~PROCESS/LANE, the first and the last lane of the chosen area
//   q          what is searched for                      clock    raw: times as each rank recorded them
import type { Lane, Process, Timeline } from "./model";
import type { Run } from "../run/data";
import { lengthOf, type Span } from "./viewport";

const since1970 = 1e17; // no recording is three years long

function timeParam(params: URLSearchParams, name: string, base: number): number {
  const text = params.get(name);
  const value = text === null || text === "" ? NaN : Number(text);
  return value > since1970 ? value - base : value;
}

export function spanIn(params: URLSearchParams, base: number): Span | null {
  const span = { from: timeParam(params, "from", base), to: timeParam(params, "to", base) };
  return lengthOf(span) > 0 ? span : null;
}

const list = (text: string | null): string[] => (text ? text.split(",") : []);

// Processes of the chosen job, ranks and source.
export function shownProcesses(timeline: Timeline, run: Run, params: URLSearchParams): Process[] {
  const ranks = list(params.get("rank"));
  const source = params.get("source");
  return timeline.processes.filter(
    (one) =>
      (run.job === null || one.job === null || one.job === run.job) &&
      (ranks.length === 0 || ranks.includes(String(one.rank))) &&
      (!source || one.source === source),
  );
}

const fewProcesses = 6;
const mostOpen = 12;
const mostSlices = 3e6; // of those that are read before anybody asks

// Ranks in the order in which a reader wants them: those to blame, then rank 0.
function ranksOfInterest(run: Run): number[] {
  const causes = run.findings.filter((one) => one.role === "cause");
  const others = run.findings.filter((one) => one.role === "observation");
  const ranks = (findings: Run["findings"]) => findings.flatMap((one) => one.ranks);
  return [...new Set([...ranks(causes).slice(0, 3), ...ranks(others).slice(0, 2), 0])];
}

// Which are unfolded when the address does not say: all of a few, else those of interest.
export function openAtFirst(processes: Process[], run: Run): Set<string> {
  const order = ranksOfInterest(run);
  const wanted =
    processes.length <= fewProcesses
      ? processes
      : order.flatMap((rank) => processes.filter((one) => one.rank === rank));
  const open = new Set<string>();
  let slices = 0;
  for (const one of wanted.length > 0 ? wanted : processes.slice(0, fewProcesses)) {
    slices += one.slices;
    if (open.size >= mostOpen || (slices > mostSlices && open.size > 0)) break;
    open.add(one.id);
  }
  return open;
}

export function openIn(params: URLSearchParams): Set<string> | null {
  const text = params.get("open");
  return text === null ? null : new Set(list(text === "none" ? "" : text));
}

export function openText(open: Set<string>, atFirst: Set<string>): string | null {
  const isSame = open.size === atFirst.size && [...open].every((one) => atFirst.has(one));
  if (isSame) return null;
  return open.size === 0 ? "none" : [...open].join(",");
}

export interface SliceAddress {
  process: Process;
  lane: Lane;
  number: number;
}

function laneIn(text: string, processes: Process[]): { process: Process; lane: Lane } | null {
  const cut = text.indexOf("/");
  const process = processes.find((one) => one.id === text.slice(0, cut));
  const lane = process?.lanes.find((one) => one.id === text.slice(cut + 1));
  return process && lane ? { process, lane } : null;
}

// "7.2/3/1204"
export function sliceIn(text: string | null, processes: Process[]): SliceAddress | null {
  const cut = text?.lastIndexOf("/") ?? -1;
  const number = Number(text?.slice(cut + 1));
  const at = text && cut > 0 ? laneIn(text.slice(0, cut), processes) : null;
  return at && Number.isInteger(number) ? { ...at, number } : null;
}

export interface StepAddress {
  process: Process;
  lane: Lane;
  index: number;
}

// ?rank=3&step=2, as other views know it: the third step of the first timeline that has steps.
export function stepIn(params: URLSearchParams, processes: Process[]): StepAddress | null {
  const text = params.get("step");
  const index = Number(text);
  if (text === null || !Number.isInteger(index)) return null;
  for (const process of processes) {
    const lane = process.lanes.find((one) => one.kind === "steps");
    if (lane) return { process, lane, index };
  }
  return null;
}

const laneText = (one: { process: Process; lane: Lane }): string =>
  `${one.process.id}/${one.lane.id}`;

export const sliceText = (one: SliceAddress): string => `${laneText(one)}/${one.number}`;

export function areaText(span: Span, lanes: { process: Process; lane: Lane }[]): string | null {
  const [first, last] = [lanes[0], lanes[lanes.length - 1]];
  if (!first || !last) return null;
  return [Math.floor(span.from), Math.ceil(span.to), laneText(first), laneText(last)].join("~");
}

export interface AreaAddress extends Span {
  first: { process: Process; lane: Lane };
  last: { process: Process; lane: Lane };
}

export function areaIn(text: string | null, processes: Process[]): AreaAddress | null {
  const [from = "", to = "", one = "", other = ""] = text?.split("~") ?? [];
  const [first, last] = [laneIn(one, processes), laneIn(other, processes)];
  const span = { from: Number(from), to: Number(to) };
  return first && last && lengthOf(span) > 0 ? { ...span, first, last } : null;
}
