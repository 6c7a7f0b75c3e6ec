#include "analyses/compile/break_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch/stacks/user_frames.h"

namespace debrief {

size_t BreakRows::Add(const BreakHit& hit, const BreakText& text) {
  Frame frame = hit.otherwise;
  const StackId stack = AddTextStack(text.frames, pools_);
  if (auto frames = UserFrames(pools_, stack); !frames.empty()) {
    frame = pools_.GetFrame(frames[0]);
  } else if (!text.file.empty()) {
    frame = {.file = pools_.Intern(text.file), .line = text.line};
  }
  auto [found, is_new] = numbers_.try_emplace(
      std::tuple(hit.process.input, hit.process.rank, Text(text.reason), frame.file, frame.line),
      found_.size());
  if (is_new) found_.push_back(NewBreak(hit, text, frame, stack));
  Break& to = found_[found->second];
  ++to.row.count;
  to.ids.Add(hit.compile_id);
  to.functions.Add(hit.function);
  return found->second;
}

BreakRows::Break BreakRows::NewBreak(const BreakHit& hit, const BreakText& text, const Frame& frame,
                                     StackId stack) const {
  Break made;
  CompileBreakRow& row = made.row;
  row = hit.process;
  row.kind = Text(hit.kind);
  row.reason = Text(text.reason);
  row.explanation = Text(text.explanation);
  row.hints = Text(fmt::format("{}", fmt::join(text.hints, "\n")));
  row.context = Text(text.context);
  row.link = Text(text.link);
  row.also = Text(text.also);
  row.user_file = frame.file;
  row.user_line = frame.line;
  row.user_function = frame.function;
  row.user_code = frame.text;
  row.user_stack = stack;
  row.first_compile_id = Text(hit.compile_id);
  row.count = row.resumes = 0;
  row.wasted_s = row.resume_s = 0;
  return made;
}

void BreakRows::Write(CompileBreakTable& table) {
  for (Break& found : found_) {
    found.row.compile_ids = Text(found.ids.Joined());
    found.row.functions = Text(found.functions.Joined());
    table.Add(found.row);
  }
}

}  // namespace debrief
