// What a slice is, in words and as a colour. Kinds are many and come from the data; a reader tells eight
// apart, so kinds share the colour of their family (tokens in timeline.css; names in the legend).

export type Family =
  | "compute"
  | "comm"
  | "memory"
  | "op"
  | "python"
  | "runtime"
  | "compile"
  | "annotation"
  | "open"
  | "output"
  | "gpu"
  | "other";

// Categories whose slices have shades by name.
export const shaded = new Set<Family>(["compute", "comm", "op", "python", "compile", "annotation"]);

export const families: [id: Family, words: string][] = [
  ["compute", "compute"],
  ["comm", "communication"],
  ["memory", "memory copies and fills"],
  ["op", "operators"],
  ["python", "Python"],
  ["runtime", "device runtime, waits"],
  ["compile", "compiler"],
  ["annotation", "annotations, steps"],
  ["open", "waiting: not completed"],
  ["output", "output lines"],
  ["gpu", "GPU throttling, GPU faults"],
  ["other", "other"],
];

// By the words that the kind has, the first rule that fits.
const rules: [RegExp, Family][] = [
  [/^(throttling|gpu_fault)$/, "gpu"],
  [/^output$/, "output"],
  [/open|unfinished/, "open"],
  [/comm|collective|nccl|p2p/, "comm"],
  [/memcpy|memset|memory|copy/, "memory"],
  [/compile|inductor|dynamo|aot|triton|codegen/, "compile"],
  [/annotation|step|span|range/, "annotation"],
  [/kernel|compute|gpu/, "compute"],
  [/python|frame/, "python"],
  [/runtime|driver|sync|overhead/, "runtime"],
  [/\bop\b|operator/, "op"],
];

export function familyOf(kind: string): Family {
  return rules.find(([rule]) => rule.test(kind))?.[1] ?? "other";
}

const known: Record<string, string> = {
  kernel: "kernel on a device",
  memcpy: "copy of memory",
  memset: "fill of memory",
  comm: "communication",
  comm_open: "communication that did not complete",
  op: "operator on the host",
  python: "Python function",
  runtime: "call of the device runtime",
  sync: "wait for a device",
  annotation: "annotation of the program",
  device_annotation: "annotation, as the device saw it",
  overhead: "overhead of the profiler",
  instant: "moment",
  output: "line of the job's output",
  step: "step of the program",
  throttling: "GPU kept its clock low",
  power_cap: "GPU at its power limit",
  gpu_fault: "fault reported by the GPU",
};

export function kindWords(kind: string): string {
  return known[kind] ?? kind.replace(/_/g, " ");
}
