// Mouse, wheel and touch on the timeline.
//
//   drag                     moves in time, and up and down     shift + drag, or in choosing mode: an area
//   ctrl + wheel, pinch      zooms where the pointer is         shift + wheel, sideways: moves in time
//   click                    selects a slice, or unfolds        on the ruler: drag chooses a time of all lanes
import { spotAt } from "./layout";
import type { Scene } from "./scene";
import { gutter, type Elements } from "./screen";
import { lengthOf, timeAt } from "./viewport";

interface Point {
  x: number;
  y: number;
}

const dragFrom = 4; // px; less is a click

function pixelsOf(event: WheelEvent, delta: number): number {
  return event.deltaMode === 1 ? delta * 16 : event.deltaMode === 2 ? delta * 400 : delta;
}

function onWheel(scene: Scene, event: WheelEvent, at: Point): void {
  const [dx, dy] = [pixelsOf(event, event.deltaX), pixelsOf(event, event.deltaY)];
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    scene.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) * 0.003), at.x);
    return;
  }
  const sideways = event.shiftKey ? dx || dy : Math.abs(dx) > Math.abs(dy) ? dx : 0;
  if (sideways === 0) return; // the box scrolls
  event.preventDefault();
  scene.pan(sideways / scene.width);
}

// What one press does until it ends.
interface Press {
  start: Point;
  last: Point;
  isDrag: boolean;
  isArea: boolean;
}

class Pointers {
  private press: Press | null = null;
  private down = new Map<number, Point>();
  private spread = 0;

  constructor(
    private scene: Scene,
    private box: HTMLElement,
  ) {}

  pointOf(event: MouseEvent): Point {
    const at = this.box.getBoundingClientRect();
    return { x: event.clientX - at.left - gutter(), y: event.clientY - at.top };
  }

  begin(event: PointerEvent): void {
    const isLabel = event.target instanceof Element && event.target.closest(".tl-head, .tl-lane");
    if (isLabel || event.button !== 0) return;
    const start = this.pointOf(event);
    this.down.set(event.pointerId, start);
    if (this.down.size === 2) this.spread = this.distance();
    const isArea = event.shiftKey || this.scene.isChoosing;
    this.press = { start, last: start, isDrag: false, isArea };
  }

  private distance(): number {
    const [a, b] = [...this.down.values()];
    return a && b ? Math.max(20, Math.abs(a.x - b.x)) : 0;
  }

  move(event: PointerEvent): void {
    const at = this.pointOf(event);
    this.scene.pointer = at.x >= 0 ? at.x : NaN;
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, at);
    if (this.down.size === 2) return this.pinch();
    const { press } = this;
    if (!press) return this.point(event, at);
    if (!press.isDrag && Math.hypot(at.x - press.start.x, at.y - press.start.y) < dragFrom) return;
    if (!press.isDrag) this.beginDrag(press, event.pointerId);
    if (press.isArea) this.drawArea(press, at);
    else this.pan(press, at);
    press.last = at;
  }

  private beginDrag(press: Press, pointer: number): void {
    press.isDrag = true;
    this.scene.point(null);
    this.box.setPointerCapture(pointer);
    this.box.classList.add("moving");
  }

  private pinch(): void {
    const distance = this.distance();
    const xs = [...this.down.values()].map((point) => point.x);
    this.scene.zoom(this.spread / distance, ((xs[0] ?? 0) + (xs[1] ?? 0)) / 2);
    this.spread = distance;
    this.press = null;
  }

  private point(event: PointerEvent, at: Point): void {
    const isLabel = event.target instanceof Element && event.target.closest(".tl-head, .tl-lane");
    this.scene.point(at.x < 0 || isLabel ? null : at);
  }

  private pan(press: Press, at: Point): void {
    this.scene.pan((press.last.x - at.x) / this.scene.width);
    this.box.scrollTop += press.last.y - at.y;
  }

  private drawArea(press: Press, at: Point): void {
    const { scene } = this;
    const sort = (a: number, b: number) => (a < b ? [a, b] : [b, a]) as [number, number];
    const [x0, x1] = sort(press.start.x, at.x);
    const [y0, y1] = sort(press.start.y + scene.top, at.y + scene.top);
    scene.drag = { x0: Math.max(0, x0), x1: Math.min(scene.width, x1), y0, y1 };
    scene.screen.schedule();
  }

  end(event: PointerEvent): void {
    const { press, scene } = this;
    this.down.delete(event.pointerId);
    this.press = null;
    this.box.classList.remove("moving");
    const drag = scene.drag;
    scene.drag = null;
    if (drag) return scene.chooseArea(drag.x0, drag.x1, [drag.y0, drag.y1]);
    if (press && !press.isDrag && press.start.x >= 0) this.click(press.start);
  }

  private click(at: Point): void {
    const { scene } = this;
    const place = scene.placeAt(at.x, at.y);
    const spot = spotAt(scene.layout, at.y + scene.top);
    if (place) scene.select(place, false);
    else if (spot && !spot.block.isOpen) scene.toggle(spot.block.process);
    else scene.clear();
  }

  cancel(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    this.press = null;
    this.scene.drag = null;
    this.box.classList.remove("moving");
    this.scene.screen.schedule();
  }
}

// Calls `during` with x of the pointer while it is pressed on a canvas of the strip, from the first on.
function onStrip(
  canvas: HTMLCanvasElement,
  during: (x: number, start: number) => void,
  after: (x: number, start: number) => void,
): void {
  let start = NaN;
  const xOf = (event: MouseEvent) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.onpointerdown = (event) => {
    start = xOf(event);
    canvas.setPointerCapture(event.pointerId);
    during(start, start);
  };
  canvas.onpointermove = (event) => {
    if (!Number.isNaN(start)) during(xOf(event), start);
  };
  canvas.onpointerup = (event) => {
    if (!Number.isNaN(start)) after(xOf(event), start);
    start = NaN;
  };
  canvas.onpointercancel = () => {
    start = NaN;
  };
}

function centre(scene: Scene, x: number): void {
  const at = timeAt({ ...scene.whole, width: scene.width }, x);
  const half = lengthOf(scene.span) / 2;
  scene.setSpan({ from: at - half, to: at + half });
}

function onRuler(scene: Scene, x: number, start: number): void {
  const [x0, x1] = [Math.max(0, Math.min(x, start)), Math.min(scene.width, Math.max(x, start))];
  scene.drag = x1 - x0 < dragFrom ? null : { x0, x1, y0: scene.top, y1: scene.top + scene.height };
  scene.screen.schedule();
}

function endRuler(scene: Scene): void {
  const { drag } = scene;
  scene.drag = null;
  if (drag) scene.chooseArea(drag.x0, drag.x1, null);
  else scene.clear();
}

export function listen(scene: Scene, { box, minimap, ruler }: Elements): () => void {
  const pointers = new Pointers(scene, box);
  const wheel = (event: WheelEvent) => onWheel(scene, event, pointers.pointOf(event));
  const strip = (event: WheelEvent) => onWheel(scene, event, pointers.pointOf(event));
  box.addEventListener("wheel", wheel, { passive: false });
  for (const canvas of [minimap, ruler])
    canvas.addEventListener("wheel", strip, { passive: false });
  box.onpointerdown = (event) => pointers.begin(event);
  box.onpointermove = (event) => pointers.move(event);
  box.onpointerup = (event) => pointers.end(event);
  box.onpointercancel = (event) => pointers.cancel(event);
  box.onpointerleave = () => {
    scene.pointer = NaN;
    scene.point(null);
  };
  box.onscroll = () => scene.setTop(box.scrollTop);
  onStrip(
    minimap,
    (x) => centre(scene, x),
    () => undefined,
  );
  onStrip(
    ruler,
    (x, start) => onRuler(scene, x, start),
    () => endRuler(scene),
  );
  return () => {
    box.removeEventListener("wheel", wheel);
    for (const canvas of [minimap, ruler]) canvas.removeEventListener("wheel", strip);
  };
}
