// Where the time of a compilation went and what the caches said to it, found quickly for any of thousands.
import {
  isOf,
  keyOf,
  withoutAttempt,
  type CacheUse,
  type Compilation,
  type Compile,
  type Span,
} from "./data";

// Seconds by area of the compiler (parts.tsx).
export function spanParts(row: Span): Record<string, number> {
  const parts: Record<string, number> = {
    dynamo: row.dynamo_s ?? 0,
    aot: row.aot_s ?? 0,
    inductor: row.inductor_s ?? 0,
    codegen: row.codegen_s ?? 0,
    triton: row.triton_s ?? 0,
  };
  const told = Object.values(parts).reduce((a, b) => a + b, 0);
  return { ...parts, other: Math.max(0, (row.seconds ?? 0) - told) };
}

export interface Costs {
  spanOf: (one: Compilation) => Span | undefined;
  cacheOf: (one: Compilation) => CacheUse[];
}

const logAndId = (row: { input?: number; rank?: number; compile_id?: string }) =>
  `${row.input} ${row.rank} ${withoutAttempt(row.compile_id)}`;

export function costsOf(compile: Compile): Costs {
  const spans = new Map(compile.rows("compile_span").map((row) => [keyOf(row), row]));
  const uses = new Map<string, CacheUse[]>();
  for (const use of compile.rows("compile_cache_use")) {
    const list = uses.get(logAndId(use)) ?? [];
    list.push(use);
    uses.set(logAndId(use), list);
  }
  return {
    spanOf: (one) => spans.get(keyOf(one)),
    cacheOf: (one) => (uses.get(logAndId(one)) ?? []).filter((use) => isOf(one, use)),
  };
}

// "hit", "miss, bypass": what the caches said, without repetition.
export function cacheWords(uses: CacheUse[]): string {
  return ["hit", "miss", "bypass"]
    .filter((status) => uses.some((use) => use.status === status))
    .join(", ");
}

// "fx_graph_cache miss, aot_autograd_cache bypass: reason"
export function cacheDetail(uses: CacheUse[]): string {
  return uses
    .slice(0, 12)
    .map(
      (use) => `${use.cache ?? "cache"} ${use.status ?? ""}${use.reason ? `: ${use.reason}` : ""}`,
    )
    .join("\n");
}
