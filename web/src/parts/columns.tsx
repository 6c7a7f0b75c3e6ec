// Columns of tables, as a view declares them: id, title, width, value, how it is shown, what it means.
import type { ComponentChildren } from "preact";
import type { Run } from "../run/data";
import { meaning, type Row as RowOf, type TableName, type Who } from "../run/tables";
import { memory, placeText, showBytes, showTime } from "./format";
import { Bar, SourceLink } from "./marks";
import { differ } from "./rows";
import type { Column } from "./table";

type Extra<Row> = Partial<Pick<Column<Row>, "definition" | "opens" | "cell">>;
type More<Row> = Extra<Row> | string; // a text is the definition

const extraOf = <Row,>(more: More<Row>): Extra<Row> =>
  typeof more === "string" ? { definition: more } : more;

export function textColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => string | null | undefined,
  more: More<Row> = {},
): Column<Row> {
  return { id, title, width, value: (row) => value(row) ?? null, ...extraOf(more) };
}

type NumberOf<Row> = (row: Row) => number | null | undefined;

export function numberColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: NumberOf<Row>,
  show?: (value: number) => ComponentChildren,
  more: More<Row> = {},
): Column<Row> {
  const cell = (row: Row) => {
    const one = value(row) ?? undefined;
    return one === undefined ? "" : show?.(one);
  };
  const shown = { number: true, value: (row: Row) => value(row) ?? null, ...(show && { cell }) };
  return { id, title, width, ...shown, ...extraOf(more) };
}

// A number with a bar as long as its share of `most`. `isShort`: its text is.
export function barColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: NumberOf<Row>,
  most: number,
  show: (value: number) => string,
  more: More<Row> = {},
  isShort = false,
): Column<Row> {
  const bar = (one: number) => <Bar value={one} most={most} text={show(one)} isShort={isShort} />;
  return numberColumn(id, title, width, value, bar, more);
}

// A column that is a drawing: ordered by `value`, with no number beside it.
export function drawnColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: NumberOf<Row>,
  cell: (row: Row) => ComponentChildren,
  definition?: string,
): Column<Row> {
  return { id, title, width, value: (row) => value(row) ?? null, cell, ...(definition && { definition }) };
}

export function placeColumn<Row>(
  title: string,
  width: number,
  place: (row: Row) => [string | undefined, number | undefined],
): Column<Row> {
  return textColumn("place", title, width, (row) => placeText(...place(row)) || null, {
    cell: (row) => {
      const [file, line] = place(row);
      return file ? <SourceLink file={file} line={line} /> : "";
    },
  });
}

export function jobName(run: Run, job: number | null | undefined): string {
  return run.jobs.find((one) => one.job === job)?.name || `job ${job}`;
}

// Job, attempt and rank, where there are several.
export function whoColumns<Row extends Who>(run: Run, rows: Row[]): Column<Row>[] {
  const columns: [keyof Who, Column<Row>][] = [
    ["job", textColumn("job", "job", 130, (row) => jobName(run, row.job))],
    ["attempt", numberColumn("attempt", "attempt", 80, (row) => row.attempt)],
    ["rank", numberColumn("rank", "rank", 70, (row) => row.rank)],
  ];
  return columns.filter(([of]) => differ(rows, (row) => row[of])).map(([, column]) => column);
}

// Columns of a table whose heading tells what the table says about the column.
export function columnsOf<Name extends TableName, Row extends RowOf<Name> = RowOf<Name>>(table: Name) {
  type Key = keyof RowOf<Name> & string;
  const number = (column: Key) => (row: Row) => (row as RowOf<Name>)[column] as number | undefined;
  const told = (column: Key, extra: Extra<Row>) => ({ definition: meaning(table, column), ...extra });
  return {
    time: (column: Key, title: string, width = 90, extra: Extra<Row> = {}) =>
      numberColumn(column, title, width, number(column), showTime, told(column, extra)),
    bytes: (column: Key, title: string, width = 90, extra: Extra<Row> = {}) =>
      numberColumn(column, title, width, number(column), showBytes, told(column, extra)),
    // Of a device: powers of two.
    memory: (column: Key, title: string, width = 90, extra: Extra<Row> = {}) =>
      numberColumn(column, title, width, number(column), memory, told(column, extra)),
    count: (column: Key, title: string, width = 80, extra: Extra<Row> = {}) =>
      numberColumn(column, title, width, number(column), undefined, told(column, extra)),
    text: (column: Key, title: string, width: number, extra: Extra<Row> = {}) =>
      textColumn<Row>(column, title, width, (row) => (row as RowOf<Name>)[column] as string | undefined,
        told(column, extra)),
    bar: (column: Key, title: string, width: number, most: number, show: (value: number) => string) =>
      barColumn(column, title, width, number(column), most, show, told(column, {}), true),
  };
}
