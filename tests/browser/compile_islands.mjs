// The islands beside the tables of compile logs, for the job of compile_fixture.mjs: stacks, lanes, source
// lines, issues of export.
import { hostileName } from "./compile_fixture.mjs";

const file = "/home/user/train.py";

// main -> (torch) -> forward 0/0, 0/1; main -> loss_fn 1/0; a hostile function 2/0.
export function stacksIsland() {
  const ends = [0, 1].flatMap((rank) => [
    [2, rank, "0/0", 1.5],
    [2, rank, "0/1", 1],
    [3, rank, "1/0", 0.5],
    [4, rank, "2/0", null],
  ]);
  const column = (i) => ends.map((end) => end[i]);
  return {
    frames: [
      [file, "main", 80, true],
      ["/usr/lib/python3/site-packages/torch/nn/modules/module.py", "_call_impl", 1790, false],
      [file, "forward", 12, true],
      [file, "loss_fn", 40, true],
      [file, hostileName, 60, true],
    ],
    trees: [
      {
        job: 0,
        parent: [-1, 0, 1, 0, 0],
        frame: [0, 1, 2, 3, 4],
        node: column(0),
        input: column(1),
        rank: column(1),
        life: ends.map(() => 0),
        id: column(2),
        seconds: column(3),
        status: ends.map(() => "ok"),
      },
    ],
    left_out: 0,
  };
}

export function lanesIsland(ranks = 2) {
  const boxes = Array.from({ length: ranks }, (_, rank) => [
    [rank, "0/0", rank * 100_000, 1_500_000],
    [rank, "1/0", 2_000_000 + rank * 1_000_000, 500_000],
    [rank, "2/0", 4_000_000, 10_000],
  ]).flat();
  return {
    base_ns: 1760000000e9,
    job: boxes.map(() => 0),
    input: boxes.map(([rank]) => rank),
    rank: boxes.map(([rank]) => rank),
    life: boxes.map(() => 0),
    id: boxes.map(([, id]) => id),
    phase: boxes.map(() => "dynamo"),
    start_us: boxes.map(([, , start]) => start),
    us: boxes.map(([, , , us]) => us),
    open: boxes.map(() => false),
    left_out: 0,
  };
}

export function sourceIsland() {
  return {
    files: [
      {
        job: 0,
        file,
        user: true,
        lines: [
          {
            line: 12,
            function: "forward",
            seconds: 6,
            compiled: { count: 4, first: ["0:0:0:0/0", "0:0:0:0/1", "1:1:0:0/0", "1:1:0:0/1"] },
          },
          {
            line: 14,
            code: `y = f(x)  # ${hostileName}`,
            guards: 3,
            failed_guards: 2,
            nodes: 4,
            recompiled: { count: 30, first: ["0:0:0:0/1"] },
            kernels: { count: 1, first: ["triton_poi_fused_add_0"] },
          },
          { line: 41, code: "n = loss.item()", breaks: 6 },
          {
            line: 52,
            code: "dist.all_reduce(x)",
            collectives: { count: 9, first: ["all_reduce"] },
            call: { group: "7", seq: 16, rank: 5 },
          },
          { line: 60, failed: { count: 2, first: ["0:0:0:2/0"] }, exports: 1 },
        ],
      },
      {
        job: 0,
        file: `/home/user/${hostileName}.py`,
        user: true,
        lines: [{ line: 1, code: "import torch", nodes: 1 }],
      },
      { job: 0, file: "/x/site-packages/lib.py", user: false, lines: [{ line: 3, nodes: 2 }] },
    ],
    left_out: 0,
  };
}

export function exportIsland() {
  const issue = (entry, fields) => ({
    job: 0,
    rank: null,
    input: 0,
    entry,
    file,
    line: 60,
    ...fields,
  });
  return {
    issues: [
      issue(70, { kind: "missing_fake_kernel", expression: "mylib.foo.default" }),
      issue(80, {
        kind: "propagate_real_tensors_provenance",
        expression: `Eq(u0, 0) ${hostileName}`,
        result: "False",
        function: "forward",
        code: "return z[:a]",
        locals: "a: u0",
        stack: [`${file}:60 in forward`, `${file}:80 in main`],
      }),
    ],
    left_out: 0,
    programs: [{ job: 0, rank: null, input: 0, entry: 912, bytes: 1840 }],
  };
}

export const allIslands = () => ({
  stacks: stacksIsland(),
  lanes: lanesIsland(),
  source: sourceIsland(),
  export: exportIsland(),
});
