// Tables of compile logs for the page: a job of two ranks of which rank 1 compiled something else.
import { emptyRun, makeInput } from "./fixture.mjs";

export const hostileName = "</script><script>window.hacked = 1</script>";

const who = (rank) => ({ job: 0, attempt: 0, rank, input: rank });
const start = 1760000000e9;

function compilation(rank, compile_id, fields = {}) {
  const [frame, number] = compile_id.split("/").map(Number);
  return {
    ...who(rank),
    life: 0,
    compile_id,
    frame_id: frame,
    function: "forward",
    file: "/home/user/train.py",
    line: 12,
    number,
    ...(number > 0 && { previous_id: `${frame}/${number - 1}` }),
    outcome: "ok",
    is_last: false,
    ops: 4,
    guards: 3,
    restarts: 0,
    seconds: 1.5,
    wasted_s: 0,
    start_ns: start,
    end_ns: start + 2e9,
    first_entry: 1000 * (frame * 10 + number),
    last_entry: 1000 * (frame * 10 + number) + 999,
    ...fields,
  };
}

function compilations() {
  return [0, 1].flatMap((rank) => [
    compilation(rank, "0/0"),
    compilation(rank, "0/1", { why: "L['x'] has another size in dimension 1: 8, not 16" }),
    compilation(rank, "1/0", {
      function: "loss_fn",
      outcome: "restarted",
      restarts: 1,
      wasted_s: 0.25,
      break_reason: "Unsupported Tensor.item() call",
    }),
    compilation(rank, "2/0", {
      function: hostileName,
      outcome: "failed",
      ops: undefined,
      fail_type: "torch._dynamo.exc.BackendCompilerFailed",
      fail_reason: "no kernel <b>here</b>",
    }),
  ]);
}

function graphs() {
  return [0, 1].flatMap((rank) =>
    ["0/0", "0/1"].map((compile_id, i) => ({
      ...who(rank),
      entry: i * 1000 + 10,
      compile_id,
      kind: "dynamo_output_graph",
      position: 0,
      ops: 4 + i,
      nodes: 8,
      inputs: 2,
      outputs: 1,
      subgraphs: 0,
      subgraph_ops: 0,
      unknown: 0,
      input_bytes: i ? undefined : 4096,
      hash: i && rank ? "ffff00001111" : `abcd0000${i}${i}${i}${i}`,
      symbols: i ? "s27" : "",
      ...(i && { previous: 10 }),
    })),
  );
}

function graphParts() {
  const at = (rank, i) => ({ ...who(rank), entry: i * 1000 + 10 });
  const each = (make) => [0, 1].flatMap((rank) => [0, 1].flatMap((i) => make(rank, i)));
  return {
    compile_graph_op: each((rank, i) => [
      { ...at(rank, i), op: "torch.ops.aten.mm.default", count: 3 + i },
      { ...at(rank, i), op: "operator.add", count: 1 },
    ]),
    compile_graph_input: each((rank, i) => [
      {
        ...at(rank, i),
        position: 0,
        name: "L_x_",
        dtype: "f32",
        sizes: i ? "4, s27" : "4, 8",
        device: "cuda:0",
        source: "x",
        is_parameter: false,
        users: 1,
      },
      {
        ...at(rank, i),
        position: 1,
        name: "l_weight",
        dtype: "f32",
        sizes: "8, 8",
        bytes: 256,
        source: "self.fc.weight",
        is_parameter: true,
        users: 1,
      },
    ]),
    compile_graph_change: [0, 1].map((rank) => ({
      ...at(rank, 1),
      previous: 10,
      what: "input_shape",
      name: "L_x_",
      before: "4, 8",
      now: "4, s27",
    })),
    compile_module: [0, 1].flatMap((rank) => [
      {
        ...at(rank, 0),
        compile_id: "0/0",
        path: "self",
        depth: 0,
        parameters: 0,
        bytes: 0,
        total_bytes: 256,
        shapes: "",
        nodes: 0,
      },
      {
        ...at(rank, 0),
        compile_id: "0/0",
        path: "self.fc",
        parent: "self",
        depth: 1,
        parameters: 1,
        bytes: 256,
        total_bytes: 256,
        shapes: "weight f32[8, 8]",
        nodes: 1,
      },
    ]),
  };
}

function reasons(rank) {
  return {
    compile_recompile: {
      ...who(rank),
      life: 0,
      compile_id: "0/1",
      previous_id: "0/0",
      position: 0,
      is_main: true,
      kind: "size",
      source: "L['x']",
      dimension: 1,
      old_value: "8",
      new_value: "16",
      symbol: "s27",
      change: "L['x'] has another size in dimension 1",
      guard: "tensor 'x' size mismatch at index 1. expected 8, actual 16",
      user_file: "train.py",
      user_line: 30,
      user_code: "y = model(x)",
      next_step: "torch._dynamo.mark_dynamic(x, 1)",
    },
    compile_break: {
      ...who(rank),
      kind: "graph_break",
      reason: "Unsupported Tensor.item() call",
      explanation: "Dynamo does not support tracing it",
      hints: "Set capture_scalar_outputs\nMove it out",
      context: "call_method item",
      user_file: "train.py",
      user_line: 41,
      user_function: "loss_fn",
      user_code: "if loss.item() > 1:",
      user_stack: ["train.py:41 in loss_fn", "train.py:80 in main"],
      count: 3,
      compile_ids: "1/0",
      first_compile_id: "1/0",
      functions: "loss_fn",
      wasted_s: 0.25,
      resume_s: 0.5,
      resumes: 1,
      link: "https://example.invalid/gb0001",
    },
    compile_failure: {
      ...who(rank),
      life: 0,
      compile_id: "2/0",
      function: hostileName,
      file: "train.py",
      line: 50,
      fail_type: "BackendCompilerFailed",
      reason: "no kernel <b>here</b>",
      text: "no kernel <b>here</b>\nsecond line",
      seconds: 0.5,
      falls_back: false,
    },
    compile_progress: {
      ...who(rank),
      life: 0,
      frames: 3,
      whole: 1,
      broken: 1,
      empty: 0,
      failed: 1,
      unfinished: 0,
      resumed: 0,
      compilations: 4,
      recompilations: 1,
      ops: 9,
      seconds: 6,
      wasted_s: 0.75,
      share: 0.3333,
    },
    compile_blocker: {
      ...who(rank),
      life: 0,
      position: 0,
      kind: "failure",
      reason: "BackendCompilerFailed",
      user_file: "train.py",
      user_line: 50,
      functions: hostileName,
      frames: 1,
      seconds: 0.5,
      compile_id: "2/0",
    },
  };
}

function costs(rank) {
  const at = { ...who(rank), entry: 5, compile_id: "0/0" };
  return {
    compile_phase: {
      ...at,
      life: 0,
      name: "inductor_compile",
      depth: 1,
      start_ns: start,
      end_ns: start + 9e8,
      self_ns: 7e8,
      area: "inductor",
      open: false,
    },
    compile_phase_total: {
      job: 0,
      attempt: 0,
      rank,
      name: "inductor_compile",
      area: "inductor",
      count: 4,
      open: 0,
      total_ns: 9e8,
      self_ns: 7e8,
      share: 0.7,
    },
    compile_span: {
      ...at,
      life: 0,
      function: "forward",
      file: "train.py",
      line: 12,
      seconds: 1.5,
      told_by: "events",
      dynamo_s: 0.5,
      aot_s: 0.2,
      inductor_s: 0.4,
      codegen_s: 0.1,
      triton_s: 0.2,
      ended: true,
    },
    compile_kernel: {
      ...at,
      kernel: "triton_poi_fused_add_0",
      what: "compile",
      seconds: 0.2,
      configs: 2,
      cache: "miss",
    },
    compile_autotune: {
      ...at,
      name: "mm_template_autotuning",
      shapes: "4x8, 8x8",
      choices: 19,
      triton_choices: 18,
      best: "triton_mm_7",
      best_ms: 0.0123,
      seconds: 2.5,
    },
    compile_cache_use: {
      ...at,
      cache: "fx_graph_cache",
      status: "miss",
      detail: "full_miss",
      key: "fabc",
      spent_s: 0.9,
      again: false,
    },
    compile_cache_total: {
      job: 0,
      attempt: 0,
      rank,
      cache: "fx_graph_cache",
      uses: 4,
      hits: 1,
      misses: 3,
      bypasses: 0,
      again: 0,
      saved_s: 0.3,
      spent_s: 0.9,
    },
    compile_weight: {
      ...who(rank),
      divided_by: "kind",
      name: "artifact fx_graph_runnable",
      entries: 4,
      bytes: 123456,
      share: 0.61,
    },
    compile_guard: {
      ...who(rank),
      life: 0,
      compile_id: "0/0",
      position: 0,
      kind: "TENSOR_MATCH",
      guard: "check_tensor(L['x'], size=[4, 8])",
      source: "L['x']",
      file: "train.py",
      line: 30,
      failed: 1,
      check_us: 12.5,
    },
    compile_shape: {
      ...at,
      kind: "create_symbol",
      symbol: "s27",
      sources: "L['x'].size()[1]",
      value: "16",
      range: "[2, inf]",
    },
  };
}

function ranks() {
  const job = { job: 0, attempt: 0 };
  return {
    compile_overlap: [{ ...job, ranks: [1], waiting: 1, seconds: 0.5, intervals: 2 }],
  };
}

// Tables as lists of rows; the island is made of it by withCompile.
export function compileTables() {
  const lists = {};
  for (const rank of [0, 1])
    for (const [name, row] of Object.entries({ ...reasons(rank), ...costs(rank) }))
      (lists[name] ??= []).push(row);
  return {
    compilation: compilations(),
    compile_graph: graphs(),
    ...graphParts(),
    ...lists,
    ...ranks(),
  };
}

export function withCompile(lists, leftOut = {}) {
  const tables = Object.fromEntries(
    Object.entries(lists).map(([name, rows]) => [
      name,
      { total: rows.length + (leftOut[name] ?? 0), rows },
    ]),
  );
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "train", world_size: 2, attempts: 1, inputs: 2, ranks: [0, 1] }],
    inputs: [0, 1].map((rank) => makeInput(rank, { rank, kind: "torch_trace" })),
    compile: { tables },
  };
}
