// Two members of a group tell which work they were in. Where operation or size differ at the same
// number, or one has completed what another still waits in, they did not call the same thing. Who
// is to blame is what fewer of them do; where that is even, what other groups of the same
// description do decides; where that does not tell, both are named.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"

namespace debrief::analyses::text_hang {

namespace {

// Operations that no member completes before all have joined.
bool WaitsForAll(std::string_view op) {
  static const std::set<std::string_view> kOps = {
      "ALLREDUCE", "ALLGATHER", "_ALLGATHER_BASE", "REDUCE_SCATTER", "_REDUCE_SCATTER_BASE",
      "ALLTOALL",  "BARRIER",   "ALLTOALL_BASE"};
  return kOps.contains(op);
}

// Of these every member tells the same number of elements.
bool HasOneSize(std::string_view op) {
  return op == "ALLREDUCE" || op == "BROADCAST" || op == "_ALLGATHER_BASE" ||
         op == "_REDUCE_SCATTER_BASE";
}

// What a work looks like to its peers: "all_reduce", or "all_reduce of 512 elements".
std::string Shape(const Work& work, bool with_size) {
  std::string op = OpInWords(work.op);
  if (!with_size || !HasOneSize(work.op) || work.elements_in == kNone64) return op;
  return fmt::format("{} of {} elements", op, work.elements_in);
}

using ByShape = std::map<std::string, std::vector<const Work*>>;

// Sends, receives and what is coalesced of them are numbered apart from collectives.
bool IsPointToPoint(std::string_view op) {
  return op == "COALESCED" || op == "SEND" || op == "RECV";
}

ByShape ShapesAt(const GroupWorks& group, int64_t seq, bool with_size) {
  ByShape shapes;
  for (const Work& work : group.works) {
    if (work.seq == seq && !IsPointToPoint(work.op))
      shapes[Shape(work, with_size)].push_back(&work);
  }
  return shapes;
}

// How often groups of the same description end in such a work.
size_t CountElsewhere(const Scene& scene, const GroupWorks& group, const std::string& shape,
                      bool with_size) {
  size_t count = 0;
  for (const GroupWorks& other : scene.groups) {
    if (other.desc != group.desc || other.desc.empty() || other.name == group.name) continue;
    for (const Work& work : other.works) count += Shape(work, with_size) == shape ? 1 : 0;
  }
  return count;
}

// The shape that is as it should be; null when two have as much for them.
const std::string* Usual(const Scene& scene, const GroupWorks& group, const ByShape& shapes,
                         bool with_size) {
  using Weight = std::pair<size_t, size_t>;
  const std::string* best = nullptr;
  Weight most{0, 0};
  bool even = false;
  for (const auto& [shape, works] : shapes) {
    Weight weight{works.size(), CountElsewhere(scene, group, shape, with_size)};
    even = best != nullptr && weight == most ? true : even;
    if (best != nullptr && weight <= most) continue;
    if (best != nullptr) even = false;
    best = &shape;
    most = weight;
  }
  return even ? nullptr : best;
}

void Describe(const Scene& scene, const GroupWorks& group, const std::vector<const Work*>& works,
              Finding& finding) {
  finding.groups = {ToRef(group)};
  finding.op = OpInWords(works.front()->op);
  finding.seq = works.front()->seq;
  for (const Work* work : works) finding.evidence.push_back(LineAsEvidence(scene, work->row));
  finding.next_step =
      "Compare the calls of these ranks before this number; Flight Recorder dumps would show the "
      "lines (TORCH_FR_BUFFER_SIZE).";
}

std::string NameOf(const GroupWorks& group) {
  return std::string(group.desc.empty() ? group.name : group.desc);
}

Finding OddFinding(const Scene& scene, const GroupWorks& group, const ByShape& shapes,
                   const std::string* usual) {
  Finding finding = NewFinding(scene, "text_hang.differs");
  std::vector<const Work*> all;
  std::string what;
  for (const auto& [shape, works] : shapes) {
    all.insert(all.end(), works.begin(), works.end());
    if (usual != nullptr && shape == *usual) continue;
    for (const Work* work : works) finding.ranks.push_back(work->rank);
    what += fmt::format("{}{}", what.empty() ? "" : " and ", shape);
  }
  std::sort(finding.ranks.begin(), finding.ranks.end());
  Describe(scene, group, all, finding);
  finding.headline = fmt::format("{} called {} as number {} of {}", RanksAsSubject(finding.ranks),
                                 what, finding.seq, NameOf(group));
  finding.confidence = usual == nullptr ? 0.5 : 0.65;
  finding.why = "their watchdogs report different operations with the same number; ";
  if (usual == nullptr) {
    finding.why += "the text does not show which of them is right";
  } else {
    finding.headline += fmt::format(" where its peers called {}", *usual);
    finding.why +=
        "this one differs from those of the other members, or of other groups of that kind";
  }
  return finding;
}

// Different operations or sizes at one number.
bool FindOdd(const Scene& scene, const GroupWorks& group, bool with_size,
             std::vector<Finding>& findings) {
  std::set<int64_t> numbers;
  for (const Work& work : group.works) numbers.insert(work.seq);
  for (int64_t seq : numbers) {
    ByShape shapes = ShapesAt(group, seq, with_size);
    if (shapes.size() < 2) continue;
    findings.push_back(OddFinding(scene, group, shapes, Usual(scene, group, shapes, with_size)));
    return true;
  }
  return false;
}

// One waits in what another has completed: that other one called something else. Where a rank is
// missing that neither waits nor says anything, it may have stopped in the middle of that work.
bool FindAhead(const Scene& scene, const GroupWorks& group, std::vector<Finding>& findings) {
  bool all_wait =
      std::all_of(scene.talk.ranks.begin(), scene.talk.ranks.end(), [](const auto& each) {
        const RankTalk& talk = each.second;
        return !talk.timeouts.empty() || !talk.dump_signals.empty() || !talk.remote_errors.empty();
      });
  if (!all_wait && !scene.talk.mismatch) return false;
  for (const Work& waiting : group.works) {
    if (!WaitsForAll(waiting.op)) continue;
    for (const Work& ahead : group.works) {
      // Counts of sends and receives would make a rank wait for itself.
      bool counts = ahead.last_completed != kNone64 && ahead.last_completed < ahead.seq;
      if (!counts || ahead.last_completed < waiting.seq) continue;
      Finding finding = NewFinding(scene, "text_hang.differs");
      finding.ranks = {ahead.rank};
      Describe(scene, group, {&waiting, &ahead}, finding);
      finding.headline = fmt::format(
          "Rank {} did not join {} in which rank {} waits: its number {} is another call",
          ahead.rank, WorkInWords(group, waiting), waiting.rank, waiting.seq);
      finding.confidence = 0.6;
      finding.why = "no member completes this operation before all have joined it";
      findings.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

}  // namespace

void FindDifferences(const Scene& scene, std::vector<Finding>& findings) {
  for (const GroupWorks& group : scene.groups) {
    if (FindOdd(scene, group, false, findings) || FindAhead(scene, group, findings) ||
        FindOdd(scene, group, true, findings))
      return;
  }
}

}  // namespace debrief::analyses::text_hang
