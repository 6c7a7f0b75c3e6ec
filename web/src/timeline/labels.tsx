// Names of processes and lanes beside the canvas, as elements: they can be pressed, read aloud, and headers stay
// in sight while their lanes pass. Only those near the part in sight are there.
import { blocksIn, type Block } from "./layout";
import type { Scene } from "./scene";
import { gutter, useScene } from "./screen";
import { counted, duration } from "../parts/format";

const spare = 400; // px above and below

function shiftWords(block: Block, isAligned: boolean): string {
  const { offset } = block.process.shift;
  if (offset === 0) return "";
  const words = `clock ${duration(Math.abs(offset))} ${offset > 0 ? "behind" : "ahead"}`;
  return isAligned ? `${words}, corrected` : words;
}

function Head({ scene, block }: { scene: Scene; block: Block }) {
  const { process, isOpen } = block;
  const state = scene.store.stateOf(process);
  const note = [
    counted(process.slices, "slice"),
    shiftWords(block, scene.isAligned),
    state.state === "failed" ? `cannot be read: ${state.reason}` : "",
  ];
  return (
    <div class="tl-head">
      <button
        class="plain"
        aria-expanded={isOpen}
        title={process.title}
        onClick={() => scene.toggle(process)}
      >
        <span class="arrow" aria-hidden="true" />
        <bdi class="name">{process.title}</bdi>
        {isOpen && <span class="quiet">{note.filter(Boolean).join(", ")}</span>}
      </button>
    </div>
  );
}

// Beside a narrow drawing there is no room for the rank, which the head above has.
function laneName(name: string): string {
  return gutter() < 150 ? name.replace(/^rank \d+ \u00b7 /, "") : name;
}

function BlockLabels({
  scene,
  block,
  isBlamed,
}: {
  scene: Scene;
  block: Block;
  isBlamed: boolean;
}) {
  const { top, height } = scene;
  const lanes = block.lanes.filter(
    (box) => box.y + box.height > top - 2 * spare && box.y < top + height + 2 * spare,
  );
  return (
    <div
      class={`tl-block${block.isOpen ? " open" : ""}${isBlamed ? " blamed" : ""}`}
      style={{ top: `${block.y}px`, height: `${block.height}px` }}
      title={isBlamed ? "A finding blames this rank" : undefined}
    >
      <Head scene={scene} block={block} />
      {lanes.map((box) => (
        <div
          key={box.lane.id}
          class="tl-lane"
          title={`${box.lane.name}: ${counted(box.lane.slices, "slice")}`}
          style={{ top: `${box.y - block.y}px`, height: `${box.height + 6}px` }}
        >
          <span>{laneName(box.lane.name)}</span>
        </div>
      ))}
    </div>
  );
}

export function Labels({ scene, blamed }: { scene: Scene; blamed: Set<number> }) {
  const layout = useScene(scene, (one) => one.layout);
  const step = useScene(scene, (one) => Math.floor(one.top / spare));
  useScene(scene, (one) => one.isAligned);
  useScene(scene, (one) => one.height);
  useScene(scene, (one) => one.failures());
  const top = step * spare;
  return (
    <>
      {blocksIn(layout, top - spare, top + scene.height + 2 * spare).map((block) => (
        <BlockLabels
          key={block.process.id}
          scene={scene}
          block={block}
          isBlamed={block.process.rank !== null && blamed.has(block.process.rank)}
        />
      ))}
    </>
  );
}
