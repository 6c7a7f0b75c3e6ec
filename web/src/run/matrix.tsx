// Which rank left which kind of input. Rows are kinds and columns ranks; a hole is a rank that left
// nothing of a kind that others left. Up to 32 ranks it is a table of buttons; above, each row is one
// drawing (two paths, whatever the number of ranks) that wraps. Beside each row stand the missing
// ranks in words, so nothing depends on seeing it.
import { useMemo } from "preact/hooks";
import type { Input, InputState, Job } from "./data";
import { count, counted, inputKind, rankList } from "../parts/format";
import { Legend as Signs } from "../parts/marks";
import { grouped } from "../parts/rows";

interface Row {
  kind: string;
  cells: { state: InputState | "none"; count: number }[]; // by rank
  missing: number[];
  failed: number[]; // ranks whose inputs of the kind could not be read
  unranked: number; // inputs of the kind that belong to no rank
}

const mostButtons = 32;
const mostRanks = 100_000; // a world size beyond it is not drawn

// The better state wins: one whole file is what the reader needs.
const order: (InputState | "none")[] = ["none", "skipped", "failed", "recognised", "imported"];

function makeRow(kind: string, inputs: Input[], size: number): Row {
  const cells: Row["cells"] = Array.from({ length: size }, () => ({ state: "none", count: 0 }));
  let unranked = 0;
  for (const input of inputs) {
    const cell = input.rank === null ? undefined : cells[input.rank];
    if (!cell) {
      ++unranked;
      continue;
    }
    ++cell.count;
    if (order.indexOf(input.state) > order.indexOf(cell.state)) cell.state = input.state;
  }
  const missing = cells.flatMap((cell, rank) => (cell.state === "none" ? [rank] : []));
  const failed = cells.flatMap((cell, rank) =>
    cell.state === "failed" || cell.state === "skipped" ? [rank] : [],
  );
  return { kind, cells, missing, failed, unranked };
}

function makeRows(inputs: Input[], size: number): Row[] {
  return [...grouped(inputs, (input) => input.kind)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, list]) => makeRow(kind, list, size));
}

function summary(row: Row): string {
  if (row.missing.length === row.cells.length)
    return counted(row.unranked, "input") + " of no rank";
  const parts = [
    row.missing.length > 0 && `missing: ${rankList(row.missing, 6)}`,
    row.failed.length > 0 && `not read: ${rankList(row.failed, 6)}`,
    row.unranked > 0 && `${count(row.unranked)} of no rank`,
  ];
  if (row.missing.length + row.failed.length === 0) parts.unshift("all ranks");
  return parts.filter(Boolean).join("; ");
}

function hasHoles(row: Row): boolean {
  return row.missing.length < row.cells.length && row.missing.length + row.failed.length > 0;
}

type Pick = (filter: string) => void;

function Cells({ row, pick }: { row: Row; pick: Pick }) {
  return (
    <>
      {row.cells.map((cell, rank) => {
        const what =
          cell.state === "none" ? "nothing" : `${counted(cell.count, "input")}, ${cell.state}`;
        const label = `rank ${rank}, ${inputKind(row.kind)}: ${what}`;
        return (
          <td key={rank}>
            {cell.state === "none" ? (
              <span class="cell none" title={label} role="img" aria-label={label} />
            ) : (
              <button
                class={`cell ${cell.state}`}
                title={label}
                aria-label={label}
                onClick={() => pick(`rank:${rank} kind:${row.kind}`)}
              >
                {cell.count > 1 ? cell.count : ""}
              </button>
            )}
          </td>
        );
      })}
    </>
  );
}

const perLine = 128;
const step = 7;

// Squares of all ranks for which `wanted` holds, as one path.
function squares(row: Row, wanted: (state: string) => boolean): string {
  let path = "";
  row.cells.forEach((cell, rank) => {
    if (wanted(cell.state))
      path += `M${(rank % perLine) * step} ${Math.floor(rank / perLine) * step}h5v5h-5z`;
  });
  return path;
}

function Drawing({ row, pick }: { row: Row; pick: Pick }) {
  const width = Math.min(row.cells.length, perLine) * step;
  const height = Math.ceil(row.cells.length / perLine) * step;
  const choose = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const x = Math.floor((((event.clientX - box.left) / box.width) * width) / step);
    const y = Math.floor((((event.clientY - box.top) / box.height) * height) / step);
    const rank = y * perLine + x;
    if (row.cells[rank]) pick(`rank:${rank} kind:${row.kind}`);
  };
  return (
    <svg
      class="rank-drawing"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${inputKind(row.kind)}: ${summary(row)}`}
      onClick={choose}
    >
      <path class="imported" d={squares(row, (state) => state === "imported")} />
      <path class="recognised" d={squares(row, (state) => state === "recognised")} />
      <path class="failed" d={squares(row, (state) => state === "failed" || state === "skipped")} />
      <path class="none" d={squares(row, (state) => state === "none")} />
    </svg>
  );
}

const legend: [state: string, words: string][] = [
  ["imported", "imported"],
  ["recognised", "recognised, no reader in this version"],
  ["failed", "failed or skipped"],
  ["none", "no file"],
];

export function Legend() {
  const items = legend.map(([id, words]) => ({ id, mark: <i class={`cell ${id}`} />, words }));
  return <Signs items={items} isQuiet />;
}

function Grid({
  rows,
  size,
  label,
  pick,
}: {
  rows: Row[];
  size: number;
  label: string;
  pick: Pick;
}) {
  const drawn = size > mostButtons;
  const named = rows.some((row) => row.missing.length < size);
  return (
    <div class="matrix-box">
      <table class="matrix" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">kind</th>
            {drawn || !named ? (
              <th scope="col">{named && `ranks 0\u2013${size - 1}`}</th>
            ) : (
              rows[0]?.cells.map((_, rank) => (
                <th scope="col" key={rank}>
                  {rank}
                </th>
              ))
            )}
            <th scope="col" class="words">
              ranks
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.kind}>
              <th scope="row">
                <button class="plain" onClick={() => pick(`kind:${row.kind}`)}>
                  {inputKind(row.kind)}
                </button>
              </th>
              {!named ? (
                <td />
              ) : row.missing.length === size ? (
                <td colSpan={drawn ? 1 : size} />
              ) : drawn ? (
                <td>
                  <Drawing row={row} pick={pick} />
                </td>
              ) : (
                <Cells row={row} pick={pick} />
              )}
              <td class={`words${hasHoles(row) ? " holes" : ""}`}>{summary(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Matrix({ job, inputs, pick }: { job: Job; inputs: Input[]; pick: Pick }) {
  const seen = job.ranks.reduce((most, rank) => Math.max(most, rank + 1), 0);
  const size = Math.min(mostRanks, Math.max(job.world_size ?? 0, seen));
  const rows = useMemo(() => makeRows(inputs, size), [inputs, size]);
  if (rows.length === 0) return <p class="empty">No input of this job.</p>;
  return (
    <Grid
      rows={rows}
      size={size}
      label={`Kinds of input by rank, job ${job.name || job.job}`}
      pick={pick}
    />
  );
}
