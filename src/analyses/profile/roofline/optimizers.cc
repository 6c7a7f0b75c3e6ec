// Optimisers that update all parameters at once, and the ops on lists of tensors that others are
// made of. Types of the elements of a list are not recorded: the kernel's name tells them.
#include <cstdint>

#include "analyses/profile/roofline/families.h"
#include "base/text/strings.h"

namespace debrief::analyses::profile_roofline {

namespace {

// Of one parameter: operations, and how often its bytes are read or written.
struct StepCost {
  int64_t flops = 0, passes = 0;
};

// Lists: parameters, gradients, then the state. Adam: reads p g m v, writes p m v; with the largest
// v so far (amsgrad) that one, too.
StepCost CostOfFused(std::string_view op, const OpArgs& args) {
  if (Contains(op, "adam")) return {12, args.ListElements(4) > 0 ? 9 : 7};
  if (Contains(op, "adagrad")) return {6, 5};
  const bool has_momentum = args.ListElements(2) > 0;
  return has_momentum ? StepCost{4, 5} : StepCost{2, 3};
}

// Every list is read, but for one that is overwritten; one of the size of the first is written.
Work ForeachWork(std::string_view op, const OpArgs& args, int64_t width) {
  const bool is_copy = Contains(op, "_copy"), is_zero = Contains(op, "_zero");
  int64_t read = 0;
  int64_t lists = 0;
  for (size_t i = 0; i < args.lists.size(); ++i) {
    const int64_t elements = args.ListElements(i);
    if (elements > kMostWork / 1024) return std::nullopt;
    lists += elements > 0 ? 1 : 0;
    if (i > 0 || !(is_copy || is_zero)) read += elements;
  }
  const int64_t n = args.ListElements(0);
  const bool is_norm = Contains(op, "_norm") || Contains(op, "_max");
  OpWork work{.bytes = (read + (is_norm ? 0 : n)) * width};
  if (!is_copy && !is_zero) work.flops = n * lists;
  return work;
}

}  // namespace

Work OptimizerWork(std::string_view op, const OpArgs& args, const CallFacts& facts) {
  const int64_t n = args.ListElements(0), told = BytesByKernel(facts.kernel);
  if (n <= 0 || n > int64_t{1} << 50) return std::nullopt;
  const int64_t width = told > 0 ? told : 4;
  Work work;
  if (op.starts_with("aten::_foreach_")) {
    work = ForeachWork(op, args, width);
  } else {
    const StepCost cost = CostOfFused(op, args);
    work = OpWork{.flops = cost.flops * n, .bytes = cost.passes * n * width};
  }
  if (work && told == 0)
    work->estimated = "the type of the tensors is not recorded: taken as float";
  return work;
}

}  // namespace debrief::analyses::profile_roofline
