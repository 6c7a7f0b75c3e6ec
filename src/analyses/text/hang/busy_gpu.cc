// All ranks joined a collective and none completes it: whose GPU holds it up?
//
// When its time is up, each watchdog aborts its communicators and then ends the process. To abort
// frees memory of the GPU, which waits for every kernel that still runs there. So the rank whose
// GPU is busy with something else stays in the abort, while all others get through.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/units.h"

namespace debrief::analyses::text_hang {

namespace {

// The work in which every rank of the job ran into its time limit; null when they were in several.
const GroupWorks* WorkOfAll(const Scene& scene) {
  constexpr size_t kFewest = 3;
  if (scene.groups.size() != 1) return nullptr;
  const GroupWorks& group = scene.groups.front();
  bool all = group.works.size() == scene.talk.ranks.size() && group.works.size() >= kFewest;
  bool same = std::all_of(group.works.begin(), group.works.end(), [&](const Work& work) {
    const Work& first = group.works.front();
    return work.seq == first.seq && work.op == first.op && work.elements_in == first.elements_in;
  });
  return all && same ? &group : nullptr;
}

int64_t TimeOfLimit(const Scene& scene, const Work& work) {
  return scene.model.tables.Get<TextEventTable>().time_ns[work.row];
}

// The only rank that did not get through the abort; null when there is none. The last to begin it
// may just have had no time before its launcher ended it, unless it began at the same moment,
// compared with how long the others took.
const Work* LeftInAbort(const Scene& scene, const GroupWorks& group) {
  constexpr int64_t kSameMoment = 10;  // a tenth of what the abort takes
  const Work* left = nullptr;
  int64_t last = kNone64, shortest = kNone64;
  for (const Work& work : group.works) {
    int64_t limit = TimeOfLimit(scene, work);
    const RankTalk& talk = scene.talk.ranks.at(work.rank);
    if (limit == kNone64 || (!talk.gave_up && left != nullptr)) return nullptr;
    if (!talk.gave_up) {
      left = &work;
      continue;
    }
    last = std::max(last, limit);
    if (talk.gave_up_ns == kNone64) continue;
    int64_t took = talk.gave_up_ns - limit;
    shortest = shortest == kNone64 ? took : std::min(shortest, took);
  }
  if (left == nullptr || last == kNone64) return nullptr;
  int64_t behind = TimeOfLimit(scene, *left) - last;
  bool same_moment = shortest != kNone64 && behind < shortest / kSameMoment;
  return behind < 0 || same_moment ? left : nullptr;
}

}  // namespace

void FindBusyGpu(const Scene& scene, std::vector<Finding>& findings) {
  const GroupWorks* group = WorkOfAll(scene);
  const Work* left = group == nullptr ? nullptr : LeftInAbort(scene, *group);
  if (left == nullptr) return;
  Finding finding = NewFinding(scene, "text_hang.gpu_busy");
  finding.ranks = {left->rank};
  finding.headline =
      fmt::format("The GPU of rank {} did not finish its work; all ranks waited in {}", left->rank,
                  WorkInWords(*group, *left));
  finding.groups = {ToRef(*group)};
  finding.op = OpInWords(left->op);
  finding.seq = left->seq;
  finding.evidence.push_back(LineAsEvidence(scene, left->row));
  const RankTalk& talk = scene.talk.ranks.at(left->rank);
  if (talk.last_line != RankTalk::kNoRow)
    finding.evidence.push_back(LineAsEvidence(scene, talk.last_line));
  AddContext(scene, left->rank, finding);
  finding.confidence = 0.6;
  finding.why =
      "after the timeout all other watchdogs aborted their communicators and ended their "
      "processes; this one did not get through the abort, which waits for the kernels of its GPU";
  finding.next_step =
      "Look at what this rank launched before the collective: a kernel that does not end, a wait "
      "in another stream; check its GPU (nvidia-smi, Xid errors).";
  findings.push_back(std::move(finding));
}

namespace {

struct Starts {
  const GroupWorks* group = nullptr;
  const Work* last = nullptr;  // began to wait after all others
  int64_t behind_ns = 0;       // after the last of them
  int64_t spread_ns = 0;       // from the first to the last of them
};

// When each rank of the job began to wait in an exchange; no `last` unless all tell it.
Starts StartsOfExchanges(const Scene& scene) {
  constexpr size_t kFewest = 3;
  Starts starts;
  if (scene.groups.size() != 1) return starts;
  const GroupWorks& group = scene.groups.front();
  bool all = group.works.size() == scene.talk.ranks.size() && group.works.size() >= kFewest;
  bool told = std::all_of(group.works.begin(), group.works.end(), [](const Work& work) {
    bool exchange = work.op == "COALESCED" || work.op == "SEND" || work.op == "RECV";
    return exchange && work.start_ns != kNone64;
  });
  if (!all || !told) return starts;
  std::vector<const Work*> order;
  for (const Work& work : group.works) order.push_back(&work);
  std::sort(order.begin(), order.end(),
            [](const Work* a, const Work* b) { return a->start_ns < b->start_ns; });
  int64_t second = order[order.size() - 2]->start_ns;
  starts = {&group, order.back(), order.back()->start_ns - second,
            second - order.front()->start_ns};
  return starts;
}

}  // namespace

void FindLastToCome(const Scene& scene, std::vector<Finding>& findings) {
  constexpr int64_t kClearNs = 1'000'000'000, kTimesSpread = 4;
  Starts starts = StartsOfExchanges(scene);
  bool clear = starts.last != nullptr && starts.behind_ns >= kClearNs &&
               starts.behind_ns / kTimesSpread >= starts.spread_ns;
  if (!clear) return;
  Finding finding = NewFinding(scene, "text_hang.late");
  finding.ranks = {starts.last->rank};
  finding.headline =
      fmt::format("Rank {} entered its exchange {} after all others, and none completed",
                  starts.last->rank, DurationInWords(starts.behind_ns));
  finding.groups = {ToRef(*starts.group)};
  finding.op = OpInWords(starts.last->op);
  finding.seq = starts.last->seq;
  finding.evidence.push_back(LineAsEvidence(scene, starts.last->row));
  AddContext(scene, starts.last->rank, finding);
  finding.confidence = 0.45;
  finding.why = "all ranks timed out in sends and receives; the others waited before it arrived";
  finding.next_step =
      "Look at what delayed this rank and its GPU; Flight Recorder dumps "
      "(TORCH_FR_BUFFER_SIZE) would show who waits for whom.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
