// Which line became which: island "provenance" (tables provenance_graph and provenance_line), and the way from a
// line of one pane to those of the others.
//
//   pre-grad graph  <-preToPost, postToPre->  post-grad graph  <-postToPyCode, pyCodeToPost->  generated code
import { tablesIsland, type Row } from "../run/tables";

export type ProvenanceGraph = Row<"provenance_graph">;

export const provenanceIsland = tablesIsland("provenance");

export const panes = ["pre", "post", "code"] as const;
export type Pane = (typeof panes)[number];
export type Code = "python" | "cpp";

export const keyOf = (row: ProvenanceGraph): string => [row.input ?? "", row.graph ?? ""].join(":");

type Lines = Map<number, number[]>;

export class LineMaps {
  private maps = new Map<string, Lines>();

  constructor(rows: Row<"provenance_line">[], one: ProvenanceGraph) {
    for (const row of rows) {
      if (row.input !== one.input || row.graph !== one.graph || row.line === undefined) continue;
      const map = this.maps.get(row.map ?? "") ?? new Map<number, number[]>();
      map.set(row.line, row.targets ?? []);
      this.maps.set(row.map ?? "", map);
    }
  }

  has(code: Code): boolean {
    return (this.maps.get(code === "cpp" ? "cppCodeToPost" : "pyCodeToPost")?.size ?? 0) > 0;
  }

  private step(from: Pane, to: Pane, code: Code): Lines {
    const name = code === "cpp" ? "cppCode" : "pyCode";
    const Name = code === "cpp" ? "CppCode" : "PyCode";
    const of = { pre: "pre", post: "post", code: name };
    const into = { pre: "Pre", post: "Post", code: Name };
    return this.maps.get(`${of[from]}To${into[to]}`) ?? new Map();
  }

  // Lines of `pane` that lead somewhere, ascending.
  linked(pane: Pane, code: Code): number[] {
    const to = panes.filter((one) => Math.abs(panes.indexOf(one) - panes.indexOf(pane)) === 1);
    const lines = to.flatMap((one) => [...this.step(pane, one, code).keys()]);
    return [...new Set(lines)].sort((a, b) => a - b);
  }

  // What a line leads to, by pane; step by step to the panes further away.
  related(pane: Pane, line: number, code: Code): Record<Pane, number[]> {
    const result: Record<Pane, number[]> = { pre: [], post: [], code: [] };
    result[pane] = [line];
    const follow = (from: Pane | undefined, to: Pane | undefined) => {
      if (!from || !to) return;
      const map = this.step(from, to, code);
      const lines = new Set(result[from].flatMap((one) => map.get(one) ?? []));
      result[to] = [...lines].sort((a, b) => a - b);
    };
    const at = panes.indexOf(pane);
    for (let i = at; i > 0; --i) follow(panes[i], panes[i - 1]);
    for (let i = at; i < panes.length - 1; ++i) follow(panes[i], panes[i + 1]);
    return result;
  }
}
