// The incident picture, as outputs/incident drew it. It is parsed as XML and adopted: texts in it stay texts.
import { useLayoutEffect, useRef } from "preact/hooks";

export function Incident({ svg }: { svg: string }) {
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const made = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (made.nodeName !== "svg") return;
    box.current?.replaceChildren(document.importNode(made, true));
  }, [svg]);
  return <figure class="incident-box" tabIndex={0} aria-label="Incident" ref={box} />;
}
