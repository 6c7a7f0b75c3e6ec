// The page's data, apart from the run itself: islands that are fetched when a view first asks for one.
//
// An island is bytes under a name ("compile", "timeline/3"). It is packed as gzip, then as base64, so that no
// text from an input can be taken for markup or code, and it lies in one of three places:
//
//   a report of several files    report_data/NAME.js, which calls debriefIsland(NAME, BASE64); a script
//                                is the only thing that a page from file:// may load
//   a report of one file         <script type="text/plain" data-island="NAME">BASE64</script> in the page
//   `debrief serve`              as several files; the same paths are served
//
// What a name holds is the business of the room that reads it (compile/data.ts, timeline/data.ts ...).
import { useEffect, useState } from "preact/hooks";

declare global {
  interface Window {
    debriefIsland?: (name: string, packed: string) => void;
  }
}

const waiting = new Map<string, (packed: string) => void>();
window.debriefIsland = (name, packed) => {
  waiting.get(name)?.(packed);
  waiting.delete(name);
};

// "timeline/3" -> "report_data/timeline/3.js"
function addressOf(name: string): string {
  return `report_data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
}

function fromScript(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () =>
      reject(
        new Error(
          `${addressOf(name)} cannot be read. It belongs beside this page: copy the whole folder, ` +
            "or write the report with --single-file.",
        ),
      );
    waiting.set(name, (packed) => resolve(packed));
    script.onload = () => {
      script.remove();
      if (waiting.delete(name)) fail(); // it ran and brought something else
    };
    script.onerror = () => {
      script.remove();
      waiting.delete(name);
      fail();
    };
    script.src = addressOf(name);
    document.head.append(script);
  });
}

function fromPage(name: string): string | null {
  const element = document.querySelector(`script[data-island="${CSS.escape(name)}"]`);
  if (!element) return null;
  const packed = element.textContent ?? "";
  element.remove(); // it is asked for once: a second copy would only cost memory
  return packed;
}

async function unpack(packed: string): Promise<Uint8Array> {
  const binary = atob(packed);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The bytes of an island; an Error with a sentence for the reader when it cannot be read.
export async function loadIsland(name: string): Promise<Uint8Array> {
  return unpack(fromPage(name) ?? (await fromScript(name)));
}

export async function loadJson(name: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await loadIsland(name)));
}

export type Loaded<T> =
  { state: "loading" } | { state: "ready"; value: T } | { state: "failed"; reason: string };

// An island that is read once in the life of the page, whoever asks.
export class Once<T> {
  private promise: Promise<T> | null = null;
  private result: Loaded<T> = { state: "loading" };

  constructor(private load: () => Promise<T>) {}

  now(): Loaded<T> {
    return this.result;
  }

  async get(): Promise<Loaded<T>> {
    this.promise ??= this.load();
    try {
      this.result = { state: "ready", value: await this.promise };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.result = { state: "failed", reason };
    }
    return this.result;
  }
}

// For a component that shows it; null: nothing is wanted now.
export function useOnce<T>(once: Once<T> | null): Loaded<T> {
  const [, setTurn] = useState(0);
  useEffect(() => {
    let isShown = true;
    if (once?.now().state === "loading")
      void once.get().then(() => isShown && setTurn((turn) => turn + 1));
    return () => {
      isShown = false;
    };
  }, [once]);
  return once?.now() ?? { state: "loading" };
}
