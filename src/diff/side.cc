#include "diff/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/rank_list.h"
#include "tables/attempt.h"
#include "tables/rank.h"

namespace debrief::diff {

namespace {

std::set<int32_t> RanksOf(const Side& side) {
  const auto& table = side.model.tables.Get<RankTable>();
  std::set<int32_t> ranks;
  for (size_t row = 0; row < table.size(); ++row)
    if (side.HasAttempt(table.attempt[row])) ranks.insert(table.rank[row]);
  ranks.erase(kNone32);
  return ranks;
}

std::string LeftOut(const std::set<int32_t>& all, const std::set<int32_t>& common,
                    std::string_view side) {
  std::vector<int32_t> rest;
  std::set_difference(all.begin(), all.end(), common.begin(), common.end(),
                      std::back_inserter(rest));
  if (rest.empty()) return "";
  return fmt::format("{} left something in {} only and {} not compared. ", RanksAsSubject(rest),
                     side, rest.size() == 1 ? "is" : "are");
}

}  // namespace

std::string MatchRanks(Side& a, Side& b) {
  if (a.rank != kNone32 || b.rank != kNone32) return "";
  const std::set<int32_t> of_a = RanksOf(a), of_b = RanksOf(b);
  if (of_a.size() == 1 && of_b.size() == 1 && of_a != of_b) {
    a.rank = *of_a.begin();
    b.rank = *of_b.begin();
    return fmt::format("Rank {} is compared with rank {}.", a.rank, b.rank);
  }
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::inserter(a.ranks, a.ranks.end()));
  b.ranks = a.ranks;
  std::string note = LeftOut(of_a, a.ranks, "A") + LeftOut(of_b, a.ranks, "B");
  if (!note.empty()) note.pop_back();
  return note;
}

std::string ChooseAttempt(Side& side) {
  const auto& attempts = side.model.tables.Get<AttemptTable>().attempt;
  if (attempts.size() < 2) return "";
  side.attempt = *std::max_element(attempts.begin(), attempts.end());
  return fmt::format("{} holds {} attempts of the job; the newest is compared.", side.name,
                     attempts.size());
}

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace debrief::diff
