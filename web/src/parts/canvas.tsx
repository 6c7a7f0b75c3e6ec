// Drawings on a canvas: its size in pixels of the screen, the colours of the page, and a box in which one scrolls.
import type { HTMLAttributes } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// Makes the canvas so large, in px of the page, and clears it; 1 is a px of the page from then on.
export function fitCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [width, height].map((px) => Math.max(1, Math.round(px * ratio))) as [number, number];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

export type Colour = (name: string) => string; // of a custom property

export function coloursOf(element: Element): Colour {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) known.set(name, (value = style.getPropertyValue(name).trim()));
    return value;
  };
}

// Calls `update` when the size of the element, or the colour scheme, changes, until the answer is called.
export function watchLook(element: Element, update: () => void): () => void {
  const observer = new ResizeObserver(update);
  observer.observe(element);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", update);
  return () => {
    observer.disconnect();
    scheme.removeEventListener("change", update);
  };
}

// What is in sight of a drawing: how much is scrolled away, and the size of the box.
export interface Sight {
  left: number;
  top: number;
  width: number;
  height: number;
}

function sightOf(box: HTMLElement): Sight {
  return { left: box.scrollLeft, top: box.scrollTop, width: box.clientWidth, height: box.clientHeight };
}

interface Point {
  x: number; // in the box
  y: number;
}

interface Props {
  box: { current: HTMLDivElement | null };
  width?: number; // of the whole drawing; left out: as wide as the box
  height: number;
  onRoom: (width: number) => void; // the box has become so wide
  draw: (canvas: HTMLCanvasElement, sight: Sight) => void;
  tip: (event: MouseEvent) => string | null; // what the mouse points at
  tipWidth: number;
  subject: unknown[]; // when one of these changes, the mouse points at something else
  attributes: HTMLAttributes<HTMLDivElement>; // of the box
}

// The canvas is as large as the box around it and stays in place while an empty element of the full size scrolls, so
// that memory does not grow with the drawing.
export function CanvasBox(props: Props) {
  const { box, width, height, draw } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<(Point & { text: string }) | null>(null);
  const redraw = () => {
    if (box.current && canvas.current) draw(canvas.current, sightOf(box.current));
  };
  useLayoutEffect(() => {
    if (!box.current) return;
    return watchLook(box.current, () => {
      if (box.current) props.onRoom(box.current.clientWidth);
      redraw();
    });
  });
  useLayoutEffect(redraw);
  useEffect(() => setTip(null), props.subject);
  const point = (event: MouseEvent) => {
    const at = box.current?.getBoundingClientRect();
    const text = props.tip(event);
    setTip(at && text ? { x: event.clientX - at.left, y: event.clientY - at.top, text } : null);
  };
  const room = box.current?.clientWidth ?? 0;
  return (
    <>
      <div
        ref={box}
        tabIndex={0}
        style={{ height: `${Math.min(height + 4, 480)}px` }}
        onScroll={redraw}
        onMouseMove={point}
        onMouseLeave={() => setTip(null)}
        {...props.attributes}
      >
        <div style={{ ...(width && { width: `${width}px` }), height: `${height}px` }}>
          <canvas ref={canvas} aria-hidden="true" />
        </div>
      </div>
      {tip && (
        <div
          class="grid-tip"
          aria-hidden="true"
          style={{
            left: `${Math.max(0, Math.min(tip.x + 14, room - props.tipWidth))}px`,
            top: `${tip.y + 16}px`,
          }}
        >
          {tip.text}
        </div>
      )}
    </>
  );
}
