#include "diff/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "tables/attempt.h"
#include "tables/compilation.h"
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

FunctionNames::FunctionNames(const Side& side) : side_(side) {
  const auto& table = side.model.tables.Get<CompilationTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    rows_[{table.input[row], table.compile_id[row]}] = row;
    if (!side.HasRow(table, row)) continue;
    lines_[{std::string(side.Text(table.function[row])),
            std::string(FileName(side.Text(table.file[row])))}]
        .insert(table.line[row]);
  }
}

std::string FunctionNames::Of(StringId function, StringId file, int32_t line) const {
  if (!side_.compile_id.empty()) return "";
  const std::pair key(std::string(side_.Text(function)), std::string(FileName(side_.Text(file))));
  std::string name = fmt::format("{} ({})", key.first, key.second);
  auto lines = lines_.find(key);
  if (lines == lines_.end()) return name;
  auto place = std::distance(lines->second.begin(), lines->second.lower_bound(line)) + 1;
  return place == 1 ? name : fmt::format("{} #{}", name, place);
}

std::string FunctionNames::OfCompilation(int32_t input, StringId compile_id) const {
  if (!side_.compile_id.empty()) return "";
  auto row = rows_.find({input, compile_id});
  if (row == rows_.end()) return fmt::format("compilation {}", side_.Text(compile_id));
  const auto& table = side_.model.tables.Get<CompilationTable>();
  return Of(table.function[row->second], table.file[row->second], table.line[row->second]);
}

}  // namespace debrief::diff
