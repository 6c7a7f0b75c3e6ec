// Texts of compile logs for the page, as src/outputs/report/html/compile/texts.cc writes them.
import { compileTables, withCompile } from "./compile_fixture.mjs";

// One chunk with all texts. `artifacts`: {input, rank, id, entry, kind, name, form, text}; no text: left out.
export function textIslands(artifacts, { frames = [], stacks = {} } = {}) {
  const encoder = new TextEncoder();
  const lists = { kinds: [], names: [], forms: [] };
  const number = (list, word) => {
    if (!lists[list].includes(word)) lists[list].push(word);
    return lists[list].indexOf(word);
  };
  const texts = [];
  const chunks = [];
  const compilations = new Map();
  let offset = 0;
  for (const one of artifacts) {
    const {
      input = 0,
      rank = 0,
      id = "0/0",
      entry,
      kind = "artifact",
      name = "",
      form = "text",
    } = one;
    const key = [input, rank, id].join(":");
    if (!compilations.has(key)) compilations.set(key, { input, rank, life: 0, id, artifacts: [] });
    let at = -1;
    let size = 5_000_000;
    if (one.text !== undefined) {
      const bytes = encoder.encode(one.text);
      size = bytes.length;
      at = texts.push([0, offset, size, one.text.split("\n").length, one.whole ?? 0]) - 1;
      chunks.push(bytes);
      offset += size;
    }
    const numbers = [number("kinds", kind), number("names", name), number("forms", form)];
    compilations.get(key).artifacts.push([entry, ...numbers, 0, size, at]);
  }
  return {
    texts: {
      most_bytes: 48e6,
      left_out: artifacts.filter((one) => one.text === undefined).length,
      left_out_bytes: 5e6,
      ...lists,
      texts,
      compilations: [...compilations.values()],
      frames,
      stacks,
    },
    "text/0": new Uint8Array(Buffer.concat(chunks)),
  };
}

export const graph = (size) => `class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[4, ${size}]", s0: "Sym(s0)"):
        # File: /home/user/train.py:12 in forward, code: return self.l(x) + 1
        add_7: "f32[4, ${size}]" = torch.ops.aten.add.Tensor(primals_1, 1)
        mul_1: "f32[4, ${size}]" = torch.ops.aten.mul.Tensor(add_7, s0);  add_7 = None
${Array.from({ length: 30 }, (_, i) => `        neg_${i} = torch.ops.aten.neg.default(mul_1)`).join("\n")}
        return (mul_1,)`;

const code = `triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''
def triton_poi_fused_0(in_ptr0, out_ptr0, xnumel):
    pass
''')
${"# filler\n".repeat(200)}
def call(args):
    primals_1, primals_2 = args
    buf3 = empty_strided_cuda((4, 8), (8, 1))
    triton_poi_fused_0.run(primals_1, buf3, 32)
    return (buf3,)`;

export function textsRun(more = [], options = {}) {
  const artifacts = [
    { entry: 10, kind: "dynamo_output_graph", text: graph(8) },
    { entry: 20, kind: "aot_joint_graph", text: graph(8) },
    { entry: 30, name: "before_pre_grad_graph", text: graph(8) },
    {
      entry: 40,
      kind: "inductor_output_code",
      name: "inductor_output_code c.py",
      form: "code",
      text: code,
    },
    {
      entry: 50,
      name: "fx_graph_cache_miss",
      form: "json",
      text: '{"key": "f1", "components": [1, 2]}',
    },
    { entry: 60, name: "inductor_post_grad_graph" },
    { entry: 1010, id: "0/1", kind: "dynamo_output_graph", text: graph(16) },
    ...more,
  ];
  const run = withCompile(compileTables());
  return { ...run, islands: textIslands(artifacts, options) };
}
