// {"dynamo_cpp_guards_str": {}}: the tree of guards as C++ checks it; the payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::dynamo_cpp_guards_str {

const Kind& Describe() {
  static const Kind kKind = {.key = "dynamo_cpp_guards_str",
                             .sentence = "the tree of guards as C++ checks it",
                             .order = 9,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::dynamo_cpp_guards_str
