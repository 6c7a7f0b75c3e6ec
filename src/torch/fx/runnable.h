// The Python of an fx_graph_runnable payload, made to compile.
//
// PyTorch pastes texts into that program that are not Python. Repaired, each with a comment:
//   self.body = <lambda>()                  -> self.body = None
//   f(x, <function g at 0x7f...>)           -> f(x, None)
//   class <lambda>(torch.nn.Module):        -> class _lambda_(torch.nn.Module):
//   torch._x.config.y = <function g ...>    -> a comment: the setting keeps its default
//   self.body = GraphModule(                -> self.body = None, the printed tree as comments
//     (inner): GraphModule()
//   )
//   os.environ['A'] = 'it's C:\new'         -> the value, quoted as Python wants it
// Zero bytes and bytes that are no UTF-8 become question marks. All other lines stay as they are.
// One pass. Not a Python parser: lines that PyTorch prints by repr() of data are already Python.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

std::string RunnableSource(std::string_view payload);

}  // namespace debrief
