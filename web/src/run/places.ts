// Where in the report a sentence of evidence can be seen: by the table that its rows are of.
import { views } from "views";
import { hasRows, type Evidence, type Finding, type Run } from "./data";
import { to, type Params } from "../shell/route";
import type { EvidenceRow } from "./story";

interface Place {
  words: string; // of the section: "Collectives"
  href: string;
}

// The first pattern that fits the table's name.
const viewOfTable: [RegExp, string][] = [
  [/^(comm_arrival|profile_arrival|profile_collective)/, "flight_arrivals"],
  [/^(comm_traffic|profile_bandwidth)/, "flight_traffic"],
  [/^(comm_|first_incomplete|fr_trace)/, "flight"],
  [/^(text_event|progress|process_exit|tail_line)$/, "output"],
  [/^compile_break/, "breaks"],
  [/^compile_(first_difference|rank_|divergence|order|overlap|runtime)/, "ranks"],
  [/^compile_(graph|guard|shape|module)/, "graphs"],
  [/^compile_(phase|cache|span|kernel|autotune|weight)/, "compile_cost"],
  [/^compil/, "compile"],
  [/^(profile_kernel|profile_launch)/, "profile_kernels"],
  [/^(profile_op|profile_module)/, "profile_ops"],
  [/^(profile_idle|profile_gap|profile_critical|join_gap)/, "profile_idle"],
  [/^(profile_memory|memory_)/, "profile_memory"],
  [/^profile_/, "profile"],
  [/^cost_/, "cost"],
];

const sections: Record<string, string> = { output: "Output", ranks: "Ranks" };

function paramsOf(view: string, finding: Finding, evidence: Evidence): Params {
  const rank = finding.ranks[0];
  if (view === "flight")
    return { finding: finding.id, group: finding.groups[0]?.name, seq: finding.seq, rank };
  if (view === "flight_arrivals") return { group: finding.groups[0]?.name, seq: finding.seq };
  if (view === "output") return { at: `${evidence.table}:${evidence.rows[0] ?? ""}` };
  if (view === "ranks") return { rank };
  if (view === "compile" && finding.compile_ids[0])
    return { filter: `id:${finding.compile_ids[0]}${finding.ranks.length === 1 ? ` rank:${rank}` : ""}` };
  return {};
}

function canShow(run: Run, id: string): boolean {
  return views.some((one) => one.id === id && (!one.needs || hasRows(run, one.needs.tables)));
}

const around = 2e9; // ns on either side of a moment
const timeColumns = ["created_ns", "time_ns", "start_ns", "first_ns"];

// The moment of the first row that has one, for the timeline.
function timelinePlace(rows: EvidenceRow[]): Place | null {
  for (const row of rows) {
    const at = timeColumns.map((name) => row[name]).find((one) => typeof one === "number");
    if (typeof at !== "number" || at < 1e17) continue;
    const rank = typeof row.rank === "number" ? row.rank : null;
    const href = to("timeline", { rank, from: at - around, to: at + around });
    return { words: "Timeline", href };
  }
  return null;
}

// `rows`: those of the evidence that the page has.
export function placesOf(run: Run, finding: Finding, evidence: Evidence, rows: EvidenceRow[]): Place[] {
  const places: Place[] = [];
  const view = viewOfTable.find(([pattern]) => pattern.test(evidence.table))?.[1];
  if (view && canShow(run, view)) {
    const found = views.find((one) => one.id === view);
    const words = sections[view] ?? found?.section ?? found?.title ?? view;
    places.push({ words, href: to(view, paramsOf(view, finding, evidence)) });
  }
  const inTime = canShow(run, "timeline") ? timelinePlace(rows) : null;
  if (inTime) places.push(inTime);
  return places;
}
