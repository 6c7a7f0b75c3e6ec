// TORCH_TRACE logs made for the tests of `debrief compile`'s pages.
import { createHash } from "node:crypto";

// entries: [envelope, payload?]. Each gets its prefix, and each line of a payload its tab.
export function makeLog(entries) {
  return entries
    .map(([envelope, payload], i) => {
      const micros = String(i).padStart(6, "0");
      const prefix = `V1115 10:00:00.${micros} 4242 torch/_logging/structured.py:19] `;
      if (payload === undefined) return `${prefix}${JSON.stringify(envelope)}\n`;
      const md5 = createHash("md5").update(payload).digest("hex");
      const lines = payload.split("\n").map((line) => `\t${line}\n`);
      return `${prefix}${JSON.stringify({ ...envelope, has_payload: md5 })}\n${lines.join("")}`;
    })
    .join("");
}

const id = (frame, compile = 0, attempt = 0) => ({
  frame_id: frame,
  frame_compile_id: compile,
  attempt,
});

const frame = (file, line, name, loc) => ({
  uninterned_filename: file,
  filename: 0,
  line,
  name,
  loc,
});

export const generatedCode = [
  "# AOT ID: ['0_inference']",
  "import torch",
  "@triton.jit",
  "def call(args):",
  "    arg0, = args  # the input",
  "    s = 'text < & \"'",
  "    return (arg0 + 1.5, )",
].join("\n");

function metrics(name, fields = {}) {
  return {
    co_name: name,
    co_filename: "/home/me/train.py",
    co_firstlineno: 10,
    graph_op_count: 3,
    restart_reasons: [],
    entire_frame_compile_time_s: 1.25,
    ...fields,
  };
}

function compilation(number, fields = {}) {
  const stack = [
    frame("/home/me/train.py", 90, "<module>", "main()"),
    frame("/home/me/train.py", 12 + (number % 5), `step_${number % 5}`, "loss = model(x)"),
  ];
  const code = generatedCode.replace("0_inference", `${number}_inference`);
  return [
    [{ dynamo_start: { stack }, ...id(number) }],
    [{ dynamo_output_graph: {}, ...id(number) }, `graph ${number}`],
    [{ inductor_output_code: { filename: `/tmp/c${number}.py` }, ...id(number) }, code],
    [{ compilation_metrics: metrics(`fn_${number}`, fields), ...id(number) }],
  ];
}

// `count` compilations, of which number 3 fails and number 5 restarts.
export function manyCompilations(count) {
  const entries = [[{ str: ["/home/me/train.py", 0] }]];
  for (let i = 0; i < count; ++i) {
    const failing = {
      fail_type: "Unsupported",
      fail_reason: "Data-dependent branching\n  Explanation: ...",
      fail_user_frame_filename: "/home/me/model.py",
      fail_user_frame_lineno: 77,
    };
    entries.push(
      ...compilation(i, i === 3 ? failing : i === 5 ? { restart_reasons: ["graph break"] } : {}),
    );
  }
  return makeLog(entries);
}

export function longCode(lines) {
  const text = Array.from({ length: lines }, (_, i) => `    buf${i} = call(arg${i}, 'x', 1.5)  # ${i}`);
  return makeLog([[{ inductor_output_code: {}, ...id(0) }, text.join("\n")]]);
}

export function provenanceLog() {
  const artifact = (name, encoding = "string") => ({ artifact: { name, encoding }, ...id(0) });
  const nodes = {
    preToPost: { a: ["x"], b: ["y"] },
    postToPre: { x: ["a"], y: ["b"] },
    cppCodeToPost: { kernel_0: ["x", "y"] },
    postToCppCode: { x: ["kernel_0"], y: ["kernel_0"] },
  };
  const code = ["# AOT ID: ['0']", ...Array(200).fill("# filler"), "def call(args):", "    kernel_0.run()"];
  return makeLog([
    [artifact("before_pre_grad_graph"), "a: f32 = 1\nb: f32 = 2\nreturn b"],
    [artifact("after_post_grad_graph"), "# comment\nx: f32 = 3\ny: f32 = 4"],
    [{ inductor_output_code: {}, ...id(0) }, code.join("\n")],
    [artifact("inductor_provenance_tracking_node_mappings", "json"), JSON.stringify(nodes)],
  ]);
}

export function hostileLog(text) {
  const stack = [frame(text, 1, text, text)];
  return makeLog([
    [{ dynamo_start: { stack }, ...id(0) }],
    [{ link: { name: text, url: "javascript:window.hacked=1" }, ...id(0) }],
    [{ link: { name: "good", url: "https://example.org/?a=1&b=2" }, ...id(0) }],
    [{ artifact: { name: text, encoding: "string" }, ...id(0) }, text],
    [{ dynamo_guards: {}, ...id(0) }, JSON.stringify([{ code: text }])],
    [{ inductor_output_code: {}, ...id(0) }, text],
    [{ dump_file: { name: "<eval_with_key>.1" }, ...id(0) }, text],
    [{ stack, [text]: 1, ...id(0) }],
    [
      {
        compilation_metrics: metrics(text, {
          fail_type: text,
          fail_reason: text,
          fail_user_frame_filename: text,
          fail_user_frame_lineno: 1,
          restart_reasons: [text],
        }),
        ...id(0),
      },
    ],
  ]);
}
