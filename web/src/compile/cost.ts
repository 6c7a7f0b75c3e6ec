// Where the time of a compilation went and what the caches said to it, found quickly for any of thousands.
import { grouped } from "../parts/rows";
import type { Row, Tables } from "../run/tables";
import { isOf, keyOf, withoutAttempt, type Compilation, type Of, type Span } from "./data";

type CacheUse = Row<"compile_cache_use">;

export interface Costs {
  spanOf: (one: Compilation) => Span | undefined;
  cacheOf: (one: Compilation) => CacheUse[];
}

const logAndId = (row: Of) => `${row.input} ${row.rank} ${withoutAttempt(row.compile_id)}`;

export function costsOf(tables: Tables): Costs {
  const spans = new Map(tables.rows("compile_span").map((row) => [keyOf(row), row]));
  const uses = grouped(tables.rows("compile_cache_use"), logAndId);
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
  const words = ({ cache, status, reason }: CacheUse) =>
    `${cache ?? "cache"} ${status ?? ""}${reason ? `: ${reason}` : ""}`;
  return uses.slice(0, 12).map(words).join("\n");
}
