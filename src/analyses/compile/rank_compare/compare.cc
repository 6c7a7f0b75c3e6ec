
#include <algorithm>
#include <array>
#include <iterator>

#include "analyses/compile/rank_compare/rank_compare.h"
#include "base/bytes/hash.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

constexpr size_t kMostRows = 1000;                 // of compile_rank_only, for one attempt
constexpr int64_t kMostBytes = 256 * 1000 * 1000;  // of graphs that are read for one attempt

std::vector<int32_t> RanksOf(const Unit& unit) {
  std::vector<int32_t> ranks;
  for (const auto& [rank, row] : unit) ranks.push_back(rank);
  return ranks;
}

std::vector<int32_t> Without(const std::vector<int32_t>& all, const std::vector<int32_t>& some) {
  std::vector<int32_t> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

void AddRow(const Model& model, const Job& job, const UnitKey& key, const Unit& unit,
            const std::vector<int32_t>& missing, Part& part) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  const size_t span = unit.begin()->second;
  CompileRankOnlyRow row;
  row.job = job.job;
  row.attempt = job.attempt;
  row.function = part.pools.Intern(key.function);
  row.file = part.pools.Intern(key.file);
  row.line = key.line;
  row.nth = key.nth;
  row.compile_id = part.pools.Intern(model.pools.Text(spans.compile_id[span]));
  row.seconds = spans.seconds[span];
  row.ranks = InternRanks(RanksOf(unit), part);
  row.missing = InternRanks(missing, part);
  part.tables.Edit<CompileRankOnlyTable>().Add(row);
}

// One graph of one compilation on all ranks that have it.
class GraphVotes {
 public:
  GraphVotes(const Model& model, std::string& text)
      : model_(model), entries_(model.tables.Get<CompileEntryTable>()), text_(text) {}

  void Add(int32_t rank, size_t row) { rows_.emplace_back(rank, row); }

  // Ranks that differ from most; none when they cannot be told from the rest. Takes what it reads
  // from `bytes_left`.
  std::vector<Difference> Differences(int64_t& bytes_left) {
    if (rows_.size() < 2 || SameChecksums()) return {};
    std::map<uint64_t, std::vector<std::pair<int32_t, size_t>>> groups;
    for (const auto& [rank, row] : rows_) {
      bytes_left -= entries_.payload_bytes[row];
      if (bytes_left < 0 || !Read(row)) return {};
      groups[HashBytes(text_)].emplace_back(rank, row);
    }
    if (groups.size() < 2) return {};
    const auto most =
        std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second.size(), -a.second[0].first) <
                 std::pair(b.second.size(), -b.second[0].first);
        });
    return Against(most->second, groups);
  }

 private:
  bool SameChecksums() const {
    return std::all_of(rows_.begin(), rows_.end(), [&](const auto& one) {
      const StringId sum = entries_.payload_md5[one.second];
      return sum != StringId::kNone && sum == entries_.payload_md5[rows_.front().second];
    });
  }

  bool Read(size_t row) {
    std::string payload;
    if (!ReadPayload(model_, entries_, row, payload).ok()) return false;
    text_.clear();
    AppendNormalised(payload, text_);
    return true;
  }

  using Group = std::vector<std::pair<int32_t, size_t>>;

  std::vector<Difference> Against(const Group& most, const std::map<uint64_t, Group>& groups) {
    std::vector<int32_t> all, have;
    for (const auto& [rank, row] : rows_) all.push_back(rank);
    for (const auto& [rank, row] : most) have.push_back(rank);
    std::vector<Difference> found;
    if (all.size() > 2 && have.size() * 2 <= all.size()) return found;
    const std::vector<int32_t> few = Few(have, all);
    if (few.empty() || !Read(most.front().second)) return found;
    const std::string reference = text_;
    for (const auto& [hash, group] : groups) {
      for (const auto& [rank, row] : group) {
        if (!std::binary_search(few.begin(), few.end(), rank) || row == most.front().second)
          continue;
        if (!Read(row)) continue;
        found.push_back({.kind = Kind::kGraph,
                         .rank_a = most.front().first,
                         .rank_b = rank,
                         .graph_a = most.front().second,
                         .graph_b = row,
                         .text = FirstDifference(reference, text_)});
      }
    }
    return found;
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  std::string& text_;
  Group rows_;
};

// Which of a compilation's graphs: kind, name, and the how-manieth of these.
using GraphKey = std::tuple<std::string_view, std::string_view, int32_t>;

}  // namespace

std::string_view KindName(Kind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"extra", "missing", "graph"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<int32_t> Few(const std::vector<int32_t>& have, const std::vector<int32_t>& all) {
  const std::vector<int32_t> rest = Without(all, have);
  if (rest.empty() || have.empty()) return {};
  if (all.size() == 2) return {all.back()};
  const std::vector<int32_t>& few = have.size() < rest.size() ? have : rest;
  return few.size() == 1 || few.size() * 4 <= all.size() ? few : std::vector<int32_t>();
}

std::vector<Difference> CompareUnits(const Model& model, const Job& job, Part& part) {
  std::vector<Difference> found;
  size_t rows = 0;
  for (const auto& [key, unit] : job.units) {
    const std::vector<int32_t>& all = job.ranks_of_life.at(key.life);
    const std::vector<int32_t> have = RanksOf(unit);
    const std::vector<int32_t> missing = Without(all, have);
    if (missing.empty()) continue;
    if (rows++ < kMostRows) AddRow(model, job, key, unit, missing, part);
    for (int32_t rank : Few(have, all)) {
      const bool extra = unit.contains(rank);
      found.push_back({.kind = extra ? Kind::kExtra : Kind::kMissing,
                       .rank_a = extra ? missing.front() : have.front(),
                       .rank_b = rank,
                       .unit = &key,
                       .span_a = extra ? kNoRow : unit.begin()->second,
                       .span_b = extra ? unit.at(rank) : kNoRow});
    }
  }
  return found;
}

std::vector<Difference> CompareGraphs(const Model& model, const Job& job, const Graphs& graphs) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  std::vector<Difference> found;
  std::string text;
  int64_t bytes_left = kMostBytes;
  for (const auto& [key, unit] : job.units) {
    std::map<GraphKey, GraphVotes> votes;
    for (const auto& [rank, span] : unit) {
      auto rows = graphs.find(span);
      if (rows == graphs.end()) continue;
      std::map<std::pair<std::string_view, std::string_view>, int32_t> counts;
      for (size_t row : rows->second) {
        const std::pair name(model.pools.Text(entries.kind[row]),
                             model.pools.Text(entries.name[row]));
        votes.try_emplace(GraphKey(name.first, name.second, counts[name]++), model, text)
            .first->second.Add(rank, row);
      }
    }
    for (auto& [name, vote] : votes) {
      for (Difference& difference : vote.Differences(bytes_left)) {
        difference.unit = &key;
        difference.span_a = unit.at(difference.rank_a);
        difference.span_b = unit.at(difference.rank_b);
        found.push_back(std::move(difference));
      }
    }
  }
  return found;
}

}  // namespace debrief::analyses::compile_rank_compare
