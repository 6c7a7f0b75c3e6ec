#include "accel/passes/rank_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "accel/categories.h"
#include "accel/passes/helpers.h"

namespace debrief::accel {

namespace {

struct Span {
  double begin = std::numeric_limits<double>::infinity();
  double end = -std::numeric_limits<double>::infinity();
};

// One in ten may be matched wrongly.
constexpr size_t kToleratedShare = 10;

// Operations that no rank leaves before all have come.
bool Synchronises(std::string name) {
  std::erase(name, '_');
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  for (std::string_view word : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle), values.end());
  return values[middle];
}

class Alignment {
 public:
  Alignment(EventList& events, Run& run) : events_(events), run_(run) {}

  void Apply() {
    Collect();
    if (ranks_.size() < 2 || collectives_.empty()) {
      run_.console.Info("MP SYNC: no collective group detected or single process, no action");
      return;
    }
    FindShifts();
    if (Agrees()) {
      run_.console.Info("MP SYNC: the clocks of the ranks agree, no action");
      return;
    }
    for (Event& event : events_) Move(event);
    Tell();
  }

 private:
  // The rank whose clock an event is on.
  Value ClockOf(const Event& event) const {
    const bool is_torch = run_.DialectOf(event) == Dialect::kTorch;
    return is_torch ? Value::Integer(run_.jobs[event.job].rank) : event.pid;
  }

  // A name that the same collective has on all ranks; empty when it is none.
  std::string CollectiveOf(const Event& event, const Value& rank) {
    if (const Arg* group = event.Find(key::kCollGroup)) return group->value().AsText(run_.strings);
    const Arg* op = event.Find(collective_name_);
    if (op == nullptr || !IsDeviceEvent(event, run_)) return "";
    std::string name = op->value().AsText(run_.strings);
    if (!Synchronises(name)) return "";
    if (const Arg* group = event.Find(process_group_))
      name += "/" + group->value().AsText(run_.strings);
    if (const Arg* sequence = event.Find(sequence_))
      return name + "#" + sequence->value().AsText(run_.strings);
    return fmt::format("{}@{}", name, ++ordinals_[{rank.integer, name}]);
  }

  void Collect() {
    for (const Event& event : events_) {
      if (event.phase != 'X' && event.phase != 'b') continue;
      const Value rank = ClockOf(event);
      const std::string name = CollectiveOf(event, rank);
      if (name.empty()) continue;
      ranks_[rank] = true;
      Span& span = collectives_[name][rank];
      span.begin = std::min(span.begin, event.ts);
      span.end = std::max(span.end, event.end());
    }
  }

  // Breadth first from the lowest rank, over ranks with collectives in common.
  void FindShifts() {
    const auto lowest = std::min_element(
        ranks_.begin(), ranks_.end(),
        [&](const auto& a, const auto& b) { return PidBefore(a.first, b.first, run_.strings); });
    std::vector<Value> reached = {lowest->first};
    shifts_[reached[0]] = 0;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const auto& [rank, unused] : ranks_) {
        if (shifts_.Find(rank) != nullptr) continue;
        const auto distance = Distance(reached[i], rank);
        if (!distance) continue;
        const double known = shifts_[reached[i]];
        shifts_[rank] = known - *distance;
        reached.push_back(rank);
      }
    }
    if (reached.size() < ranks_.size())
      run_.console.Warning(fmt::format(
          "MP SYNC: {} of {} ranks have no collective in common with the others; they stay",
          ranks_.size() - reached.size(), ranks_.size()));
  }

  // How far the clock of `to` is ahead; 0 when the two agree, null when they share no collective.
  std::optional<double> Distance(const Value& from, const Value& to) {
    std::vector<double> distances;
    size_t apart = 0;
    for (auto& [name, spans] : collectives_) {
      const Span *a = spans.Find(from), *b = spans.Find(to);
      if (a == nullptr || b == nullptr) continue;
      distances.push_back(b->end - a->end);
      apart += a->end < b->begin || b->end < a->begin ? 1 : 0;
    }
    if (distances.empty()) return std::nullopt;
    return apart * kToleratedShare > distances.size() ? Median(std::move(distances)) : 0;
  }

  bool Agrees() const {
    return std::all_of(shifts_.begin(), shifts_.end(),
                       [](const auto& each) { return each.second == 0; });
  }

  void Move(Event& event) {
    const double* shift = shifts_.Find(ClockOf(event));
    if (shift == nullptr || *shift == 0 || !event.has_ts) return;
    event.ts += *shift;
    event.ts_is_integer = false;
    if (Stamps* stamps = run_.StampsOf(event)) {
      for (double& time : stamps->all) time += *shift;
    }
  }

  void Tell() const {
    std::string text;
    for (const auto& [rank, shift] : shifts_)
      text +=
          fmt::format("{}{}: {:.3f}", text.empty() ? "" : ", ", rank.AsText(run_.strings), shift);
    run_.console.Info(fmt::format("MP SYNC: ranks shifted by us ({})", text));
  }

  EventList& events_;
  Run& run_;
  const StringId collective_name_ = run_.Intern("Collective name");
  const StringId process_group_ = run_.Intern("Process Group Name");
  const StringId sequence_ = run_.Intern("Seq");
  ByValue<bool> ranks_;
  std::map<std::string, ByValue<Span>> collectives_;
  std::map<std::pair<int64_t, std::string>, int64_t> ordinals_;
  ByValue<double> shifts_;
};

}  // namespace

void AlignRanks(EventList& events, Run& run) { Alignment(events, run).Apply(); }

}  // namespace debrief::accel
