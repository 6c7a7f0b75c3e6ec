// What ranks compiled differently: time of each, the first difference, what only some compiled, and when
// some compiled while the others waited.
import { useMemo } from "preact/hooks";
import {type Compile, type FirstDifference, type Overlap, type RankOnly, type RankTime, compileNeeds, withCompile, type CompileProps } from "../compile/data";
import {
  Bar,
  LeftOut,
  Rows,
  Section,
  numberColumn,
  percent,
  placeColumn,
  seconds,
  textColumn,
  whoColumns,
} from "../compile/parts";
import type { Run } from "../run/data";
import { count, rankList, ranksInWords } from "../parts/format";
import type { Column } from "../parts/table";
import type { View } from "../view";

interface Props {
  run: Run;
  compile: Compile;
}

const kindWords: Record<string, string> = {
  extra: "compiled something that the others did not",
  missing: "did not compile what the others did",
  graph: "compiled another graph",
};

function Difference({ row, several }: { row: FirstDifference; several: boolean }) {
  return (
    <li>
      <p>
        <strong>
          Rank {row.rank_b} {kindWords[row.kind ?? ""] ?? "differs"}
        </strong>
        : {row.name} <span class="quiet">in {row.compile_id ?? "no compilation"}</span>
      </p>
      {row.difference && <pre tabIndex={0}>{row.difference}</pre>}
      <p class="quiet">
        Compared with rank {row.rank_a}
        {several && row.attempt !== undefined && `, attempt ${row.attempt}`}
      </p>
    </li>
  );
}

const mostDifferences = 16;

function Differences({ compile }: Props) {
  const rows = compile.rows("compile_first_difference");
  return (
    <Section title="First difference of each rank" number={rows.length}>
      {rows.length === 0 ? (
        <p class="empty">As far as the logs tell, all ranks compiled the same graphs.</p>
      ) : (
        <div class="panel">
          <ul class="reasons">
            {rows.slice(0, mostDifferences).map((row, i) => (
              <Difference
                key={i}
                row={row}
                several={new Set(rows.map((one) => one.attempt)).size > 1}
              />
            ))}
          </ul>
          {rows.length > mostDifferences && (
            <p class="quiet">
              and {count(rows.length - mostDifferences)} more:{" "}
              {ranksInWords(rows.slice(mostDifferences).map((row) => row.rank_b ?? -1))}
            </p>
          )}
        </div>
      )}
      <LeftOut compile={compile} names={["compile_first_difference"]} />
    </Section>
  );
}

function Times({ run, compile }: Props) {
  const rows = compile.rows("compile_rank_time");
  const columns = useMemo((): Column<RankTime>[] => {
    const longest = rows.reduce((most, row) => Math.max(most, row.seconds ?? 0), 0);
    const who = whoColumns(run, rows);
    return [
      ...who,
      numberColumn("compilations", "compilations", 110, (row) => row.compilations),
      {
        ...numberColumn<RankTime>("seconds", "time", 0, (row) => row.seconds),
        cell: (row) => (
          <Bar
            share={longest > 0 ? (row.seconds ?? 0) / longest : 0}
            text={seconds(row.seconds) || "not told"}
          />
        ),
      },
      numberColumn("share", "of the slowest", 120, (row) => row.share_of_slowest, percent),
      numberColumn("alone", "alone", 100, (row) => row.alone_s, seconds, {
        definition: "Time in which it compiled and no other rank did",
      }),
      numberColumn("idle", "others waited", 120, (row) => row.while_others_idle_s, seconds, {
        definition: "Time in which it compiled and at least one other rank did not",
      }),
    ];
  }, [run, rows]);
  return (
    <Section title="Time by rank" number={rows.length}>
      <Rows
        label="Time by rank"
        rows={rows}
        columns={columns}
        empty="The logs tell no times of compilations."
      />
      <LeftOut compile={compile} names={["compile_rank_time"]} />
    </Section>
  );
}

const onlyColumns: Column<RankOnly>[] = [
  textColumn("function", "function", 200, (row) => row.function ?? "not told"),
  placeColumn("file", 0, (row) => [row.file, row.line]),
  numberColumn(
    "nth",
    "compilation",
    110,
    (row) => row.nth,
    (nth) => `no. ${nth + 1}`,
    {
      definition: "Which compilation of this function, counted from 1",
    },
  ),
  textColumn("id", "id", 70, (row) => row.compile_id),
  textColumn("ranks", "ranks that have it", 170, (row) => rankList(row.ranks ?? [], 8)),
  textColumn("missing", "ranks without it", 170, (row) => rankList(row.missing ?? [], 8)),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

const overlapColumns: Column<Overlap>[] = [
  textColumn("ranks", "ranks that compiled", 0, (row) => rankList(row.ranks ?? [], 12)),
  numberColumn("waiting", "ranks that did not", 150, (row) => row.waiting),
  numberColumn("intervals", "times", 90, (row) => row.intervals),
  numberColumn("seconds", "time in all", 110, (row) => row.seconds, seconds),
];

function Ranks({ run, compile }: CompileProps) {
  const only = compile.rows("compile_rank_only");
  const overlaps = compile.rows("compile_overlap");
  return (
    <>
      <h1>Compilation by rank</h1>
      <Differences run={run} compile={compile} />
      <Times run={run} compile={compile} />
      <Section title="Compiled by some ranks only" number={only.length}>
        <Rows
          label="Compiled by some ranks only"
          rows={only}
          columns={onlyColumns}
          empty="Every function was compiled equally often on all ranks."
        />
        <LeftOut compile={compile} names={["compile_rank_only"]} />
      </Section>
      <Section title="Some compiled while others did not" number={overlaps.length}>
        <Rows
          label="Some compiled while others did not"
          rows={overlaps}
          columns={overlapColumns}
          empty="The logs have no times that tell."
        />
      </Section>
    </>
  );
}

export const view: View = {
  id: "compile_ranks",
  title: "Ranks",
  order: 34,
  needs: compileNeeds(["compile_rank_time"]),
  component: withCompile(Ranks),
};
