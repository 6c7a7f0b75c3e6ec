// Collapsed stacks of recorded ops: those of recordings from their timelines, with their nesting;
// those of formats that do not nest as device and op.
#include <fmt/format.h>

#include <map>

#include "model/timeline/view.h"
#include "op_trace/reference.h"
#include "outputs/stack_tree.h"
#include "outputs/terminal/op_answers/answers.h"
#include "outputs/timeline_merge.h"
#include "tables/recorded_op.h"

namespace debrief::outputs::op_answers {

namespace {

void WriteCompatStacks(const Model& model, TextSink& out) {
  op_trace::CompatStacks stacks;
  for (const op_trace::Entry& entry : CompatEntries(model)) {
    stacks.Add(entry.operation,
               entry.device ? std::optional<std::string_view>(*entry.device) : std::nullopt,
               entry.DurationUs());
  }
  out.Write(stacks.Text());
}

bool SeveralInputs(const Model& model) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  for (const int32_t input : ops.input) {
    if (input != ops.input.front()) return true;
  }
  return false;
}

void WriteFlatStacks(const Model& model, bool with_rank, TextSink& out) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  std::map<std::string, int64_t> weights;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.slice[row] != kNone32 || ops.duration_ns[row] <= 0) continue;
    std::string stack =
        with_rank ? RankName({.input = ops.input[row], .rank = ops.rank[row]}) + ";" : "";
    const bool has_device = ops.device[row] != StringId::kNone;
    stack += op_trace::FrameOf(has_device ? model.pools.Text(ops.device[row]) : "no device");
    stack += ';' + op_trace::FrameOf(model.pools.Text(ops.operation[row]));
    weights[std::move(stack)] += ops.duration_ns[row];
  }
  for (const auto& [stack, weight] : weights) out.Write(fmt::format("{} {}\n", stack, weight));
}

}  // namespace

void WriteStacks(const Model& model, op_trace::Behaviour behaviour, TextSink& out) {
  if (behaviour == op_trace::Behaviour::kReference) return WriteCompatStacks(model, out);
  const bool with_rank = SeveralInputs(model);
  StackTree tree(model.pools);
  for (const timeline::TimelineView& view : timeline::Timelines(model))
    tree.Add(view, with_rank ? RankName(view.who) : "", Frames::kAll);
  (void)tree.Write([&](std::string_view line) {
    out.Write(line);
    return Status();
  });
  WriteFlatStacks(model, with_rank, out);
}

}  // namespace debrief::outputs::op_answers
