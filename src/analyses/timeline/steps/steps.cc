#include "analyses/timeline/steps/steps.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

namespace debrief::analyses::timeline_steps {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

constexpr std::string_view kMark = "ProfilerStep";

// The share of work, in percent, below which a last step counts as cut: that of the TensorBoard
// plug-in.
constexpr int64_t kWholeShare = 80;

// ProfilerStep#412 -> 412; none when there is no number.
int64_t LabelOf(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find_first_of("0123456789")));
  int64_t label = kNone64;
  std::from_chars(name.data(), name.data() + name.size(), label);
  return label;
}

bool IsMark(const TimelineView& view, int32_t slice, std::unordered_map<StringId, bool>& known) {
  const size_t at = TimelineView::At(slice);
  const StringId kind = view.kind[at];
  if (kind != view.kinds.annotation && kind != view.kinds.op) return false;
  auto [found, is_new] = known.try_emplace(view.name[at], false);
  if (is_new) found->second = view.NameOf(slice).starts_with(kMark);
  return found->second;
}

bool ByStart(const Step& a, const Step& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// Steps sorted by start, marks of the same step together, none longer than until the next.
std::vector<Step> Joined(std::vector<Step> marks) {
  std::sort(marks.begin(), marks.end(), ByStart);
  std::vector<Step> steps;
  for (const Step& mark : marks) {
    const bool same = !steps.empty() && mark.start < steps.back().end &&
                      (mark.label == steps.back().label || mark.start == steps.back().start);
    if (same) {
      steps.back().end = std::max(steps.back().end, mark.end);
    } else {
      if (!steps.empty()) steps.back().end = std::min(steps.back().end, mark.start);
      steps.push_back(mark);
    }
  }
  return steps;
}

}  // namespace

std::vector<Step> MarkedSteps(const TimelineView& view) {
  std::vector<Step> marks;
  std::unordered_map<StringId, bool> known;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (!IsMark(view, slice, known)) continue;
    marks.push_back({.label = LabelOf(view.NameOf(slice)),
                     .start = view.start[TimelineView::At(slice)],
                     .end = view.end(slice)});
  }
  return Joined(std::move(marks));
}

void CountWork(const TimelineView& view, std::span<const WorkOrigin> origins,
               std::vector<Step>& steps) {
  for (const WorkOrigin& origin : origins) {
    const int32_t when = origin.host() == kNone32 ? origin.work : origin.host();
    const int64_t time = view.start[TimelineView::At(when)];
    auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                  [](int64_t at, const Step& step) { return at < step.start; });
    if (after == steps.begin() || time >= std::prev(after)->end) continue;
    Step& step = *std::prev(after);
    const int64_t start = view.start[TimelineView::At(origin.work)];
    step.device_start = step.launches == 0 ? start : std::min(step.device_start, start);
    step.device_end = std::max(step.device_end, view.end(origin.work));
    ++step.launches;
  }
}

void MarkCutSteps(std::vector<Step>& steps) {
  if (steps.size() < 2) return;
  Step& last = steps.back();
  last.whole = last.launches * 100 >= steps[steps.size() - 2].launches * kWholeShare;
}

}  // namespace debrief::analyses::timeline_steps
