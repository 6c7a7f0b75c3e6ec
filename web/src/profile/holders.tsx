// What held memory: by op at the peak of a profile, by stack at a moment of a snapshot, and what ops allocated.
import { useMemo } from "preact/hooks";
import { chosen, Rows, Section, Tabs } from "../compile/parts";
import { Table, type Column } from "../parts/table";
import { setParams, type Route } from "../shell/route";
import { keyOfText, type AliveOp, type Holder, type MemoryOp, type Profile } from "./data";
import { columnsOf, LeftOut, shareText, showBytes } from "./parts";

const id = "profile_memory";

export function AliveOps({ rows, profile }: { rows: AliveOp[]; profile: Profile }) {
  const sorted = useMemo(() => [...rows].sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)), [rows]);
  const columns = useMemo((): Column<AliveOp>[] => {
    const of = columnsOf("profile_memory_holder");
    return [
      of.bar("bytes", "bytes", 220, sorted[0]?.bytes ?? 0, showBytes),
      of.count("share_pct", "share", 76, { cell: (row) => shareText((row.share_pct ?? 0) / 100) }),
      of.count("allocations", "count", 76),
      of.text("source", "source", 90),
      of.text("module", "module", 320),
      of.text("op", "op", 0, {
        cell: (row) =>
          row.op ?? (row.source === "earlier" ? "allocated before the recording began" : "outside of all ops"),
      }),
    ];
  }, [sorted]);
  if (rows.length === 0) return null;
  return (
    <Section title="What was alive at the peak" number={rows.length}>
      <Rows label="Alive at the peak" rows={sorted} columns={columns} empty="" />
      <LeftOut profile={profile} names={["profile_memory_holder"]} />
    </Section>
  );
}

export function MemoryOps({ rows, profile }: { rows: MemoryOp[]; profile: Profile }) {
  const sorted = useMemo(
    () => [...rows].sort((a, b) => (b.allocated_bytes ?? 0) - (a.allocated_bytes ?? 0)),
    [rows],
  );
  const columns = useMemo((): Column<MemoryOp>[] => {
    const of = columnsOf("profile_memory_op");
    return [
      of.text("op", "op", 0, { cell: (row) => row.op ?? "outside of all ops" }),
      of.bar("allocated_bytes", "allocated", 220, sorted[0]?.allocated_bytes ?? 0, showBytes),
      of.bytes("freed_bytes", "freed", 100),
      of.bytes("net_bytes", "net", 100),
      of.count("allocations", "allocations", 100),
      of.count("frees", "frees", 90),
    ];
  }, [sorted]);
  if (rows.length === 0) return null;
  return (
    <Section title="What ops allocated and freed" number={rows.length}>
      <Rows label="Memory by op" rows={sorted} columns={columns} empty="" />
      <LeftOut profile={profile} names={["profile_memory_op"]} />
    </Section>
  );
}

const moments = [
  { id: "peak", title: "at the peak" },
  { id: "oom", title: "when memory ran out" },
  { id: "end", title: "at the end" },
];

const keyOf = (row: Holder) =>
  keyOfText([row.moment, row.pool, row.frame, ...(row.stack ?? [])].join("\n"));

export function Holders({ rows, profile, route }: { rows: Holder[]; profile: Profile; route: Route }) {
  const tabs = moments.filter((one) => rows.some((row) => row.moment === one.id));
  const tab = chosen(tabs, route.params.get("moment"));
  const shown = useMemo(
    () =>
      rows
        .filter((row) => row.moment === tab)
        .map((row) => ({ ...row, key: keyOf(row) }))
        .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)),
    [rows, tab],
  );
  const columns = useMemo((): Column<Holder & { key: string }>[] => {
    const of = columnsOf("memory_holder");
    return [
      of.text("frame", "allocated at", 0, {
        opens: true,
        cell: (row) => row.frame ?? "no stack was recorded",
      }) as Column<Holder>,
      of.bar("bytes", "bytes", 220, shown[0]?.bytes ?? 0, showBytes),
      of.count("share", "share", 76, { cell: (row) => shareText(row.share ?? 0) }),
      of.count("count", "count", 80),
    ];
  }, [shown]);
  const at = route.params.get("at");
  const selected = shown.find((row) => row.key === at);
  if (rows.length === 0) return null;
  return (
    <Section
      title="What held the memory"
      number={shown.length}
      side={<Tabs view={id} param="moment" tabs={tabs} current={tab} label="Moment" forget={{ at: null }} />}
    >
      <Table
        label="Holders of memory"
        rows={shown}
        columns={columns}
        id={(row) => row.key}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams(id, { sort }, true)}
        selected={at}
        onSelect={(one) => setParams(id, { at: one === at ? null : one })}
        empty="None of its rows are on this page."
      />
      {selected && (
        <aside class="panel" aria-label="Selected holder">
          <h3>Stack, innermost first</h3>
          {selected.stack && selected.stack.length > 0 ? (
            <ol>
              {selected.stack.slice(0, 60).map((frame, i) => (
                <li key={i}>
                  <code>{frame}</code>
                </li>
              ))}
            </ol>
          ) : (
            <p class="quiet">
              No stack was recorded: call torch.cuda.memory._record_memory_history() before it is allocated.
            </p>
          )}
        </aside>
      )}
      <LeftOut profile={profile} names={["memory_holder"]} />
    </Section>
  );
}
