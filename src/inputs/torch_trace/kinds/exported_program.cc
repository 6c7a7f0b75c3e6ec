// {"exported_program": {}}: what torch.export made; the payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::exported_program {

const Kind& Describe() {
  static const Kind kKind = {.key = "exported_program",
                             .sentence = "the program that torch.export made"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::exported_program
