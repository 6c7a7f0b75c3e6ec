// Roofline: how far each op and shape is from what the device could do, and what reaching it would save.
import { useMemo } from "preact/hooks";
import { Select } from "../parts/choices";
import { barColumn, numberColumn, textColumn } from "../parts/columns";
import { count, counted, duration, shareText, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Listing, Section, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Legend, Numbers, Term, type Fact } from "../parts/marks";
import { median, most, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import { profileNeeds, recordProfile, withProfile } from "../profile/data";
import { dotsOf, roofsOf, sumShapes, type ShapeSum } from "../profile/roofline";
import { boundWords, figure, RooflineChart } from "../profile/roofline_chart";
import { meaning, type Tables, type Who } from "../run/tables";
import { param, setParams } from "../shell/route";
import type { View } from "../view";

const id = "profile_roofline";

// The rank in the address; null: all of them.
function rankInAddress(): number | null {
  const text = param("rank");
  return text === null || !/^\d+$/.test(text) ? null : Number(text);
}

const isOfRank = (rank: number | null) => (row: Who) => rank === null || row.rank === rank;

function RankChoice({ tables, rank }: { tables: Tables; rank: number | null }) {
  const ranks = [...new Set(tables.rows("profile_roofline").map((row) => row.rank))];
  const known = ranks.filter((one): one is number => one !== undefined).sort((a, b) => a - b);
  if (known.length < 2) return null;
  return (
    <Select
      name="Rank"
      value={rank ?? ""}
      options={[["", `all ${known.length} added up`], ...known.map((one): [number, string] => [one, `rank ${one}`])]}
      onChoose={(value) => setParams(id, { rank: value || null, at: null })}
    />
  );
}

interface PartProps {
  tables: Tables;
  rank: number | null;
  shapes: ShapeSum[];
}

function facts({ tables, rank, shapes }: PartProps): Fact[] {
  const rows = tables.rows("profile_mfu").filter(isOfRank(rank));
  const known = rows.filter((row) => row.mfu !== undefined);
  const busy = sum(shapes, (one) => one.busy_ns);
  const modelled = sum(shapes.filter((one) => one.hasModel), (one) => one.busy_ns);
  const save = sum(shapes, (one) => one.save_ns);
  const mfu = median(known.map((row) => row.mfu ?? 0));
  const device = [...new Set(rows.map((row) => row.device_name).filter(Boolean))].join(", ");
  return [
    ...(known.length > 0
      ? [fact(shareText(mfu), "MFU", known.length > 1 ? `median of ${counted(known.length, "rank")}` : device,
          meaning("profile_mfu", "mfu"))]
      : []),
    fact(duration(busy), "of GPU time", `${shareText(busy > 0 ? modelled / busy : 0)} in ops with a model`,
      "Time in which work that ops launched ran on devices, all chosen ranks"),
    fact(count(shapes.length), shapes.length === 1 ? "shape" : "shapes", device || "device not known", "Ops with the same arguments are one"),
    fact(duration(save), "could be saved", `${shareText(busy > 0 ? save / busy : 0)} of the GPU time`,
      meaning("profile_roofline", "save_ns")),
  ];
}

const bounds: [id: string, words: string, meaning: string][] = [
  ["compute", "compute bound", "Its roof is the peak of computing"],
  ["memory", "memory bound", "Its roof is the peak of memory"],
  ["launch", "launch bound", "Its kernels are so short that starting them takes longer than the roof"],
  ["transfer", "transfer", "Between host and device, or between devices"],
  ["unknown", "device not known", "The device has no peaks in debrief's data; --peak gives them"],
];

function BoundLegend({ shapes }: { shapes: ShapeSum[] }) {
  const used = bounds.filter(([one]) => shapes.some((shape) => (shape.bound || "unknown") === one));
  const items = used.map(([one, words, title]) => ({ id: one, mark: <i class={`bound bound-${one}`} />, words, title }));
  return <Legend label="Colours of the dots" items={items} before={<span>area of a dot: its GPU time</span>} />;
}

function Plot({ tables, rank, shapes }: PartProps) {
  const roofs = useMemo(
    () => roofsOf(tables, tables.rows("profile_roofline").filter(isOfRank(rank))),
    [tables, rank],
  );
  const dots = useMemo(() => dotsOf(shapes), [shapes]);
  const at = param("at");
  const missing = shapes.length - dots.length;
  const time = sum(shapes, (one) => one.busy_ns) - sum(dots, (dot) => dot.shape.busy_ns);
  const words = `${counted(missing, "shape")} without a model or without floating point operations (${duration(time)}) ${missing === 1 ? "is" : "are"} in the table only.`;
  return (
    <Section title="What ops reach, and what the device allows" side={<BoundLegend shapes={dots.map((dot) => dot.shape)} />}>
      {dots.length === 0 ? (
        <p class="empty">
          No op has known shapes and floating point operations: record with record_shapes=True.
        </p>
      ) : (
        <RooflineChart
          dots={dots}
          roofs={roofs}
          selected={at}
          onSelect={(shape) => setParams(id, { at: shape.key === at ? null : shape.key })}
        />
      )}
      {dots.length > 0 && roofs.length === 0 && (
        <p class="quiet">
          The peaks of this device are not known, so there are no roofs: <code>debrief profile roofline --peak</code> sets them.
        </p>
      )}
      {missing > 0 && dots.length > 0 && <p class="quiet left-out">{words}</p>}
    </Section>
  );
}

const rate = (value: number) => (value > 0 && value < 0.001 ? "<0.001" : figure(value));

function columnsOfShapes(all: ShapeSum[]): Column<ShapeSum>[] {
  const told = (column: Parameters<typeof meaning<"profile_roofline">>[1]) => meaning("profile_roofline", column);
  const total = Math.max(1, sum(all, (one) => one.busy_ns));
  return [
    textColumn("op", "op", 170, (one) => one.op, { opens: true }),
    textColumn("shapes", "shapes", 0, (one) => one.shapes, told("shapes")),
    numberColumn("count", "calls", 64, (one) => one.count, count, told("count")),
    barColumn("busy", "GPU time", 170, (one) => one.busy_ns, most(all, (one) => one.busy_ns), showTime, told("busy_ns"), true),
    numberColumn("share", "share", 70, (one) => one.busy_ns / total, shareText, told("share")),
    numberColumn("tflops", "TFLOP/s", 80, (one) => one.tflops, rate, told("tflops")),
    numberColumn("gbps", "GB/s", 76, (one) => one.gbps, rate, told("gbps")),
    numberColumn("efficiency", "of roof", 76, (one) => one.efficiency, shareText, told("efficiency")),
    textColumn("bound", "bound", 80, (one) => one.bound, told("bound")),
    numberColumn("save", "could save", 92, (one) => one.save_ns || undefined, showTime, told("save_ns")),
  ];
}

function Shape({ shape }: { shape: ShapeSum }) {
  return (
    <aside class="panel compile-detail" aria-label="Selected shape">
      <h2>
        <bdi>{shape.op}</bdi> <span class="quiet">{shape.category}</span>
      </h2>
      <dl class="column-words">
        <Term name="shapes"><code>{shape.shapes}</code></Term>
        <Term name="types"><code>{shape.dtypes}</code></Term>
        <Term name="a call">
          {shape.flops !== undefined && `${figure(shape.flops / 1e9)} GFLOP, `}
          {shape.bytes !== undefined && `${figure(shape.bytes / 1e6)} MB, `}
          {showTime(shape.busy_ns / Math.max(1, shape.count))}
        </Term>
        <Term name="roof">
          {shape.efficiency === undefined
            ? "not known"
            : `${shareText(shape.efficiency)} of it, ${boundWords[shape.bound] ?? shape.bound}${shape.precision && `, peak of ${shape.precision}`}`}
        </Term>
      </dl>
    </aside>
  );
}

const fields = { op: (one: ShapeSum) => one.op, bound: (one: ShapeSum) => one.bound };
const wordsOf = (one: ShapeSum) => `${one.op} ${one.shapes} ${one.category}`;

function RooflineView({ tables }: TableProps) {
  const rank = rankInAddress();
  const shapes = useMemo(
    () => sumShapes(tables.rows("profile_roofline").filter(isOfRank(rank))),
    [tables, rank],
  );
  const part = { tables, rank, shapes };
  const columns = useMemo(() => columnsOfShapes(shapes), [shapes]);
  return (
    <>
      <div class="profile-head">
        <h1>Roofline</h1>
        <RankChoice tables={tables} rank={rank} />
      </div>
      <Numbers label="Against the roof" facts={facts(part)} partial={tables.leftOut("profile_roofline") > 0} />
      <Plot {...part} />
      <Listing
        view={id}
        title="Ops by shape"
        label="Shapes"
        all={shapes}
        rows={useFiltered(shapes, fields, wordsOf)}
        columns={columns}
        idOf={(one) => one.key}
        noun="shape"
        filter={{ label: "Filter shapes", hint: "name, bound:memory" }}
        empty="No op launched work."
        unmatched="No shape matches the filter."
        below={<LeftOutNote tables={tables} names={["profile_roofline"]} inStore />}
        detail={(shape) => <Shape shape={shape} />}
      />
    </>
  );
}

export const view: View = {
  id,
  title: "Roofline",
  section: "Profile",
  order: 73,
  needs: profileNeeds(
    ["profile_roofline"],
    "No op with shapes is in these profiles.",
    `The roofline needs record_shapes=True. ${recordProfile}`,
  ),
  component: withProfile(RooflineView),
};
