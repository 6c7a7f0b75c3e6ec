#include "accel/passes/collective_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "accel/passes/names.h"

namespace debrief::accel {
namespace {

constexpr double kNear = 10'000;  // microseconds between the ends of a kernel and the first step

template <typename Compare>
void Take(const FlowStep*& kept, const FlowStep& step, Compare&& better) {
  if (kept == nullptr || better(step, *kept)) kept = &step;
}

bool Earlier(const FlowStep& a, const FlowStep& b) { return a.slice.ts < b.slice.ts; }
bool EndsLater(const FlowStep& a, const FlowStep& b) { return a.slice.end() > b.slice.end(); }

// -1 when nobody sends to all.
int64_t MulticastSender(const CollectiveGroup& group) {
  for (const FlowStep* step : group.steps()) {
    if (step->kind == StepKind::kMulticast) return step->slice.pid.integer;
  }
  return -1;
}

std::string SetText(const std::set<int64_t>& ranks) {
  std::string text = "{";
  for (const int64_t rank : ranks) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", rank);
  return text + "}";
}

std::string NumberedName(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool numbered =
      digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_';
  return std::string(name) + (numbered ? "" : "_0");
}

// "524288B", the second word of a receive whose size is not in brackets.
std::string_view SecondWord(std::string_view name) {
  const size_t begin = name.find(' ');
  if (begin == std::string_view::npos) return {};
  return name.substr(begin + 1, name.find(' ', begin + 1) - begin - 1);
}

}  // namespace

CollectiveSlices::CollectiveSlices(const EventList& events, Run& run) : events_(events), run_(run) {
  if (!run.options.build_coll_event) return;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const NameTraits traits = run.Traits(event);
    if (event.phase != 'X' || !traits.cmpt_exec || traits.all_reduce) continue;
    if (event.pid.IsInteger()) kernels_[event.pid.integer].push_back(static_cast<uint32_t>(i));
  }
}

CollectiveSlices::Parts CollectiveSlices::ChainParts(const CollectiveGroup& group,
                                                     int64_t ranks) const {
  Parts parts;
  for (const FlowStep* step : group.steps()) {
    const int64_t rank = step->slice.pid.integer;
    const bool done = step->kind == StepKind::kDone;
    if (rank == 0 ? step->kind == StepKind::kSend : done) Take(parts[rank].first, *step, Earlier);
    if (rank == ranks - 1 ? step->kind == StepKind::kMulticast : done) {
      Take(parts[rank].last, *step, EndsLater);
    }
  }
  return parts;
}

CollectiveSlices::Parts CollectiveSlices::PartsOf(const CollectiveGroup& group,
                                                  int64_t ranks) const {
  if (run_.options.compat) return ChainParts(group, ranks);
  Parts parts;
  for (const FlowStep* step : group.steps()) {
    Part& part = parts[step->slice.pid.integer];
    Take(part.first, *step, Earlier);
    Take(part.last, *step, EndsLater);
  }
  return parts;
}

// Those that lie before are of no use to later collectives either.
const Event* CollectiveSlices::KernelBefore(const Part& part, size_t position) {
  std::deque<uint32_t>& kernels = kernels_[part.first->slice.pid.integer];
  while (!kernels.empty() && kernels.front() < position) {
    const Event& kernel = events_[kernels.front()];
    const bool near = std::abs(kernel.end() - part.first->slice.end()) <= kNear;
    if (kernel.ts > part.first->slice.ts && !near) return nullptr;
    kernels.pop_front();
    if (kernel.ts > part.first->slice.ts) return &kernel;
  }
  return nullptr;
}

int64_t CollectiveSlices::BytesOf(const CollectiveGroup& group) const {
  int64_t bytes = 0;
  for (const FlowStep* step : group.steps()) {
    if (step->kind != StepKind::kDone) continue;
    if (run_.options.compat) {
      const std::string_view word = SecondWord(run_.Text(step->slice.name));
      std::from_chars(word.data(), word.data() + word.size(), bytes);
      return bytes;
    }
    bytes = std::max(bytes, IntegerArg(step->slice, key::kBytes, run_).value_or(0));
  }
  return bytes;
}

// The reference shares the kernel's slice with the passes behind, which rename it.
std::string CollectiveSlices::NameOfKernel(const Event& kernel) const {
  const std::string_view name = run_.Text(kernel.name);
  const bool renamed =
      run_.options.compat && run_.options.tb_refinement && !run_.options.keep_names;
  return renamed ? WithoutDigits(name) : std::string(name);
}

void CollectiveSlices::Add(StringId name, const CollectiveGroup& group, size_t position,
                           EventList& out) {
  const std::set<int64_t> all = group.Ranks();
  const auto ranks = static_cast<int64_t>(all.size());
  const int64_t sender = MulticastSender(group);
  const bool chain = sender == ranks - 1;
  if (run_.options.compat && (unsupported_ || !chain)) {
    if (!unsupported_) {
      run_.console.Warning("FLOW: only chains are supported: no collective events (-R) are built");
    }
    unsupported_ = true;
    return;
  }
  const int64_t bytes = BytesOf(group);
  for (const auto& [rank, part] : PartsOf(group, ranks)) {
    if (part.first == nullptr || part.last == nullptr) continue;
    const Event* kernel = KernelBefore(part, position);
    if (kernel == nullptr && run_.options.compat) continue;
    Event slice = part.first->slice;
    slice.ts = kernel != nullptr ? kernel->end() : slice.ts;
    slice.dur = part.last->slice.end() - slice.ts;
    if (slice.dur <= 0 && !run_.options.compat) {
      slice.ts = part.first->slice.ts;
      slice.dur = part.last->slice.end() - slice.ts;
    }
    slice.has_dur = true;
    slice.name = run_.Intern(NumberedName(run_.Text(name)));
    slice.tid = Value::Text(run_.Intern(fmt::format("coll{}", rank)));
    slice.cat = StringId::kNone;
    slice.stamps = kNoStamps;
    slice.arg_array = nullptr;
    slice.arg_count = slice.arg_capacity = 0;
    run_.args.Own(slice, 8);
    const auto text = [&](std::string_view key, std::string_view value) {
      run_.args.Set(slice, run_.Intern(key), Value::Text(run_.Intern(value)));
    };
    text("bytes", fmt::format("{}B", bytes));
    text("collective algorithm type", chain ? "chain" : sender == 0 ? "tree" : "other");
    text("peers", SetText(all));
    run_.args.Set(slice, key::kCollGroup, Value::Text(name));
    if (kernel != nullptr) text("rank group compute event", NameOfKernel(*kernel));
    run_.args.Set(slice, key::kCollDataSize, Value::Integer(2 * (ranks - 1) * bytes));
    out.push_back(slice);
  }
}

}  // namespace debrief::accel
