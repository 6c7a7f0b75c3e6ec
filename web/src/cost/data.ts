// Lost time: the island "cost" (src/outputs/report/html/cost_data.cc), and the states that a rank can be in.
import type { Part, Values } from "../profile/parts";
import { tablesIsland, type Row } from "../run/tables";

export const costIsland = tablesIsland("cost");

const busy: Part[] = [
  { id: "compute", words: "computing", meaning: "A device computes, copies or fills" },
  {
    id: "transfer",
    words: "moving data",
    meaning: "A collective moves data: all its recorded members have begun it. Not hidden by computing",
  },
  {
    id: "undivided",
    words: "communication, not divided",
    meaning: "Communication of which it is not known how much is waiting. Not hidden by computing",
  },
];

const lost: Part[] = [
  { id: "wait", words: "waiting for ranks", meaning: "A collective waits for its last member" },
  { id: "host", words: "host launches late", meaning: "The device has nothing to do until the host launches more" },
  { id: "data", words: "data loading", meaning: "The host loads data before it launches more" },
  { id: "sync", words: "host waited for device", meaning: "The host waited for the device before it launched more" },
  { id: "compile", words: "compiling", meaning: "The host compiles" },
  { id: "allocation", words: "allocating memory", meaning: "The host allocates device memory" },
  { id: "pace", words: "between kernels", meaning: "Between kernels that were both queued" },
  { id: "unknown", words: "not known", meaning: "Nothing that is recorded says why the device idles" },
];

const states: Part[] = [...busy, ...lost];

export function valuesOf(row: Row<"cost_rank">): Values {
  const numbers = row as Record<string, number | undefined>;
  return Object.fromEntries(states.map((one) => [one.id, numbers[`${one.id}_ns`] ?? 0]));
}

// Only those that some row has.
export function statesIn(rows: Row<"cost_rank">[]): Part[] {
  const all = rows.map(valuesOf);
  return states.filter((one) => all.some((values) => (values[one.id] ?? 0) > 0));
}
