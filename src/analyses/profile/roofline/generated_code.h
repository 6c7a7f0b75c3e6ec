// Compiled kernels: what they compute, by the code that the compile log has of them.
//
//   # kernel path: /tmp/.../oo/cooep....py
//   # Graph fragment:
//   #   %p : Tensor "f32[32, 256][256, 1]cuda:0" = PlaceHolder[target=p]
//   #   %sin : Tensor "f32[32, 256][256, 1]cuda:0"[num_users=1] = call_function[target=
//           torch.ops.aten.sin.default](args = (%p,), kwargs = {})
//   triton_poi_fused_sin_0 = async_compile.triton('triton_poi_fused_sin_0', '''
//   def triton_poi_fused_sin_0(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
//
// A profile names the file of a kernel's code (kernel_file), which is named by its content.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::profile_roofline {

// What a parameter of the kernel is.
enum class Parameter : uint8_t { kRead, kWritten, kReadAndWritten, kSize, kOther };

struct GeneratedKernel {
  std::vector<Parameter> parameters;
  int64_t flops = 0;   // of the nodes whose shapes the graph tells
  int64_t weight = 0;  // operations an element, of the nodes whose shapes it does not tell
};

// The kernels in one generated file, by the stems of their paths. Linear in the text.
std::map<std::string, GeneratedKernel> KernelsIn(std::string_view code);

// Operations an element of "add" or "sin"; 0 of what only moves data, and of what is not known.
int64_t WeightOf(std::string_view aten_op);

// Code of kernels that profiles name.
class GeneratedCode {
 public:
  // What is looked for: the file that a profile names.
  void Want(const Identity& who, std::string_view file);

  // Reads the generated code in the compile logs of the ranks for which something is looked for.
  void Find(const Model& model);

  // Null when no log has it.
  const GeneratedKernel* KernelOf(const Identity& who, std::string_view file) const;

 private:
  using RankKey = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank
  std::map<RankKey, std::set<std::string, std::less<>>> wanted_;
  std::map<RankKey, std::map<std::string, GeneratedKernel, std::less<>>> found_;
};

}  // namespace debrief::analyses::profile_roofline
