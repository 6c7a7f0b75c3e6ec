// Which stretch of time a picture shows. Of a job that hung or died: from shortly before the ranks
// diverged to the end. Of a delay that was made up for: the delay and as much on either side.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/units.h"
#include "outputs/incident/gather.h"
#include "tables/comm_match.h"
#include "torch/collective_names.h"

namespace debrief::incident {

namespace {

struct Candidate {
  int64_t at = kNone64;
  int64_t until = kNone64;  // of a delay: its end
  std::string words;
};

class MomentFinder {
 public:
  MomentFinder(const Model& model, const Finding& finding, const Facts& facts)
      : model_(model), finding_(finding), facts_(facts) {}

  Moment Find() {
    Candidate found = OfCollective();
    if (found.at == kNone64) found = OfCompilation();
    if (found.at == kNone64) found = OfBlamedEnd();
    if (found.at == kNone64) found = OfFirstTrouble();
    Moment moment{.at = found.at, .words = std::move(found.words)};
    if (moment.at == kNone64) return moment;
    if (HasEnd())
      ShowTheEnd(moment);
    else
      ShowTheDelay(found.until, moment);
    return moment;
  }

 private:
  // When the first member came to the collective that the finding names.
  Candidate OfCollective() const {
    if (finding_.seq == kNone64 || finding_.groups.empty()) return {};
    const auto& matches = model_.tables.Get<CommMatchTable>();
    Candidate found;
    for (size_t row = 0; row < matches.size(); ++row) {
      if (!facts_.Has(matches.job[row], matches.attempt[row]) || matches.seq[row] != finding_.seq ||
          matches.first_ns[row] == kNone64 ||
          model_.pools.Text(matches.group_name[row]) != finding_.groups.front().name)
        continue;
      // Collectives and exchanges of a group are counted apart: the op tells which is meant.
      const bool is_better = timeline::PublicOp(model_.pools.Text(matches.op[row])) == finding_.op;
      if (found.at != kNone64 && !is_better) continue;
      found = {matches.first_ns[row], matches.last_ns[row],
               fmt::format("divergence: {} #{}", finding_.op, finding_.seq)};
      if (is_better) break;
    }
    return found;
  }

  // The longest compilation of a blamed rank, where the finding is about compiling.
  Candidate OfCompilation() const {
    if (finding_.compile_ids.empty()) return {};
    Candidate found;
    for (const auto& [number, rank] : facts_.ranks) {
      if (!rank.is_blamed) continue;
      for (const Span& span : rank.spans) {
        if (found.at == kNone64 || span.to - span.from > found.until - found.at)
          found = {span.from, span.to, fmt::format("rank {} compiles", number)};
      }
    }
    return found;
  }

  Candidate OfBlamedEnd() const {
    Candidate found;
    for (const auto& [number, rank] : facts_.ranks) {
      if (!rank.is_blamed || rank.ended == kNone64) continue;
      if (found.at == kNone64 || rank.ended < found.at)
        found = {rank.ended, rank.ended, fmt::format("rank {}: {}", number, rank.end_words)};
    }
    return found;
  }

  Candidate OfFirstTrouble() const {
    Candidate found;
    const auto take = [&](int64_t at, int32_t rank, std::string_view what) {
      if (at != kNone64 && (found.at == kNone64 || at < found.at))
        found = {at, at, fmt::format("rank {} {}", rank, what)};
    };
    for (const auto& [number, rank] : facts_.ranks) {
      take(rank.pending.from, number, "waits");
      for (const Mark& mark : rank.marks) {
        if (mark.kind == MarkKind::kError) take(mark.at, number, "fails");
      }
    }
    if (found.at != kNone64) return found;
    for (const auto& [number, rank] : facts_.ranks) take(rank.ended, number, "ends");
    return found;
  }

  // Has anything ended, or waits for ever?
  bool HasEnd() const {
    return std::any_of(facts_.ranks.begin(), facts_.ranks.end(), [](const auto& each) {
      const RankFacts& rank = each.second;
      return rank.timeout != kNone64 || rank.ended != kNone64 || rank.pending.from != kNone64;
    });
  }

  void ShowTheEnd(Moment& moment) {
    int64_t end = moment.at, last_timeout = kNone64, begin = moment.at;
    for (const auto& [number, rank] : facts_.ranks) {
      end = std::max({end, rank.timeout, rank.ended, rank.last});
      last_timeout = std::max(last_timeout, rank.timeout);
    }
    int64_t to = std::max(end, moment.at + kLeastEnd);
    if (last_timeout > moment.at && end - last_timeout > (last_timeout - moment.at) / 2) {
      to = last_timeout + (last_timeout - moment.at) / 4;
      moment.notes.push_back(
          fmt::format("The last process ended {} after the timeouts, at {}: not drawn.",
                      DurationText(end - last_timeout), TimeOfDay(end)));
    }
    for (const auto& [number, rank] : facts_.ranks) {
      if (!rank.is_blamed) continue;
      // What it did last in step with the others, unless that is long ago.
      const int64_t last = std::min(rank.last_done, moment.at);
      if (last != kNone64 && moment.at - last < 2 * (to - moment.at)) begin = std::min(begin, last);
    }
    for (const auto& [number, rank] : facts_.ranks) {
      // Without dumps the lines that ranks printed just before are all that there is.
      if (!rank.has_dump && rank.first != kNone64 && moment.at - rank.first < kLeadUp)
        begin = std::min(begin, rank.first);
    }
    moment.from = begin - (to - begin) / 10;
    moment.to = to + (to - begin) / 50;
  }

  static void ShowTheDelay(int64_t until, Moment& moment) {
    const int64_t length = std::max(until == kNone64 ? 0 : until - moment.at, kLeast);
    moment.from = moment.at - length / 2;
    moment.to = moment.at + length * 2;
  }

  static constexpr int64_t kLeast = 1'000'000;       // 1 ms
  static constexpr int64_t kLeastEnd = 500'000'000;  // 0.5 s
  static constexpr int64_t kLeadUp = 5'000'000'000;  // 5 s

  const Model& model_;
  const Finding& finding_;
  const Facts& facts_;
};

}  // namespace

Moment FindMoment(const Model& model, const Finding& finding, const Facts& facts) {
  return MomentFinder(model, finding, facts).Find();
}

}  // namespace debrief::incident
