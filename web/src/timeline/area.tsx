// The chosen area as numbers: by kind, and by name in a table.
import { PanelButtons } from "./details";
import { families, familyOf, kindWords } from "./kinds";
import type { Scene } from "./scene";
import { useScene } from "./screen";
import type { NameSum } from "./summary";
import { lengthOf } from "./viewport";
import { numberColumn, textColumn } from "../parts/columns";
import { counted, duration, percent } from "../parts/format";
import { Rows } from "../parts/listing";
import type { Column } from "../parts/table";

const words = new Map(families);

function columns(area: number): Column<NameSum>[] {
  const time = (id: string, title: string, value: (row: NameSum) => number, definition: string) =>
    numberColumn<NameSum>(id, title, 96, value, duration, { definition });
  return [
    textColumn<NameSum>("name", "name", 0, (row) => row.name, {
      cell: (row) => (
        <>
          <i class={`tl-swatch ${familyOf(row.kind)}`} /> <bdi>{row.name}</bdi>
        </>
      ),
    }),
    textColumn<NameSum>("kind", "what", 170, (row) => kindWords(row.kind)),
    numberColumn<NameSum>("count", "count", 80, (row) => row.count),
    time("total", "total", (row) => row.total, "Time inside of the area, all of them together"),
    numberColumn<NameSum>("share", "of area", 80, (row) => row.total / area, percent, {
      definition: "Total by the length of the area; above 100 % where several ran at once",
    }),
    time("mean", "average", (row) => row.total / row.count, "Total by count"),
    time("least", "min", (row) => row.least, "The shortest part inside of the area"),
    time("most", "max", (row) => row.most, "The longest part inside of the area"),
  ];
}

export function AreaPanel({ scene }: { scene: Scene }) {
  const area = useScene(scene, (one) => one.area);
  const summary = useScene(scene, (one) => one.summary);
  if (!area) return null;
  return (
    <section class="tl-panel" aria-label="Selected area">
      <div class="panel-head">
        <h2>
          {duration(lengthOf(area))} of {counted(area.lanes.length, "lane")}
        </h2>
        <PanelButtons scene={scene} />
      </div>
      {summary && (
        <>
          <div class="tl-totals" role="status">
            <span title="Share of the time in which a lane has at least one slice, mean of the lanes">
              <b>{percent(summary.busy)}</b> busy
            </span>
            <span>{counted(summary.slices, "slice")}</span>
            {summary.families.map((one) => (
              <span key={one.family}>
                <i class={`tl-swatch ${one.family}`} /> {words.get(one.family)}{" "}
                {duration(one.total)}
              </span>
            ))}
            {summary.unread > 0 && (
              <span class="quiet">{counted(summary.unread, "lane")} not read yet</span>
            )}
          </div>
          <Rows
            label="Slices of the area by name"
            rows={summary.names}
            columns={columns(lengthOf(area))}
            empty="No slices in this area."
          />
        </>
      )}
    </section>
  );
}
