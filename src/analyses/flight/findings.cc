#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/waits.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "tables/text_event.h"
#include "torch/log_message.h"

namespace debrief::analyses::flight {

namespace {

constexpr size_t kMostConsequences = 16;

GroupRef ToRef(const Index& index, const Group& group) {
  return {std::string(index.Text(group.name)), std::string(index.Text(group.description)),
          GlobalRanks(index, group.members)};
}

void AddSource(const Index& index, const Unit& unit, Finding& finding) {
  Frame frame = UserFrame(index, unit);
  if (frame.file == StringId::kNone) return;
  SourceLine line{index.GlobalRank(unit.rank), std::string(index.Text(frame.file)), frame.line};
  finding.source.push_back(std::move(line));
}

std::string EntryInWords(const Index& index, const Unit& unit) {
  static constexpr std::string_view kStates[] = {"pending", "started, pending", "completed"};
  return fmt::format("rank {}: {}{} ({})", index.GlobalRank(unit.rank), OpInWords(index, unit),
                     AtSite(index, unit), kStates[static_cast<size_t>(unit.state)]);
}

// The same of an operation that went through although members differ: where the rank is since.
std::string EntryAndAfter(const Index& index, const Unit& unit) {
  const std::vector<int32_t>& pending = index.RankAt(unit.rank).pending;
  std::string words = EntryInWords(index, unit);
  if (unit.completed() && !pending.empty())
    words += fmt::format("; it waits in {}", OpInWords(index, index.UnitAt(pending.front())));
  return words;
}

// Where a blamed rank was last seen: what it issued last.
void AddLastSeen(const Index& index, int32_t rank, Finding& finding) {
  auto units = index.UnitsOf(rank);
  if (units.empty()) return;
  finding.evidence.push_back(
      {"last issued by " + EntryInWords(index, units.back()), "comm_op", {units.back().row}});
}

// What its output says: a traceback, an exit code, out of memory.
void AddText(const Index& index, int32_t global_rank, Finding& finding) {
  static const std::set<std::string_view> kTelling = {"traceback", "out_of_memory", "signal",
                                                      "exit", "nccl_error"};
  const auto& events = index.model.tables.Get<TextEventTable>();
  size_t told = 0;
  for (size_t i = 0; i < events.size() && told < 3; ++i) {
    bool ours = events.job[i] == index.job && events.attempt[i] == index.attempt &&
                events.rank[i] == global_rank;
    if (!ours || !kTelling.contains(index.Text(events.kind[i]))) continue;
    ++told;
    finding.evidence.push_back(
        {fmt::format("output of rank {}, line {}: {}", global_rank, events.line[i],
                     QuotedMessage(index.Text(events.text[i]))),
         "text_event",
         {static_cast<int64_t>(i)}});
  }
}

std::string FrameInWords(const Index& index, const Frame& frame) {
  return fmt::format("{}:{} {}", FileName(index.Text(frame.file)), frame.line,
                     index.Text(frame.function));
}

// The outermost frame in which two stacks differ; where one ends, its innermost.
std::pair<FrameId, FrameId> FirstDifference(std::span<const FrameId> a,
                                            std::span<const FrameId> b) {
  size_t common = 0, most = std::min(a.size(), b.size()) - 1;
  while (common < most && a[a.size() - 1 - common] == b[b.size() - 1 - common]) ++common;
  return {a[a.size() - 1 - common], b[b.size() - 1 - common]};
}

// Rules that say: it did another thing than its peers.
bool Differs(std::string_view rule) {
  return rule.ends_with("_mismatch") || rule == "flight.skipped_collective";
}

// Where a blamed rank and its peers part: "rank 5 at train.py:55 step, peers at train.py:53 step".
void AddStackDifference(const Index& index, const Cause& cause, Finding& finding) {
  const Unit* blamed = nullptr;
  const Unit* peer = nullptr;
  for (int32_t at : cause.units) {
    const Unit& unit = index.UnitAt(at);
    if (index.model.pools.GetStack(index.Site(unit)).empty()) continue;
    bool is_blamed = std::binary_search(cause.ranks.begin(), cause.ranks.end(), unit.rank);
    const Unit*& first = is_blamed ? blamed : peer;
    if (first == nullptr) first = &unit;
  }
  if (blamed == nullptr || peer == nullptr || index.Site(*blamed) == index.Site(*peer)) return;
  const Pools& pools = index.model.pools;
  auto [own, other] =
      FirstDifference(pools.GetStack(index.Site(*blamed)), pools.GetStack(index.Site(*peer)));
  if (own == other) return;
  finding.evidence.push_back(
      {fmt::format("stacks diverge: rank {} at {}, peers at {}", index.GlobalRank(blamed->rank),
                   FrameInWords(index, pools.GetFrame(own)),
                   FrameInWords(index, pools.GetFrame(other))),
       "comm_op",
       {blamed->row, peer->row}});
}

std::string_view RoleInWords(std::string_view role) {
  if (role == "dp") return "a data-parallel group";
  if (role == "tp") return "a tensor-parallel group";
  if (role == "pp") return "a pipeline-parallel group";
  return role == "ep" ? "an expert-parallel group" : "the group of all ranks";
}

// What the group of the headline is for, as far as names and members tell.
void AddRole(const Index& index, const Cause& cause, Finding& finding) {
  if (cause.groups.empty()) return;
  const Group& group = index.GroupAt(cause.groups.front());
  std::string_view role = RoleOf(index, group);
  if (role.empty() || cause.units.empty()) return;
  finding.evidence.push_back(
      {fmt::format("{} is {}", GroupInWords(index, group), RoleInWords(role)),
       "comm_op",
       {index.UnitAt(cause.units.front()).row}});
}

Finding ToFinding(const Index& index, const Cause& cause) {
  Finding finding;
  finding.rule = cause.rule;
  finding.severity = cause.severity;
  finding.role = Role::kCause;
  finding.job = index.job;
  finding.attempt = index.attempt;
  finding.ranks = GlobalRanks(index, cause.ranks);
  finding.headline = finding.ranks.empty()
                         ? cause.what
                         : fmt::format("{} {}", RanksAsSubject(finding.ranks), cause.what);
  std::set<int32_t> groups;
  for (int32_t group : cause.groups) {
    if (groups.insert(group).second) finding.groups.push_back(ToRef(index, index.GroupAt(group)));
  }
  finding.op = cause.op;
  if (cause.seq != kNone32) finding.seq = cause.seq;
  for (int32_t at : cause.units) {
    const Unit& unit = index.UnitAt(at);
    finding.evidence.push_back(
        {Differs(cause.rule) ? EntryAndAfter(index, unit) : EntryInWords(index, unit),
         "comm_op",
         {unit.row}});
    AddSource(index, unit, finding);
  }
  finding.evidence.insert(finding.evidence.end(), cause.evidence.begin(), cause.evidence.end());
  if (Differs(cause.rule)) AddStackDifference(index, cause, finding);
  constexpr size_t kMostTold = 4;
  for (size_t i = 0; i < cause.ranks.size() && i < kMostTold; ++i) {
    AddLastSeen(index, cause.ranks[i], finding);
    AddText(index, index.GlobalRank(cause.ranks[i]), finding);
  }
  AddRole(index, cause, finding);
  finding.confidence = cause.confidence;
  finding.why = cause.why;
  finding.next_step = cause.next_step;
  return finding;
}

// Everybody who waits in the same operation, as one consequence.
struct Waiters {
  std::vector<int32_t> ranks;
  std::vector<int32_t> waits_for;
  std::set<int32_t> places;  // whose waits are in waits_for
};

using WaitersByOp = std::map<std::pair<int32_t, int32_t>, Waiters>;  // group and sequence number

WaitersByOp GroupWaiters(const Index& index, const Waits& waits, const std::set<int32_t>& blamed) {
  WaitersByOp groups;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const Unit* unit = waits.At(rank);
    if (unit == nullptr || blamed.contains(rank)) continue;
    Waiters& waiters = groups[{unit->group, unit->seq}];
    waiters.ranks.push_back(rank);
    if (!waiters.places.insert(waits.PlaceOf(rank)).second) continue;
    for (const Wait& wait : waits.Of(rank)) waiters.waits_for.push_back(wait.on);
  }
  return groups;
}

Finding Consequence(const Index& index, const Waits& waits, Waiters& waiters) {
  std::sort(waiters.waits_for.begin(), waiters.waits_for.end());
  waiters.waits_for.erase(std::unique(waiters.waits_for.begin(), waiters.waits_for.end()),
                          waiters.waits_for.end());
  std::erase_if(waiters.waits_for, [&](int32_t rank) {
    return std::binary_search(waiters.ranks.begin(), waiters.ranks.end(), rank);
  });
  const Unit& unit = *waits.At(waiters.ranks.front());
  Finding finding;
  finding.rule = "flight.waiting";
  finding.severity = Severity::kInfo;
  finding.role = Role::kConsequence;
  finding.job = index.job;
  finding.attempt = index.attempt;
  finding.ranks = GlobalRanks(index, waiters.ranks);
  finding.groups = {ToRef(index, index.GroupOf(unit))};
  finding.op = std::string(NameInWords(index, unit));
  finding.seq = unit.seq;
  std::vector<int32_t> on = GlobalRanks(index, waiters.waits_for);
  finding.headline = fmt::format(
      "{} {} in {}{}", RanksAsSubject(finding.ranks), finding.ranks.size() == 1 ? "waits" : "wait",
      OpInWords(index, unit), on.empty() ? "" : " for " + RanksInWords(on));
  finding.evidence.push_back({EntryInWords(index, unit), "comm_op", {unit.row}});
  AddSource(index, unit, finding);
  finding.why = "its oldest operation that is not completed";
  return finding;
}

}  // namespace

void AddFindings(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                 std::vector<Finding>& findings) {
  size_t first = findings.size();
  std::set<int32_t> blamed;
  bool hangs = false;
  for (const Cause& cause : causes) {
    findings.push_back(ToFinding(index, cause));
    if (cause.severity != Severity::kError) continue;
    hangs = true;
    blamed.insert(cause.ranks.begin(), cause.ranks.end());
  }
  if (!hangs) return;
  size_t told = 0;
  for (auto& [key, waiters] : GroupWaiters(index, waits, blamed)) {
    if (told++ == kMostConsequences) break;
    findings.push_back(Consequence(index, waits, waiters));
    for (size_t i = 0; i < causes.size(); ++i) {
      if (causes[i].severity == Severity::kError) {
        findings[first + i].explains.push_back(findings.size() - 1);
        break;
      }
    }
  }
}

}  // namespace debrief::analyses::flight
