// Where else in the report a slice is looked at. What it belongs to is read out of its name and note, which
// src/outputs/report/html/timeline/*.cc write; a text that is none of theirs gives no link.
import { views } from "views";
import type { Place, Slice } from "./store";
import { hasRows, type Run } from "../run/data";

export interface Link {
  view: string;
  params: Record<string, string | null>;
  words: string;
}

// "0/1, train_step at train.py:52" -> the compilation, by the key of compile/data.ts.
function compilation(place: Place, slice: Slice): Link[] {
  const id = /^(\[?[^,\s]*\d+\/\d+\]?)/.exec(slice.note)?.[1];
  if (place.process.source !== "compile" || !id) return [];
  const { rank } = place.process;
  const key = [place.process.id, rank ?? "", 0, id.replace(/_\d+$/, "")].join(":");
  return [{ view: "compile", params: { at: key }, words: `compilation ${id}` }];
}

// Of a Flight Recorder's lane "mesh_dp (7), ranks 5 and 7", or of a note "group mesh_dp (7), seq 16".
function groupOf(place: Place, slice: Slice): string | undefined {
  const text = place.process.source === "flight" ? place.lane.name : slice.note;
  return (/\(([^()]+)\)(?:,|$)/.exec(text) ?? /^group ([^,]+)/.exec(text))?.[1];
}

function collective(place: Place, slice: Slice): Link[] {
  const seq = /(?:^|, )seq (\d+)/.exec(slice.note)?.[1];
  const group = groupOf(place, slice);
  if (!slice.kind.startsWith("comm") || !seq || !group) return [];
  const { rank } = place.process;
  const params = { group, seq, rank: rank === null ? null : String(rank) };
  return [{ view: "flight", params, words: `collective ${seq} of group ${group}` }];
}

// "train.py(52): step", "... at train.py:52".
function sourceLine(slice: Slice): Link[] {
  const found =
    slice.kind === "python"
      ? /^(.+\.py)\((\d+)\): /.exec(slice.name)
      : /(?:^|\s)(\S+\.py):(\d+)(?:\s|$)/.exec(slice.note);
  const [, file, line] = found ?? [];
  if (!file || !line) return [];
  return [{ view: "source", params: { file, line }, words: `${file}:${line}` }];
}

// Only to views that have something to show.
export function linksOf(place: Place, slice: Slice, run: Run): Link[] {
  const hasView = (id: string) =>
    views.some((one) => one.id === id && (!one.needs || hasRows(run, one.needs.tables)));
  return [...compilation(place, slice), ...collective(place, slice), ...sourceLine(slice)].filter(
    (link) => hasView(link.view),
  );
}
