// Texts of compile logs: graphs, generated code, guards, as the log has them (src/outputs/report/html/compile/texts.cc).
//
//   island "texts"     {"most_bytes": 48000000, "left_out": 3, "left_out_bytes": 91234567,
//                       "kinds": ["artifact", "dynamo_output_graph", ...],
//                       "names": ["before_pre_grad_graph", ...], "forms": ["text", "json", ...],
//                       "texts": [[chunk, offset, bytes, lines, whole], ...],
//                       "compilations": [{"job": 0, "input": 1, "rank": 0, "life": 0, "id": "0/0",
//                                         "artifacts": [[entry, kind, name, form, attempt, bytes, text], ...]}],
//                       "frames": [["train.py", 52, "step", "loss = model(x)"], ...],
//                       "stacks": {"1:0:0:0/0": [0, 1, 2], ...}}
//   island "text/3"    the bytes of some texts, one behind the other
//
// Numbers stand for kinds, names and texts; a text of -1 is not in the page. `whole` is the size of a text of
// which only the beginning is here, else 0. Equal texts (of all ranks, of all attempts) are one.
import { withoutAttempt } from "../compile/data";
import { bytes as bytesText, counted } from "../parts/format";
import { cleanText, visible } from "./clean";
import { useMemo } from "preact/hooks";
import { loadIsland, loadJson, Once, useOnce, type Loaded } from "./islands";

export type TextSection = "dynamo" | "aot" | "inductor" | "guards" | "other";
export type Language = "python" | "cpp" | "json" | "text";

export interface Artifact {
  name: string;
  kind: string; // of its entry in the log: dynamo_output_graph, artifact ...
  section: TextSection;
  language: Language;
  entry: number; // of table compile_entry
  attempt: number; // of the compilation that it belongs to
  bytes: number; // in the log
  lines: number | null; // null: not in the page
  text: number | null; // for loadText; null: not in the page
  isCut: boolean; // only its beginning is in the page
  summary: string; // "dynamo_output_graph, 41 lines, 1.50 kB"
}

export interface StackFrame {
  file: string;
  line: number;
  function: string;
  code: string; // the source line; empty when the log does not tell
}

// Whose texts. A compilation's row will do.
interface TextOwner {
  input?: number;
  rank?: number;
  life?: number;
  compile_id?: string;
}

type RawText = [chunk: number, offset: number, bytes: number, lines: number, whole: number];
type RawArtifact = [
  entry: number,
  kind: number,
  name: number,
  form: number,
  attempt: number,
  bytes: number,
  text: number,
];

interface RawIndex {
  most_bytes: number;
  left_out: number;
  left_out_bytes: number;
  kinds: string[];
  names: string[];
  forms: string[];
  texts: RawText[];
  frames: [file: string, line: number, function_: string, code: string][];
  stacks: Record<string, number[]>;
  compilations: {
    input: number | null;
    rank: number | null;
    life: number | null;
    id: string | null;
    artifacts: RawArtifact[];
  }[];
}

// By what its name begins with: artifacts share one kind, and new ones come with every release.
const sections: [RegExp, TextSection][] = [
  [/guard|recompile_reasons/, "guards"],
  [/^(dynamo|dump_file|compiled_autograd|optimize_ddp|graph_sizes|graph_break)/, "dynamo"],
  [/^(aot|before_joint|after_joint|torch\._functorch)/, "aot"],
  [
    /^(inductor|before_|after_|fx_graph|triton|torch\._inductor|output_code|autotune|graph_dump)/,
    "inductor",
  ],
];

function sectionOf(kind: string, name: string): TextSection {
  const word = kind === "artifact" ? name : kind;
  return sections.find(([pattern]) => pattern.test(word))?.[1] ?? "other";
}

function languageOf(kind: string, name: string, form: string): Language {
  if (form === "json" || form === "guards") return "json";
  if (/wrapper_code|\.cpp$|_cpp$/.test(name) || kind === "inductor_aot_wrapper_code") return "cpp";
  if (/graph|_grad$|code|\.py$|dump_file/.test(`${kind} ${name}`) && !/metadata|reason/.test(name))
    return "python";
  return "text";
}

const keyOf = (owner: TextOwner) =>
  [owner.input ?? "", owner.rank ?? "", owner.life ?? 0, withoutAttempt(owner.compile_id)].join(
    ":",
  );

export class Texts {
  private owners = new Map<string, RawArtifact[]>();
  private chunks = new Map<number, Promise<Uint8Array>>();

  constructor(private raw: RawIndex) {
    for (const one of raw.compilations)
      this.owners.set(
        [one.input ?? "", one.rank ?? "", one.life ?? 0, one.id ?? ""].join(":"),
        one.artifacts,
      );
  }

  // Texts of the log that the page does not have, and their bytes.
  get leftOut(): { texts: number; bytes: number; most: number } {
    return { texts: this.raw.left_out, bytes: this.raw.left_out_bytes, most: this.raw.most_bytes };
  }

  // In the order of the log.
  of(owner: TextOwner): Artifact[] {
    return (this.owners.get(keyOf(owner)) ?? []).map((one) => this.artifact(one));
  }

  // The text of one entry of the log: of any compilation.
  at(input: number | undefined, entry: number | undefined): Artifact | undefined {
    if (input === undefined || entry === undefined) return undefined;
    for (const one of this.raw.compilations) {
      if (one.input !== input) continue;
      const found = one.artifacts.find((artifact) => artifact[0] === entry);
      if (found) return this.artifact(found);
    }
    return undefined;
  }

  // Where the compilation began, innermost first; empty when the log does not tell.
  stackOf(owner: TextOwner): StackFrame[] {
    return (this.raw.stacks[keyOf(owner)] ?? []).flatMap((number) => {
      const frame = this.raw.frames[number];
      if (!frame) return [];
      const [file, line, function_, code] = frame;
      return [
        { file: cleanText(file), line, function: cleanText(function_), code: cleanText(code) },
      ];
    });
  }

  private artifact([entry, kindAt, nameAt, formAt, attempt, logged, text]: RawArtifact): Artifact {
    const kind = cleanText(this.raw.kinds[kindAt] ?? "");
    const name = cleanText(this.raw.names[nameAt] ?? "") || kind;
    const form = this.raw.forms[formAt] ?? "";
    const stored = text < 0 ? undefined : this.raw.texts[text];
    const lines = stored ? stored[3] : null;
    const isCut = (stored?.[4] ?? 0) > 0;
    const bytes = stored && !isCut ? stored[2] : logged;
    const facts = [
      name,
      lines === null ? "not in this page" : counted(lines, "line"),
      bytesText(bytes),
    ];
    if (isCut) facts.push("only the beginning is in this page");
    return {
      name,
      kind,
      section: sectionOf(kind, name),
      language: languageOf(kind, name, form),
      entry,
      attempt,
      bytes,
      lines,
      text: stored ? text : null,
      isCut,
      summary: facts.join(", "),
    };
  }

  private chunk(number: number): Promise<Uint8Array> {
    const known = this.chunks.get(number) ?? loadIsland(`text/${number}`);
    this.chunks.set(number, known); // an element in the page can be read only once
    return known;
  }

  // The whole text, with what is not visible made visible. A note stands behind one that was cut.
  async load(number: number): Promise<string> {
    const stored = this.raw.texts[number];
    if (!stored) throw new Error("This text is not in the page.");
    const [chunk, offset, bytes, , whole] = stored;
    const all = await this.chunk(chunk);
    const text = visible(new TextDecoder().decode(all.subarray(offset, offset + bytes)));
    if (whole === 0) return text;
    return `${text}\n... cut here: ${bytesText(bytes)} of ${bytesText(whole)} are in this page.\n`;
  }
}

const nothing: RawIndex = {
  most_bytes: 0,
  left_out: 0,
  left_out_bytes: 0,
  kinds: [],
  names: [],
  forms: [],
  texts: [],
  frames: [],
  stacks: {},
  compilations: [],
};

// There when table compile_log has rows: a view asks only then.
export const textsIndex = new Once(async () => {
  const raw = (await loadJson("texts")) as Partial<RawIndex>;
  return new Texts({ ...nothing, ...raw });
});

async function loadText(number: number): Promise<string> {
  const index = await textsIndex.get();
  if (index.state !== "ready")
    throw new Error(index.state === "failed" ? index.reason : "The texts are not read yet.");
  return index.value.load(number);
}

// For a component that shows it; null: nothing is wanted now.
export function useText(number: number | null): Loaded<string> {
  const once = useMemo(() => (number === null ? null : new Once(() => loadText(number))), [number]);
  return useOnce(once);
}
