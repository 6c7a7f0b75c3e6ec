// Where names are defined, in graphs and in generated code: one pass over the lines. It knows what printers of
// graphs write, not the languages:
//
//   add_7: "f32[4]" = torch.ops.aten.add.Tensor(...)       %add_7 : [num_users=1] = call_function[...]
//   primals_1, primals_2, = args                           def forward(self, primals_1: "f32[4]", s0: "Sym(s0)"):
//   triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''
//   const int64_t x0 = ...;                                extern "C" void cpp_fused_0(const float* in_ptr0)

export type Definitions = Map<string, number[]>; // lines from 1, ascending

const longestLine = 20000; // characters: a longer one is data
const longestHead = 1000; // of what stands before "="

const notNames =
  /^(self|return|if|elif|else|for|while|del|import|from|with|assert|raise|yield|not|lambda|void|auto|const|new|throw)$/;

function parameters(text: string): string[] {
  const names = text.matchAll(/[(,]\s*[*&]*(?:[\w:]+[\s*&]+)*(\w+)\s*(?=[:,)=]|$)/g);
  return [...names].map((match) => match[1] ?? "");
}

// Names before "=": `a, b, = args`, `a: "f32[4]" = x`, `auto a = x`. A call or an item is no name.
function assigned(line: string): string[] {
  const end = line.search(/=(?!=)/);
  if (end < 1 || end > longestHead || /[!<>+\-*/|&^%=]/.test(line.charAt(end - 1))) return [];
  const head = line.slice(0, end);
  const names = head.replace(/::/g, "__").replace(/:.*$/, "");
  if (/[([{"'#]/.test(names.replace(/<[^<>]*>/g, ""))) return [];
  return names.split(",").map((name) => /(\w+)\s*$/.exec(name)?.[1] ?? "");
}

function definedIn(line: string): string[] {
  const function_ = /^\s*(?:async\s+)?(?:def|class)\s+(\w+)(.*)/.exec(line);
  if (function_) return [function_[1] ?? "", ...parameters(function_[2] ?? "")];
  const names = assigned(line);
  if (names.length > 0) return names;
  const argument = /^\s+(\w+)\s*:\s*["']?[\w.]+\[/.exec(line);
  if (argument) return [argument[1] ?? ""];
  const head = /^\s*(\w+)/.exec(line)?.[1] ?? "";
  if (line.length > longestHead || line.endsWith(";")) return [];
  if (notNames.test(head) && !/^(void|auto|const)$/.test(head)) return [];
  const native = /^\s*(?:extern\s+"C"\s+)?[\w:<>*& \t]+?[\s*&](\w+)\s*\((.*)$/.exec(line);
  return native ? [native[1] ?? "", ...parameters(`(${native[2]}`)] : [];
}

export function findDefinitions(text: string): Definitions {
  const found: Definitions = new Map();
  text.split("\n").forEach((line, i) => {
    if (line.length > longestLine) return;
    for (const name of definedIn(line)) {
      if (!name || notNames.test(name)) continue;
      const lines = found.get(name);
      if (!lines) found.set(name, [i + 1]);
      else if (lines[lines.length - 1] !== i + 1) lines.push(i + 1);
    }
  });
  return found;
}

// The nearest definition at or above the line, since names are used again; else the first below it.
export function definitionFor(found: Definitions, name: string, line: number): number | null {
  const lines = found.get(name);
  if (!lines) return null;
  let above: number | null = null;
  for (const one of lines) if (one <= line) above = one;
  return above ?? lines[0] ?? null;
}
