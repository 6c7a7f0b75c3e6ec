// Pieces that the views of profiles share: the choice of a timeline, bars of several parts, columns with their meaning.
import type { ComponentChildren } from "preact";
import { bytes, counted, duration } from "../parts/format";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { Who } from "../run/tables";
import { href, setParams } from "../shell/route";
import { numberColumn, textColumn } from "../compile/parts";
import {
  addressOf,
  jobName,
  meaning,
  type Profile,
  type TableName,
  type TableRows,
  type Timeline,
} from "./data";

// What a device does, or why it does nothing. Each has a colour and a pattern or a word beside it.
export interface Part {
  id: string; // class of style
  words: string;
  meaning: string;
}

export const deviceParts: Part[] = [
  { id: "compute", words: "compute", meaning: "Something computes" },
  {
    id: "communication",
    words: "exposed communication",
    meaning: "Something communicates and nothing computes",
  },
  {
    id: "memory",
    words: "exposed copies",
    meaning: "Something is copied or filled, nothing computes or communicates",
  },
  { id: "other", words: "other", meaning: "Busy, and none of these" },
  { id: "idle", words: "idle", meaning: "Nothing runs on the device" },
];

export const pathParts: Part[] = [
  { id: "host", words: "host", meaning: "Of the path on the host" },
  { id: "data", words: "data loading", meaning: "Of the path in the data loader" },
  { id: "compute", words: "compute", meaning: "Of the path in kernels that compute" },
  {
    id: "communication",
    words: "communication",
    meaning: "Of the path in kernels that communicate",
  },
  { id: "memory", words: "copies", meaning: "Of the path in copies and fills" },
  { id: "launch", words: "launch delay", meaning: "Between a launch and the begin of its work" },
  { id: "between", words: "between work", meaning: "Between work and the work that waited for it" },
];

export function PartLegend({ parts, label }: { parts: Part[]; label: string }) {
  return (
    <div class="legend" role="list" aria-label={label}>
      {parts.map((part) => (
        <span key={part.id} role="listitem" title={part.meaning}>
          <i class={`part ${part.id}`} /> {part.words}
        </span>
      ))}
    </div>
  );
}

// "12.3 %": one digit, which is what people compare; less than that is told as such.
export function shareText(share: number): string {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share > 0.999 && share < 1) return ">99.9 %";
  return `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
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

// A value as a bar, as long as its share of the largest, with its text.
export function ShareBar({ value, most, text }: { value: number; most: number; text: string }) {
  const share = most > 0 ? Math.max(0, Math.min(1, value / most)) : 0;
  return (
    <span class="bar-cell share-bar">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} />
      </span>
      <span class="bar-text">{text}</span>
    </span>
  );
}

type Extra<Row> = Partial<Pick<Column<Row>, "definition" | "opens" | "cell">>;

// Columns of a table whose heading tells what the table says about the column.
export function columnsOf<Name extends TableName>(table: Name) {
  type Row = TableRows[Name];
  type Key = keyof Row & string;
  const number = (row: Row, column: Key) => row[column] as number | undefined;
  const told = (column: Key) => ({ definition: meaning(table, column) });
  return {
    time: (column: Key, title: string, width = 90, extra: Extra<Row> = {}) =>
      numberColumn<Row>(column, title, width, (row) => number(row, column), showTime, {
        ...told(column),
        ...extra,
      }),
    bytes: (column: Key, title: string, width = 90, extra: Extra<Row> = {}) =>
      numberColumn<Row>(column, title, width, (row) => number(row, column), showBytes, {
        ...told(column),
        ...extra,
      }),
    count: (column: Key, title: string, width = 80, extra: Extra<Row> = {}) =>
      numberColumn<Row>(column, title, width, (row) => number(row, column), undefined, {
        ...told(column),
        ...extra,
      }),
    text: (column: Key, title: string, width: number, extra: Extra<Row> = {}) =>
      textColumn<Row>(column, title, width, (row) => row[column] as string | undefined, {
        ...told(column),
        ...extra,
      }),
    bar: (
      column: Key,
      title: string,
      width: number,
      most: number,
      show: (value: number) => string,
    ): Column<Row> => ({
      id: column,
      title,
      width,
      number: true,
      ...told(column),
      value: (row) => number(row, column) ?? null,
      cell: (row) => {
        const value = number(row, column);
        return value === undefined ? "" : <ShareBar value={value} most={most} text={show(value)} />;
      },
    }),
  };
}

export const showTime = (ns: number) => (ns === 0 ? "0" : duration(Math.round(ns)));
export const showBytes = (value: number) =>
  value < 0 ? `\u2212${bytes(-value)}` : bytes(Math.round(value));

// Which timeline a row is of, where there are several.
export function timelineColumns<Row extends Who>(run: Run, timelines: Timeline[]): Column<Row>[] {
  if (timelines.length < 2) return [];
  const byInput = new Map(timelines.map((one) => [one.input, one]));
  const plain = timelines.every((one) => one.isOnly && one.rank !== undefined);
  const several = new Set(timelines.map((one) => one.job)).size > 1;
  return [
    ...(several
      ? [textColumn<Row>("job", "job", 130, (row) => jobName(run, row.job))]
      : []),
    plain
      ? numberColumn<Row>("rank", "rank", 60, (row) => row.rank, undefined, { opens: true })
      : textColumn<Row>("rank", "profile", 130, (row) => byInput.get(row.input)?.label ?? "", {
          opens: true,
        }),
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
  return (
    <label class="group-choice">
      <span aria-hidden="true">Rank</span>
      <select
        aria-label="Rank"
        value={current ? String(current.input) : ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {all && <option value="">all {timelines.length} added up</option>}
        {timelines.map((one) => (
          <option key={one.input} value={String(one.input)}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  );
}

// Rows that the page does not have. The reader is told where they are.
export function LeftOut({ profile, names }: { profile: Profile; names: TableName[] }) {
  const some = names.filter((name) => profile.leftOut(name) > 0);
  if (some.length === 0) return null;
  return (
    <p class="quiet left-out">
      {some.map((name) => (
        <span key={name}>
          {counted(profile.leftOut(name), "row")} of <code>{name}</code> in <code>run.duckdb</code>{" "}
          {profile.leftOut(name) === 1 ? "is" : "are"} not on this page.{" "}
        </span>
      ))}
    </p>
  );
}

// To the same moment in the timeline.
export function TimelineLink(props: {
  row: Who & { step?: number };
  job: string | null;
  children: ComponentChildren;
}) {
  const { row, job } = props;
  const text = (value: number | undefined) => (value === undefined ? null : String(value));
  return (
    <a href={href("timeline", { job, rank: text(row.rank), step: text(row.step) })}>
      {props.children}
    </a>
  );
}
