// What held memory: by op at the peak of a profile, by stack at a moment of a snapshot, and what ops allocated.
import { useMemo } from "preact/hooks";
import { chosen, Tabs } from "../parts/choices";
import { columnsOf } from "../parts/columns";
import { memory, shareText } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Section, Sheet, SortedTable } from "../parts/listing";
import { FrameList } from "../parts/marks";
import { largestFirst } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row, Tables } from "../run/tables";
import { setParams, type Route } from "../shell/route";
import { keyOfText } from "./data";

const id = "profile_memory";

type AliveOp = Row<"profile_memory_holder">;

function aliveColumns(most: number): Column<AliveOp>[] {
  const of = columnsOf("profile_memory_holder");
  const op = (row: AliveOp) =>
    row.op ?? (row.source === "earlier" ? "allocated before the recording began" : "outside of all ops");
  return [
    of.text("op", "op", 0, { cell: op }),
    of.bar("bytes", "bytes", 220, most, memory),
    of.count("share_pct", "share", 76, { cell: (row) => shareText((row.share_pct ?? 0) / 100) }),
    of.count("allocations", "count", 76),
    of.text("source", "source", 90),
    of.text("module", "module", 320),
  ];
}

export function AliveOps({ rows, tables }: { rows: AliveOp[]; tables: Tables }) {
  const sorted = useMemo(() => largestFirst(rows, (row) => row.bytes), [rows]);
  return (
    <Sheet
      title="What was alive at the peak"
      label="Alive at the peak"
      rows={sorted}
      columns={aliveColumns(sorted[0]?.bytes ?? 0)}
    >
      <LeftOutNote tables={tables} names={["profile_memory_holder"]} inStore />
    </Sheet>
  );
}

type MemoryOp = Row<"profile_memory_op">;

function opColumns(most: number): Column<MemoryOp>[] {
  const of = columnsOf("profile_memory_op");
  return [
    of.text("op", "op", 0, { cell: (row) => row.op ?? "outside of all ops" }),
    of.bar("allocated_bytes", "allocated", 220, most, memory),
    of.memory("freed_bytes", "freed", 120),
    of.memory("net_bytes", "net", 120),
    of.count("allocations", "allocations", 100),
    of.count("frees", "frees", 90),
  ];
}

export function MemoryOps({ rows, tables }: { rows: MemoryOp[]; tables: Tables }) {
  const sorted = useMemo(() => largestFirst(rows, (row) => row.allocated_bytes), [rows]);
  return (
    <Sheet
      title="What ops allocated and freed"
      label="Memory by op"
      rows={sorted}
      columns={opColumns(sorted[0]?.allocated_bytes ?? 0)}
    >
      <LeftOutNote tables={tables} names={["profile_memory_op"]} inStore />
    </Sheet>
  );
}

type Holder = Row<"memory_holder">;

const moments = [
  { id: "peak", title: "at the peak" },
  { id: "oom", title: "when memory ran out" },
  { id: "end", title: "at the end" },
];

const keyOf = (row: Holder) =>
  keyOfText([row.moment, row.pool, row.frame, ...(row.stack ?? [])].join("\n"));

function holderColumns(most: number): Column<Holder & { key: string }>[] {
  const of = columnsOf<"memory_holder", Holder & { key: string }>("memory_holder");
  return [
    of.text("frame", "allocated at", 0, {
      opens: true,
      cell: (row) => row.frame ?? "no stack was recorded",
    }),
    of.bar("bytes", "bytes", 220, most, memory),
    of.count("share", "share", 76, { cell: (row) => shareText(row.share ?? 0) }),
    of.count("count", "count", 80),
  ];
}

export function Holders({ rows, tables, route }: { rows: Holder[]; tables: Tables; route: Route }) {
  const tabs = moments.filter((one) => rows.some((row) => row.moment === one.id));
  const tab = chosen(tabs, route.params.get("moment"));
  const shown = useMemo(() => {
    const keyed = rows.filter((row) => row.moment === tab).map((row) => ({ ...row, key: keyOf(row) }));
    return largestFirst(keyed, (row) => row.bytes);
  }, [rows, tab]);
  const at = route.params.get("at");
  const selected = shown.find((row) => row.key === at);
  if (rows.length === 0) return null;
  return (
    <Section
      title="What held the memory"
      number={shown.length}
      side={<Tabs view={id} param="moment" tabs={tabs} current={tab} label="Moment" forget={{ at: null }} />}
    >
      <SortedTable
        view={id}
        label="Holders of memory"
        rows={shown}
        columns={holderColumns(shown[0]?.bytes ?? 0)}
        id={(row) => row.key}
        selected={at}
        onSelect={(one) => setParams(id, { at: one === at ? null : one })}
        empty="None of its rows are on this page."
      />
      {selected && (
        <aside class="panel" aria-label="Selected holder">
          <h3>Stack, innermost first</h3>
          {selected.stack && selected.stack.length > 0 ? (
            <FrameList frames={selected.stack.slice(0, 60)} />
          ) : (
            <p class="quiet">
              No stack was recorded: call torch.cuda.memory._record_memory_history() before it is allocated.
            </p>
          )}
        </aside>
      )}
      <LeftOutNote tables={tables} names={["memory_holder"]} inStore />
    </Section>
  );
}
