#include "analyses/flight/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "tables/text_event.h"
#include "torch/end_signs.h"

namespace debrief::analyses::flight {

namespace {

constexpr int64_t kNsInMs = 1'000'000;

struct Texts {
  bool bad_end = false;
  std::set<int32_t> ranks;  // that printed anything
};

Texts LookAtTexts(const Index& index) {
  const auto& events = index.model.tables.Get<TextEventTable>();
  Texts texts;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.job[i] != index.job || events.attempt[i] != index.attempt) continue;
    std::string_view kind = index.Text(events.kind[i]);
    bool own = kind == "traceback" || kind == "out_of_memory" ||
               IsSignOfBadEnd(kind, events.exit_code[i], index.Text(events.text[i]));
    texts.bad_end |= own && !IsEndFromOutside(kind, events.exit_code[i]);
    if (events.rank[i] != kNone32) texts.ranks.insert(events.rank[i]);
  }
  return texts;
}

// Is an entry older, by the newest time of its own dump, than its time limit?
bool OutlivedItsLimit(const Index& index, int32_t rank) {
  const RankInfo& info = index.RankAt(rank);
  bool retired = std::any_of(info.pending.begin(), info.pending.end(), [&](int32_t at) {
    return index.ops.retired[index.UnitAt(at).row] != 0;  // and not completed: it timed out
  });
  if (info.pending.empty() || retired) return retired;
  int64_t newest = kNone64;
  for (const Unit& unit : index.UnitsOf(rank))
    newest = std::max({newest, index.ops.created_ns[unit.row], index.ops.completed_ns[unit.row]});
  return std::any_of(info.pending.begin(), info.pending.end(), [&](int32_t at) {
    size_t row = index.UnitAt(at).row;
    int64_t created = index.ops.created_ns[row];
    int32_t limit = index.ops.timeout_ms[row];
    int64_t age = 0;
    bool told = created != kNone64 && limit != kNone32 && limit > 0;
    return told && !__builtin_sub_overflow(newest, created, &age) && age / kNsInMs >= limit;
  });
}

// Has a member completed what another had not issued when it wrote its dump? Then that one issued
// it afterwards: the job went on between the two dumps.
bool WentOnBetweenDumps(const Index& index) {
  for (const Group& group : index.groups) {
    if (group.rows.empty()) continue;
    int32_t first_to_stop = std::numeric_limits<int32_t>::max();
    for (size_t member = 0; member < group.members.size(); ++member) {
      const RankInfo& info = index.RankAt(group.members[member]);
      const MemberWindow& window = group.windows[member];
      bool told = info.has_dump && info.whole && window.last >= window.first;
      if (told) first_to_stop = std::min(first_to_stop, window.last);
    }
    for (auto row = group.rows.rbegin(); row != group.rows.rend() && row->seq > first_to_stop;
         ++row) {
      auto units = index.UnitsOf(group, *row);
      bool done = std::any_of(units.begin(), units.end(), [&](int32_t at) {
        return index.UnitAt(at).completed() && NeedsAll(index.OpName(index.UnitAt(at)));
      });
      if (done) return true;
    }
  }
  return false;
}

// Is a rank late for an operation while another is in one that all members joined? That one does
// not wait for the first, so it would be done in a job that hangs: both are at work.
bool IsAtWork(const Index& index, const Waits& waits) {
  bool joined = false, late = false;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const RankInfo& info = index.RankAt(rank);
    if (!info.has_dump || !info.whole)
      return false;  // whoever seems to wait for nobody may wait for it
    const bool at_work = waits.At(rank) != nullptr;
    joined |= at_work && waits.Of(rank).empty();
    late |= !at_work && waits.IsAwaited(rank);
  }
  return joined && late && waits.Cycles().empty();
}

}  // namespace

Moment MomentOf(const Index& index, const Waits& waits) {
  Texts texts = LookAtTexts(index);
  if (texts.bad_end) return Moment::kBadEnd;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    if (OutlivedItsLimit(index, rank)) return Moment::kBadEnd;
  }
  // Watchdogs write dumps and say so: most ranks have an output, and none says anything of it.
  bool quiet = !texts.ranks.empty() && texts.ranks.size() * 2 >= index.ranks.size();
  const bool goes_on = quiet || WentOnBetweenDumps(index) || IsAtWork(index, waits);
  return goes_on ? Moment::kRunning : Moment::kUnknown;
}

namespace {

std::string_view WhyNothingIsWrong(Moment moment) {
  switch (moment) {
    case Moment::kRunning:
      return "no timeout, abort or exit is reported; ranks differ only because their dumps were "
             "taken one after another";
    case Moment::kUnknown:
      return "dumps alone do not distinguish a moment of work from a hang; outputs of the ranks "
             "would";
    case Moment::kBadEnd:
      return "the job ended or hung meanwhile; dumps do not say why";
  }
  return "";
}

}  // namespace

void AddInFlight(const Index& index, const Waits& waits, Moment moment,
                 std::vector<Finding>& findings) {
  std::vector<int32_t> busy;
  const Unit* oldest = nullptr;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const Unit* unit = waits.At(rank);
    if (unit == nullptr) continue;
    busy.push_back(rank);
    if (oldest == nullptr || index.ops.created_ns[unit->row] < index.ops.created_ns[oldest->row])
      oldest = unit;
  }
  if (oldest == nullptr) return;
  std::string op = OpInWords(index, *oldest);
  Finding finding;
  finding.rule = "flight.in_flight";
  if (moment == Moment::kBadEnd) {
    finding.severity = Severity::kError;
    finding.role = Role::kCause;
    finding.confidence = 0.3;
  }
  finding.job = index.job;
  finding.attempt = index.attempt;
  std::string who = RanksAsSubject(GlobalRanks(index, busy));
  finding.headline =
      moment == Moment::kBadEnd
          ? fmt::format(
                "{} had work in flight when the job failed, from {} on; dumps name no cause", who,
                op)
          : fmt::format("{} had work in flight when the dumps were taken{}, from {} on", who,
                        moment == Moment::kRunning ? ", while the job ran" : "", op);
  finding.op = std::string(NameInWords(index, *oldest));
  finding.seq = oldest->seq;
  finding.evidence.push_back({fmt::format("rank {} was in {}", index.GlobalRank(oldest->rank), op),
                              "comm_op",
                              {oldest->row}});
  finding.why = WhyNothingIsWrong(moment);
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::flight
