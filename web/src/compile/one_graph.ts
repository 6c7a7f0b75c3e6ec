// A printed graph as rows, one a node. Printers of PyTorch write either of
//
//   def forward(self, primals_1: "f32[4, 8][8, 1]cpu", s0: "Sym(s0)"):
//       # File: /home/user/train.py:12 in forward, code: return self.l(x)
//       add: "f32[4, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(primals_1, 1);  primals_1 = None
//       return (add,)
//
//   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%primals_1, 1), kwargs = {})
//
// Lines that are neither are passed over: the table is a way to read the text, not a check of it.

export interface GraphNode {
  line: number; // of the text, from 1
  name: string;
  op: "input" | "call" | "attribute" | "output";
  target: string;
  inputs: string;
  shape: string;
  file: string; // of the program
  fileLine: number | undefined;
  code: string;
}

const longestLine = 20000;
const mostNodes = 100_000;

type Place = Pick<GraphNode, "file" | "fileLine" | "code">;

const nowhere: Place = { file: "", fileLine: undefined, code: "" };

function placeOf(line: string): Place | null {
  const match = /^\s*#\s*File:\s*(.*?):(\d+)(?: in [^,]*)?(?:, code: (.*))?$/.exec(line);
  if (!match) return null;
  return { file: match[1] ?? "", fileLine: Number(match[2]), code: match[3] ?? "" };
}

// Names of nodes among the arguments, in order, each once.
function namesIn(text: string, known: Set<string>): string {
  const names = text.match(/[A-Za-z_]\w*/g) ?? [];
  return [...new Set(names.filter((name) => known.has(name)))].join(", ");
}

function readAssignment(text: string): { name: string; shape: string; value: string } | null {
  const match = /^\s+(\w+)\s*(?::\s*(?:"([^"]*)"|([\w.\[\], ]+?)))?\s*=\s*(.+)$/.exec(text);
  if (!match) return null;
  return { name: match[1] ?? "", shape: match[2] ?? match[3] ?? "", value: match[4] ?? "" };
}

function readFx(text: string): { name: string; op: string; target: string; rest: string } | null {
  const match = /^\s*%(\w+)\s*:.*?=\s*(\w+)\[target=([^\]]*)\](.*)$/.exec(text);
  if (!match) return null;
  return { name: match[1] ?? "", op: match[2] ?? "", target: match[3] ?? "", rest: match[4] ?? "" };
}

class GraphReader {
  readonly nodes: GraphNode[] = [];
  private known = new Set<string>();
  private place = nowhere;

  private add(node: Omit<GraphNode, keyof Place>): void {
    const place = node.op === "input" ? nowhere : this.place;
    this.nodes.push({ ...node, ...place });
    this.known.add(node.name);
  }

  private inputs(text: string, line: number): void {
    for (const match of text.matchAll(/(\w+)\s*:\s*"([^"]*)"/g))
      this.add({
        line,
        name: match[1] ?? "",
        op: "input",
        target: "",
        inputs: "",
        shape: match[2] ?? "",
      });
  }

  private assignment(text: string, line: number): boolean {
    const found = readAssignment(text);
    if (!found) return false;
    const value = found.value.replace(/;\s{2}.*$/, ""); // what is freed behind it
    const call = /^([\w.]+)\((.*)\)\s*$/.exec(value);
    const self = /^\w+(?=\.)/.exec(call?.[1] ?? "")?.[0] ?? ""; // x of x.sin()
    const isName = /^[\w.]+$/.test(value);
    this.add({
      line,
      name: found.name,
      op: isName ? "attribute" : "call",
      target: call?.[1] ?? value,
      inputs: namesIn(call ? `${self}, ${call[2]}` : value, this.known),
      shape: found.shape,
    });
    return true;
  }

  private fx(text: string, line: number): boolean {
    const found = readFx(text);
    if (!found) return false;
    const op =
      found.op === "placeholder" ? "input" : found.op === "get_attr" ? "attribute" : "call";
    const inputs = namesIn(found.rest, this.known);
    this.add({ line, name: found.name, op, target: found.target, inputs, shape: "" });
    return true;
  }

  read(text: string, line: number): void {
    if (text.length > longestLine || this.nodes.length === mostNodes) return;
    const place = placeOf(text);
    if (place) this.place = place;
    else if (/^\s*def \w+\(/.test(text)) this.inputs(text, line);
    else if (this.fx(text, line) || this.assignment(text, line)) return;
    else if (/^\s+return\b/.test(text)) {
      const inputs = namesIn(text.replace(/^\s*return/, ""), this.known);
      this.add({ line, name: "output", op: "output", target: "", inputs, shape: "" });
    } else if (/^\s+\w+\s*:\s*"[^"]*"/.test(text)) this.inputs(text, line);
  }
}

export function readGraph(text: string): GraphNode[] {
  const reader = new GraphReader();
  text.split("\n").forEach((line, i) => reader.read(line, i + 1));
  return reader.nodes;
}
