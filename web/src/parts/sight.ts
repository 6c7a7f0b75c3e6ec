// How much of a scrolling box is scrolled away, and how high it is: for lists that draw only what is in sight.
import { useLayoutEffect, useState } from "preact/hooks";

export interface Sight {
  top: number;
  height: number;
}

export function useSight(box: { current: HTMLElement | null }): Sight {
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const update = () => setSight({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, []);
  return sight;
}
