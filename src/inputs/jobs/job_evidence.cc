#include "inputs/jobs/job_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "inputs/jobs/name_clues.h"

namespace debrief {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kDayNs = 86'400 * kSecondNs;

bool Near(int64_t a, int64_t b, int64_t within) {
  auto low = static_cast<uint64_t>(std::min(a, b)), high = static_cast<uint64_t>(std::max(a, b));
  return high - low < static_cast<uint64_t>(within);
}

template <typename T>
bool Intersect(const std::set<T>& a, const std::set<T>& b) {
  const auto& [small, large] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
  return std::any_of(small.begin(), small.end(), [&](T value) { return large.contains(value); });
}

template <typename Container>
void MoveInto(Container& to, Container& from) {
  if (to.size() < from.size()) std::swap(to, from);
  to.merge(from);
}

// Do the two folders part at folders that are named as machines?
bool AreHosts(std::string_view a, std::string_view b) {
  auto same =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const size_t slash = a.substr(0, same).rfind('/');
  const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  auto part = [&](std::string_view folder) {
    return folder.substr(begin, folder.find('/', begin) - begin);
  };
  return begin < a.size() && begin < b.size() && IsNamedAsHost(part(a)) && IsNamedAsHost(part(b));
}

}  // namespace

void JobGroup::Hull::Extend(int64_t from, int64_t to) {
  if (from == kNone64) return;
  if (to == kNone64) to = from;
  first = first == kNone64 ? from : std::min(first, from);
  last = last == kNone64 ? to : std::max(last, to);
}

void JobGroup::Add(size_t index, const InputEvidence& input) {
  inputs_.push_back(index);
  strength_ = std::max(strength_, input.strength);
  if (input.world_size != kNone32) sizes_.insert(input.world_size);
  if (input.rank != kNone32) ranks_.insert(input.rank);
  if (input.attempt != kNone32) attempts_.insert(input.attempt);
  if (input.pid != kNone64) pids_.insert(input.pid);
  hulls_[static_cast<size_t>(input.kind)].Extend(input.start_ns, input.end_ns);
  if (input.strength != EvidenceStrength::kStrong) return;
  slots_.try_emplace(
      {input.slot, input.attempt, input.rank},
      Holder{input.kind, input.pid, input.start_ns, input.is_launcher, input.folder, input.told});
}

void JobGroup::Merge(JobGroup&& other) {
  inputs_.insert(inputs_.end(), other.inputs_.begin(), other.inputs_.end());
  strength_ = std::max(strength_, other.strength_);
  MoveInto(slots_, other.slots_);
  MoveInto(ranks_, other.ranks_);
  MoveInto(sizes_, other.sizes_);
  MoveInto(attempts_, other.attempts_);
  MoveInto(pids_, other.pids_);
  for (size_t i = 0; i < std::size(hulls_); ++i)
    hulls_[i].Extend(other.hulls_[i].first, other.hulls_[i].last);
  reasons.insert(reasons.end(), other.reasons.begin(), other.reasons.end());
}

std::optional<std::string> JobGroup::Exclude(const Slot& slot, const Holder& a, const Holder& b,
                                             bool named_by_content) {
  auto report = [&](std::string_view how) {
    std::string whose = slot.rank == kNone32 ? "" : fmt::format(" of rank {}", slot.rank);
    return fmt::format("{}{} is in {} and in {}, {}", slot.kind, whose, a.folder, b.folder, how);
  };
  bool pids = a.pid != kNone64 && b.pid != kNone64;
  bool starts = a.start_ns != kNone64 && b.start_ns != kNone64;
  bool same_start = starts && Near(a.start_ns, b.start_ns, kSecondNs);
  if (pids && a.pid == b.pid && a.kind != EvidenceClass::kOnce) return std::nullopt;
  if (pids && a.pid != b.pid) return report(fmt::format("from processes {} and {}", a.pid, b.pid));
  switch (a.kind) {
    case EvidenceClass::kOnce:
      if (same_start || (!starts && named_by_content)) return std::nullopt;
      return report(starts ? "begun at different times" : "where a process leaves one");
    case EvidenceClass::kProfile:
      if (!starts && slot.rank == kNone32 && !named_by_content)
        return report("and nothing says that one process wrote both");
      if (!starts || Near(a.start_ns, b.start_ns, kDayNs)) return std::nullopt;
      return report("more than a day apart");
    case EvidenceClass::kText:
      if (named_by_content) return std::nullopt;
      if (!a.told.empty() && !b.told.empty())
        return Intersect(a.told, b.told) ? std::optional(report("with output of the same ranks"))
                                         : std::nullopt;
      // Launchers of several nodes each have a text of the same name, and so have the nodes.
      bool are_nodes = a.is_launcher && b.is_launcher && starts &&
                       Near(a.start_ns, b.start_ns, 3600 * kSecondNs);
      if (are_nodes || (slot.rank == kNone32 && AreHosts(a.folder, b.folder))) return std::nullopt;
      return report("under the same name");
  }
  return std::nullopt;
}

std::optional<std::string> JobGroup::ApartInTime(const JobGroup& a, const JobGroup& b) {
  bool attempts = !a.attempts_.empty() && !b.attempts_.empty();
  if (attempts || Intersect(a.pids_, b.pids_)) return std::nullopt;
  for (size_t i = 0; i < std::size(a.hulls_); ++i) {
    const Hull &one = a.hulls_[i], &two = b.hulls_[i];
    if (one.first == kNone64 || two.first == kNone64) continue;
    bool overlap = one.first <= two.last && two.first <= one.last;
    bool near = Near(one.first, two.last, kDayNs) || Near(two.first, one.last, kDayNs);
    if (!overlap && !near) return "their times are more than a day apart";
  }
  return std::nullopt;
}

std::optional<std::string> Contradiction(const JobGroup& a, const JobGroup& b,
                                         bool named_by_content) {
  if (!a.sizes_.empty() && !b.sizes_.empty() && !Intersect(a.sizes_, b.sizes_))
    return fmt::format("world sizes {} and {}", *a.sizes_.begin(), *b.sizes_.begin());
  for (const auto& [sized, ranked] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (sized->sizes_.empty() || ranked->ranks_.empty()) continue;
    int32_t size = *sized->sizes_.rbegin(), rank = *ranked->ranks_.rbegin();
    if (rank >= size) return fmt::format("rank {} and a world size of {}", rank, size);
  }
  const JobGroup& small = a.slots_.size() < b.slots_.size() ? a : b;
  const JobGroup& large = &small == &a ? b : a;
  // Files without a rank tell processes apart only where nothing has one: every host has a text of
  // its launcher. A profile names its process.
  bool both = a.ranks_.empty() && b.ranks_.empty(), one = a.ranks_.empty() || b.ranks_.empty();
  for (const auto& [slot, holder] : small.slots_) {
    auto found = large.slots_.find(slot);
    if (found == large.slots_.end()) continue;
    const bool told = !holder.told.empty() && !found->second.told.empty();
    bool counts = slot.rank != kNone32 || both || told || (one && holder.pid != kNone64);
    if (!counts) continue;
    if (auto why = JobGroup::Exclude(slot, holder, found->second, named_by_content)) return why;
  }
  return JobGroup::ApartInTime(a, b);
}

bool ShareRanks(const JobGroup& a, const JobGroup& b) { return Intersect(a.ranks_, b.ranks_); }

bool ShareKinds(const JobGroup& a, const JobGroup& b) {
  const JobGroup& small = a.slots_.size() < b.slots_.size() ? a : b;
  const JobGroup& large = &small == &a ? b : a;
  return std::any_of(small.slots_.begin(), small.slots_.end(), [&](const auto& slot) {
    auto first = large.slots_.lower_bound({slot.first.kind, kNone32, kNone32});
    return first != large.slots_.end() && first->first.kind == slot.first.kind;
  });
}

}  // namespace debrief
