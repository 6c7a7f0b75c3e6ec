// The island "export" (src/outputs/report/html/compile/exports.cc): what stood in the way of torch.export.
import { clean } from "../run/clean";
import { loadJson, Once } from "../run/islands";
import type { Who } from "../run/tables";

export interface Issue extends Who {
  entry: number;
  compile_id?: string;
  kind: string;
  expression?: string;
  result?: string;
  reason?: string;
  sources?: string;
  locals?: string;
  symbols?: string;
  file?: string;
  line?: number;
  function?: string;
  code?: string;
  stack?: string[];
}

export interface Program extends Who {
  entry: number;
  compile_id?: string;
  bytes: number;
}

export interface Export {
  issues: Issue[];
  left_out: number;
  programs: Program[];
}

// null means absent, as in the tables.
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) => (one === null ? undefined : one));
}

export const exportIsland = new Once(
  async () => clean(withoutNulls(await loadJson("export"))) as Export,
);

const kinds: Record<string, { name: string; means: string; step: string }> = {
  guard_added: {
    name: "guard evaluated",
    means:
      "The program decided something by a symbolic size. It may violate the dynamic shapes asked for.",
    step: "Make the decision independent of the size, or state the constraint: Dim(min=..., max=...) or torch._check.",
  },
  propagate_real_tensors_provenance: {
    name: "data dependent",
    means:
      "The value of a tensor decides. It was taken as it was in this run, and an assert was put into the graph.",
    step: "Tell what always holds with torch._check, or rewrite the branch with torch.cond or torch.where.",
  },
  missing_fake_kernel: {
    name: "no fake kernel",
    means: "The operator has no implementation that computes shapes without data.",
    step: "Register one with torch.library.register_fake.",
  },
  mismatched_fake_kernel: {
    name: "wrong fake kernel",
    means: "The operator's fake implementation gives something else than the real one.",
    step: "Correct the function registered with torch.library.register_fake.",
  },
};

export function kindOf(issue: Issue) {
  return kinds[issue.kind] ?? { name: issue.kind, means: "", step: "" };
}

export function keyOf(row: Issue | Program): string {
  return `${row.input ?? ""}:${row.entry}`;
}

// One sentence.
export function issueWords(issue: Issue): string {
  const what = issue.expression ?? "unknown";
  switch (issue.kind) {
    case "missing_fake_kernel":
      return `torch.ops.${what} has no fake kernel`;
    case "mismatched_fake_kernel":
      return `The fake kernel of torch.ops.${what} differs: ${issue.reason ?? "unknown"}`;
    case "propagate_real_tensors_provenance":
      return `${what} was taken to be ${issue.result ?? "what it was"}`;
    default:
      return `${what} was evaluated${issue.result ? ` to ${issue.result}` : ""}`;
  }
}
