// Ranks that a monitor, the watchdog or a counter tells apart from all others while these wait.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

namespace {

struct Suspicion {
  std::string_view kind;
  std::string_view words;
  double confidence;
  std::string_view why;
};

constexpr Suspicion kSuspicions[] = {
    {"stuck", "hung: its monitor got no sign of life from it", 0.85,
     "the monitor of the process says so"},
    {"gil_hang", "holds the Python interpreter lock (GIL) and does not return", 0.8,
     "its own watchdog could not get the lock"},
    {"heartbeat_lost", "hangs in a CUDA or NCCL call: its watchdog thread is stuck", 0.6,
     "only this rank's watchdog stopped working"}};

// The rank a row is about: NVIDIA's monitors name it in the line, "[workload:3(3) infra:0(0)]".
int32_t RankOfRow(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string_view text = scene.model.pools.Text(events.text[row]);
  int64_t named = NumberAfter(text, "[workload:");
  // torchrun's timer: "Reaping worker_pid=[4711]. Expired timers: ...".
  auto reaped = scene.talk.rank_of_pid.find(NumberAfter(text, "worker_pid=["));
  if (reaped != scene.talk.rank_of_pid.end()) return reaped->second;
  return named >= 0 && named < (1 << 20) ? static_cast<int32_t>(named) : events.rank[row];
}

std::map<int32_t, size_t> RowsOfKind(const Scene& scene, std::string_view kind) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::map<int32_t, size_t> rows;
  auto add = [&](const RankTalk& talk) {
    for (size_t row : talk.suspicions) {
      // The heart of a node's launcher is none of a rank's.
      bool launcher = Contains(scene.model.pools.Text(events.text[row]), "rendezvous");
      if (launcher || scene.model.pools.Text(events.kind[row]) != kind) continue;
      int32_t rank = RankOfRow(scene, row);
      if (rank != kNone32) rows.try_emplace(rank, row);
    }
  };
  for (const auto& [rank, talk] : scene.talk.ranks) add(talk);
  add(scene.talk.nobody);
  return rows;
}

// The list of numbers in
//
//   To our best knowledge, ranks [2] are the lagging ranks that caused this timeout.
//   [Rank 0]: Ranks 2, 5 failed to pass monitoredBarrier in 15000 ms
//
// with the byte before it; empty when there is none.
std::string_view ListOfRanks(std::string_view text) {
  const size_t barrier = text.find(" failed to pass monitoredBarrier");
  if (barrier != std::string_view::npos) {
    const size_t open = text.rfind("ank", barrier);  // "Ranks", "Rank", "ranks"
    const size_t blank = open == std::string_view::npos ? open : text.find(' ', open);
    return blank < barrier ? text.substr(blank, barrier - blank) : std::string_view();
  }
  const size_t open = text.find("ranks [");
  const size_t close = open == std::string_view::npos ? open : text.find(']', open);
  return close == std::string_view::npos ? std::string_view()
                                         : text.substr(open + 6, close - open - 6);
}

// The numbers are those of the group: of the default group they are ranks.
std::vector<int32_t> LaggingRanks(std::string_view text) {
  std::vector<int32_t> ranks;
  std::string_view list = ListOfRanks(text);
  while (!list.empty()) {
    int64_t number = NumberAfter(list, list.substr(0, 1));
    if (number >= 0 && number < (1 << 20)) ranks.push_back(static_cast<int32_t>(number));
    size_t comma = list.find(',', 1);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma);
    while (list.size() > 1 && list[1] == ' ') list.remove_prefix(1);
  }
  return ranks;
}

// Those who say which ranks are behind, in a line of their own or in what they died with.
std::map<int32_t, size_t> RowsThatNameOthers(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::map<int32_t, size_t> rows = RowsOfKind(scene, "desync");
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.timeouts) {
      const std::string_view text = scene.model.pools.Text(events.text[row]);
      if (Contains(text, " failed to pass monitoredBarrier")) rows.try_emplace(rank, row);
    }
  }
  return rows;
}

bool FindDesync(const Scene& scene, std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  bool one_group = scene.groups.size() <= 1;
  for (const auto& [speaker, row] : RowsThatNameOthers(scene)) {
    std::string_view desc = scene.model.pools.Text(events.group_desc[row]);
    if (!one_group && desc != "default_pg") continue;
    Finding finding = NewFinding(scene, "text_hang.stuck");
    std::string_view text = scene.model.pools.Text(events.text[row]);
    const bool is_barrier = Contains(text, "monitoredBarrier");
    finding.ranks = LaggingRanks(text);
    if (finding.ranks.empty()) continue;
    finding.headline =
        fmt::format("{} did not {}", RanksAsSubject(finding.ranks),
                    is_barrier ? "reach the monitored barrier in which the others waited"
                               : "join the collective in which the others wait");
    finding.evidence.push_back(LineAsEvidence(scene, row));
    for (int32_t rank : finding.ranks) AddContext(scene, rank, finding);
    finding.confidence = 0.8;
    finding.why = is_barrier ? "the monitored barrier names it" : "NCCL's desync report names it";
    finding.next_step =
        "Look at what its process does on the CPU before that call: a data loader, a checkpoint, a "
        "lock. Take its stack while it hangs (py-spy dump).";
    findings.push_back(std::move(finding));
    return true;
  }
  return false;
}

// INFO: task python:4711 blocked for more than 120 seconds.
bool FindBlocked(const Scene& scene, std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.kernel) {
    std::string_view text = scene.model.pools.Text(events.text[row]);
    size_t end = text.find(" blocked for more than ");
    size_t colon = end == std::string_view::npos ? end : text.rfind(':', end);
    if (colon == std::string_view::npos) continue;
    auto rank = scene.talk.rank_of_pid.find(NumberAfter(text.substr(colon), ":"));
    if (rank == scene.talk.rank_of_pid.end() || scene.talk.RanksThatTimedOut().empty()) continue;
    Finding finding = NewFinding(scene, "text_hang.stuck");
    finding.ranks = {rank->second};
    finding.headline = fmt::format(
        "Rank {} is blocked in the kernel (storage or driver) while others wait", rank->second);
    finding.evidence.push_back(LineAsEvidence(scene, row));
    AddContext(scene, rank->second, finding);
    finding.confidence = 0.8;
    finding.why = "the kernel log reports it";
    finding.next_step = "Look at the file systems and the GPU driver of its machine.";
    findings.push_back(std::move(finding));
    return true;
  }
  return false;
}

}  // namespace

void FindStuck(const Scene& scene, std::vector<Finding>& findings) {
  if (FindBlocked(scene, findings)) return;
  for (const Suspicion& suspicion : kSuspicions) {
    std::map<int32_t, size_t> rows = RowsOfKind(scene, suspicion.kind);
    // A monitor names the rank of which it speaks.
    bool alone = rows.size() == 1 && (scene.talk.ranks.size() > 1 || suspicion.kind == "stuck");
    if (!alone) continue;
    auto [rank, row] = *rows.begin();
    Finding finding = NewFinding(scene, "text_hang.stuck");
    finding.ranks = {rank};
    finding.headline = fmt::format("Rank {} {}", rank, suspicion.words);
    finding.evidence.push_back(LineAsEvidence(scene, row));
    AddContext(scene, rank, finding);
    finding.confidence = suspicion.confidence;
    finding.why = suspicion.why;
    finding.next_step = "Look at its stacks (py-spy dump --native), while it hangs.";
    findings.push_back(std::move(finding));
    return;
  }
  FindDesync(scene, findings);
}

namespace {

// How far each rank came in one group.
struct Counter {
  int64_t enqueued = kNone64;
  size_t row = 0;
};
using Counters = std::map<int32_t, Counter>;

std::map<std::pair<std::string_view, std::string_view>, Counters> CollectCounters(
    const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::map<std::pair<std::string_view, std::string_view>, Counters> groups;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.counters) {
      auto& counter = groups[{scene.model.pools.Text(events.group_desc[row]),
                              scene.model.pools.Text(events.group_name[row])}][rank];
      if (counter.enqueued == kNone64 || events.last_enqueued[row] > counter.enqueued)
        counter = {events.last_enqueued[row], row};
    }
  }
  return groups;
}

// The one rank whose number is not that of all others; end() when it is not one alone.
Counters::const_iterator OddOne(const Counters& counters) {
  constexpr size_t kFewest = 3;
  std::map<int64_t, size_t> votes;
  for (const auto& [rank, counter] : counters) ++votes[counter.enqueued];
  if (counters.size() < kFewest || votes.size() != 2) return counters.end();
  return std::find_if(counters.begin(), counters.end(),
                      [&](const auto& each) { return votes[each.second.enqueued] == 1; });
}

}  // namespace

void FindOddCounter(const Scene& scene, std::vector<Finding>& findings) {
  if (scene.talk.RanksThatTimedOut().empty()) return;
  auto groups = CollectCounters(scene);
  if (groups.size() != 1) return;  // with several groups low numbers are often those of who waits
  const auto& [key, counters] = *groups.begin();
  auto odd = OddOne(counters);
  if (odd == counters.end()) return;
  const auto& other = odd == counters.begin() ? std::next(odd) : counters.begin();
  bool behind = odd->second.enqueued < other->second.enqueued;
  Finding finding = NewFinding(scene, "text_hang.counter");
  finding.ranks = {odd->first};
  finding.headline =
      fmt::format("Rank {} enqueued {} collectives of {}, all others {}: it {}", odd->first,
                  odd->second.enqueued, key.first.empty() ? key.second : key.first,
                  other->second.enqueued, behind ? "left or is stuck" : "ran on alone");
  finding.evidence.push_back(LineAsEvidence(scene, odd->second.row));
  finding.evidence.push_back(LineAsEvidence(scene, other->second.row));
  AddContext(scene, odd->first, finding);
  finding.confidence = 0.65;
  finding.why = "no other rank differs";
  finding.next_step = "Compare what this rank does after its last collective with its peers.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
