// Names as they fit into a box: what tells one from another first. The whole name is shown on hovering.
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)
//     -> CUDAFunctor_add<float> vectorized_elementwise_kernel
//   ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)  ->  AllReduce_Sum_f32_RING_LL
//   /usr/lib/python3/site-packages/torch/nn/modules/module.py(1518): _call_impl  ->  module.py(1518): _call_impl

const telling = /functor|lambda|_op\b|op<|ops::|_kernel|_impl|policy|scan|sort|softmax|norm/i;
const generic = /^(?:vectorized_|unrolled_|index_)?(?:elementwise|reduce|multi_tensor_apply)_kernel|^(?:device_)?kernel\d*$/i;

// The parts between the outermost < and >, cut at commas.
function templateParts(text: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (c === "<" && ++depth === 1) from = i + 1;
    else if (c === ">" && depth-- === 1) return [...parts, text.slice(from, i)];
    else if (c === "," && depth === 1) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return parts;
}

const withoutNamespaces = (text: string) => text.replace(/\b[A-Za-z_]\w*::/g, "").trim();

// Before the first < or ( that is not of an operator.
function baseOf(name: string): string {
  return withoutNamespaces(name.split(/[<(]/, 1)[0] ?? name);
}

function shortTemplate(name: string): string {
  const plain = name.replace(/\(anonymous namespace\)::/g, "").replace(/^(?:void|int|bool) /, "");
  const base = baseOf(plain);
  const part = templateParts(plain).find((one) => telling.test(one));
  if (!part) return base || name;
  const inner = withoutNamespaces(part).replace(/\{lambda.*\}/s, "lambda");
  return generic.test(base) ? `${inner} ${base}` : `${base}<${inner}>`;
}

export function shortName(name: string): string {
  const nccl = /^nccl(?:Dev)?Kernel_(\w+)/.exec(name)?.[1];
  if (nccl) return nccl;
  const python = /^.*\/([^/]+\.py\(\d+\): .*)$/s.exec(name)?.[1];
  if (python) return python;
  return /^(?:void |[A-Za-z_]\w*::|[\w ]+<.*>)/.test(name) && /[<(]/.test(name) ? shortTemplate(name) : name;
}

// One of `variants` shades of its category's colour, the same for the same name.
export function shadeOf(name: string, variants: number): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 8) % variants;
}
