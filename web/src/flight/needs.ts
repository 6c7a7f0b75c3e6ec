// What views of collectives need and how to record it, and their tables: the island "comm"
// (src/outputs/report/html/comm_data.cc).
import { tablesIsland } from "../run/tables";
import type { Needs } from "../view";

const dumps =
  "Start the job with TORCH_FR_BUFFER_SIZE=2000 (before PyTorch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE) and " +
  "TORCH_NCCL_DUMP_ON_TIMEOUT=1; each rank then leaves a dump when a collective hangs.";
const profiles = "Profiles of two ranks or more, by torch.profiler, show it as well.";

export function flightNeeds(tables: string[]): Needs {
  return { tables, missing: "No Flight Recorder dumps were found.", record: dumps };
}

export function flightOrProfileNeeds(tables: string[]): Needs {
  return {
    tables,
    missing: "Neither Flight Recorder dumps nor profiles with collectives were found.",
    record: `${dumps} ${profiles}`,
  };
}

export const commIsland = tablesIsland("comm");
