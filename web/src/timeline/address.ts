// The state of the timeline in the address:
//
//   from, to   what is in sight, nanoseconds from the timeline's base; numbers since 1970 are understood too
//   rank       ranks that are shown, "3" or "0,3"        source   likewise, "profile"
//   open       processes that are unfolded, when not those that are at first
//   sel        PROCESS/LANE/NUMBER of the selected slice
//   area       FROM~TO~PROCESS/LANE~PROCESS/LANE, the first and the last lane of the chosen area
//   q          what is searched for                      clock    raw: times as each rank recorded them
import type { Lane, Moment, Process, Timeline } from "./model";
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

// How near a process is to the blame: 0 of a blamed rank, 1 of the collectives of its peers, 2 of those of others, 3 the
// rest. A compiler that is not to blame, and of few ranks the output, come behind what is compared. Of several jobs at
// once all stay in their order.
function distance(process: Process, blame: Blame | null): number {
  if (!blame) return 0;
  const isBlamed = process.rank !== null && blame.ranks.includes(process.rank);
  if (isBlamed && process.source === "compile" && !blame.isCompiling) return 2.5;
  if (!blame.hasMoment) return distanceInSlowJob(process, isBlamed, blame);
  if (isBlamed) return process.source === "text" && blame.isSmall ? 2.2 : 0;
  if (process.source !== "flight") return 3;
  return process.rank !== null && blame.peers.includes(process.rank) ? 1 : 2;
}

// The devices of few ranks stand below each other, those of the blamed rank first: that is what a reader compares.
function distanceInSlowJob(process: Process, isBlamed: boolean, blame: Blame): number {
  if (!blame.isSmall) return isBlamed ? 0 : 3;
  const isDevice = process.lanes.some((lane) => lane.kind === "stream");
  if (isBlamed) return isDevice || process.source === "host" ? 0 : 2;
  return isDevice ? 1 : 3;
}

const fewRanks = 16;

interface Blame {
  ranks: number[];
  peers: number[];
  hasMoment: boolean; // when the ranks diverged
  isCompiling: boolean;
  isSmall: boolean; // few ranks
}

// Whom the first finding blames, where one job is shown.
function blameOf(timeline: Timeline, run: Run): Blame | null {
  const first = run.findings[0];
  const isOneJob = run.job !== null || run.jobs.length < 2;
  if (!first || !isOneJob || first.role !== "cause" || first.ranks.length === 0) return null;
  const peers = first.groups.flatMap((group) => group.ranks);
  const moment = momentIn(timeline, run);
  const hasMoment = moment !== undefined && !moment.isSlow;
  const isSmall = new Set(timeline.processes.map((one) => one.rank)).size <= fewRanks;
  return { ranks: first.ranks, peers, hasMoment, isCompiling: first.compile_ids.length > 0, isSmall };
}

function momentIn(timeline: Timeline, run: Run): Moment | undefined {
  if (run.job === null && run.jobs.length > 1) return undefined;
  const job = run.job ?? run.jobs[0]?.job ?? null;
  return timeline.moments?.find((one) => one.job === job);
}

// Where the timeline opens: around the moment when the ranks diverged, of a slow job at its recorded steps.
export function momentOf(timeline: Timeline, run: Run): Span | null {
  const moment = momentIn(timeline, run);
  if (!moment) return null;
  const span = { from: Math.max(moment.from, timeline.first), to: Math.min(moment.to, timeline.last) };
  return lengthOf(span) > 0 ? span : null;
}

// Processes of the chosen job, ranks and source, those nearest to the blame first.
export function shownProcesses(timeline: Timeline, run: Run, params: URLSearchParams): Process[] {
  const ranks = list(params.get("rank"));
  const source = params.get("source");
  const blame = blameOf(timeline, run);
  return timeline.processes
    .filter(
      (one) =>
        (run.job === null || one.job === null || one.job === run.job) &&
        (ranks.length === 0 || ranks.includes(String(one.rank))) &&
        (!source || one.source === source),
    )
    .map((process, at) => ({ process, at, near: distance(process, blame) }))
    .sort((a, b) => a.near - b.near || a.at - b.at)
    .map((one) => one.process);
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
export function openAtFirst(timeline: Timeline, processes: Process[], run: Run): Set<string> {
  const blame = blameOf(timeline, run);
  const isBlamed = (one: Process) =>
    one.rank !== null && blame?.ranks.includes(one.rank) === true && (one.source !== "compile" || blame.isCompiling);
  if (blame && momentIn(timeline, run) && processes.some(isBlamed)) return openSome(processes.filter(isBlamed));
  const order = ranksOfInterest(run);
  const wanted =
    processes.length <= fewProcesses
      ? processes
      : order.flatMap((rank) => processes.filter((one) => one.rank === rank));
  return openSome(wanted.length > 0 ? wanted : processes.slice(0, fewProcesses));
}

function openSome(wanted: Process[]): Set<string> {
  const open = new Set<string>();
  let slices = 0;
  for (const one of wanted) {
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
  step: number;
}

// ?rank=3&step=412, by its number as all views have it, in the first timeline that has steps.
export function stepIn(params: URLSearchParams, processes: Process[]): StepAddress | null {
  const text = params.get("step");
  const step = Number(text);
  if (text === null || !Number.isInteger(step)) return null;
  for (const process of processes) {
    const lane = process.lanes.find((one) => one.kind === "steps");
    if (lane) return { process, lane, step };
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
