// Pieces that the views of profiles share: the choice of a timeline, bars of several parts.
import type { ComponentChildren } from "preact";
import { Select } from "../parts/choices";
import { jobName, numberColumn, textColumn } from "../parts/columns";
import { duration, shareText } from "../parts/format";
import { Legend } from "../parts/marks";
import { differ } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { Who } from "../run/tables";
import { setParams, to } from "../shell/route";
import { addressOf, type Timeline } from "./data";

// What a device does, or why it does nothing. Each has a colour and a pattern or a word beside it.
export interface Part {
  id: string; // class of style
  words: string;
  meaning: string;
}

const part = (id: string, words: string, meaning: string): Part => ({ id, words, meaning });

export const deviceParts: Part[] = [
  part("compute", "compute", "Something computes"),
  part("communication", "exposed communication", "Something communicates and nothing computes"),
  part("memory", "exposed copies", "Something is copied or filled, nothing computes or communicates"),
  part("other", "other", "Busy, and none of these"),
  part("idle", "idle", "Nothing runs on the device"),
];

export const pathParts: Part[] = [
  part("host", "host", "Of the path on the host"),
  part("data", "data loading", "Of the path in the data loader"),
  part("compute", "compute", "Of the path in kernels that compute"),
  part("communication", "communication", "Of the path in kernels that communicate"),
  part("memory", "copies", "Of the path in copies and fills"),
  part("launch", "launch delay", "Between a launch and the start of its work"),
  part("between", "between work", "Between work and the work that waited for it"),
];

export function PartLegend({ parts, label }: { parts: Part[]; label: string }) {
  const items = parts.map(({ id, words, meaning }) => ({
    id,
    mark: <i class={`part ${id}`} />,
    words,
    title: meaning,
  }));
  return <Legend label={label} items={items} />;
}

export type Values = Record<string, number | undefined>; // by id of the part

export function valuesInWords(parts: Part[], values: Values, whole: number): string {
  return parts
    .filter((part) => (values[part.id] ?? 0) > 0)
    .map((part) => {
      const value = values[part.id] ?? 0;
      return `${part.words} ${duration(value)} (${shareText(whole > 0 ? value / whole : 0)})`;
    })
    .join(", ");
}

// Parts of `whole`, side by side.
export function PartBar(props: { parts: Part[]; values: Values; whole: number }) {
  const { parts, values, whole } = props;
  const words = valuesInWords(parts, values, whole) || "nothing";
  return (
    <span class="part-bar" role="img" aria-label={words} title={words}>
      {parts.map((part) => {
        const share = whole > 0 ? (values[part.id] ?? 0) / whole : 0;
        return share > 0 ? (
          <span key={part.id} class={`part ${part.id}`} style={{ width: `${100 * share}%` }} />
        ) : null;
      })}
    </span>
  );
}

// Which timeline a row is of, where there are several.
export function timelineColumns<Row extends Who>(run: Run, timelines: Timeline[]): Column<Row>[] {
  if (timelines.length < 2) return [];
  const byInput = new Map(timelines.map((one) => [one.input, one]));
  const plain = timelines.every((one) => one.isOnly && one.rank !== undefined);
  const label = (row: Row) => byInput.get(row.input)?.label ?? "";
  return [
    ...(differ(timelines, (one) => one.job)
      ? [textColumn<Row>("job", "job", 130, (row) => jobName(run, row.job))]
      : []),
    plain
      ? numberColumn<Row>("rank", "rank", 70, (row) => row.rank, undefined, { opens: true })
      : textColumn<Row>("rank", "profile", 130, label, { opens: true }),
  ];
}

interface ChoiceProps {
  view: string;
  timelines: Timeline[];
  current: Timeline | null;
  all?: boolean; // "all ranks" can be chosen
  forget?: Record<string, null>;
}

export function TimelineChoice({ view, timelines, current, all, forget }: ChoiceProps) {
  if (timelines.length < 2) return null;
  const choose = (input: string) => {
    const one = timelines.find((timeline) => String(timeline.input) === input) ?? null;
    setParams(view, { ...addressOf(one), ...forget });
  };
  const options = timelines.map((one): [string, string] => [String(one.input), one.label]);
  return (
    <Select
      name="Rank"
      value={current ? String(current.input) : ""}
      options={all ? [["", `all ${timelines.length} added up`], ...options] : options}
      onChoose={choose}
    />
  );
}

// To the same moment in the timeline.
export function TimelineLink({ row, children }: { row: Who & { step?: number }; children: ComponentChildren }) {
  return <a href={to("timeline", { rank: row.rank, step: row.step })}>{children}</a>;
}
