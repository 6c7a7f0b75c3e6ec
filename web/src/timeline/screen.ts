// The canvases and when they are drawn: at most once for each frame of the screen, however much has changed. Components
// that show a part of the scene follow.
import { useLayoutEffect, useState } from "preact/hooks";
import { Canvas, type Picture } from "./draw";
import { drawRuler, Minimap } from "./minimap";
import { readPalette, type Palette } from "./pixels";
import type { Scene } from "./scene";
import type { Span } from "./viewport";

// px on the left, for the names of lanes; less where the screen is narrow.
export const gutter = (): number => (window.innerWidth < 700 ? 104 : 210);

export interface Elements {
  box: HTMLElement; // scrolls
  main: HTMLCanvasElement;
  minimap: HTMLCanvasElement;
  ruler: HTMLCanvasElement;
}

export class Screen {
  width = 1000; // of the canvas
  height = 400;
  private elements: Elements | null = null;
  private palette: Palette | null = null;
  private canvas = new Canvas();
  private minimap = new Minimap();
  private version = 0; // of what the minimap shows
  private asked = 0; // frame that is on its way
  private listeners = new Set<() => void>();

  constructor(
    private picture: () => Picture,
    private whole: () => Span,
  ) {}

  attach(elements: Elements): () => void {
    this.elements = elements;
    this.resize();
    return () => {
      this.elements = null;
      cancelAnimationFrame(this.asked);
      this.asked = 0;
    };
  }

  // After a change of size or colours; whether the canvas has become lower.
  resize(): boolean {
    if (!this.elements) return false;
    const { box } = this.elements;
    const isLower = box.clientHeight < this.height;
    this.width = Math.max(50, box.clientWidth - gutter());
    this.height = box.clientHeight;
    this.palette = readPalette(box);
    this.renew();
    return isLower;
  }

  // Called after each frame.
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  schedule(): void {
    if (this.asked || !this.elements) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
      for (const listener of this.listeners) listener();
    });
  }

  // Draws the minimap anew as well.
  renew(): void {
    ++this.version;
    this.schedule();
  }

  scrollTo(top: number): void {
    if (this.elements) this.elements.box.scrollTop = top;
  }

  private draw(): void {
    if (!this.elements || !this.palette) return;
    const picture = this.picture();
    const { main, minimap, ruler } = this.elements;
    this.canvas.draw(main, this.palette, picture);
    this.minimap.draw(minimap, this.palette, picture, this.whole(), String(this.version));
    drawRuler(ruler, this.palette, picture);
  }
}

// What a component shows of the scene; it is made anew when that changes. `pick` returns the same object while
// it means the same.
export function useScene<T>(scene: Scene, pick: (scene: Scene) => T): T {
  const [value, setValue] = useState(() => pick(scene));
  useLayoutEffect(() => {
    const update = () => setValue(() => pick(scene));
    update();
    return scene.screen.listen(update);
  }, [scene]);
  return value;
}
