// Which rank holds more memory than the others, and which line of code allocates the difference?
// Also what the memory is for. From what memory_use found at the peak of each device; linear in its
// rows.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/memory/ranks/categories.h"
#include "base/stats/statistics.h"
#include "model/memory/amounts.h"
#include "tables/memory_category.h"
#include "tables/memory_holder.h"
#include "tables/memory_rank.h"
#include "tables/memory_use.h"

namespace debrief::analyses::memory_ranks {

namespace {

using memory::Minus;
using memory::Plus;

// One device of one snapshot at the moment that is compared.
struct Holding {
  size_t use = 0;  // row of memory_use
  std::string_view moment;
  int64_t in_use = 0;
  int64_t reserved = 0;
  std::map<std::string_view, std::pair<int64_t, int64_t>> categories;  // bytes and allocations
  std::map<std::string_view, int64_t> lines;
};

using DeviceKey = std::pair<int32_t, int32_t>;  // input and device

std::map<DeviceKey, Holding> CollectHoldings(const Model& model) {
  const auto& uses = model.tables.Get<MemoryUseTable>();
  std::map<DeviceKey, Holding> holdings;
  for (size_t row = 0; row < uses.size(); ++row) {
    const bool has_peak = uses.peak_allocated_bytes[row] != kNone64;
    Holding holding{.use = row, .moment = has_peak ? "peak" : "end"};
    holding.in_use = has_peak ? uses.peak_allocated_bytes[row] : uses.end_requested_bytes[row];
    holding.reserved = has_peak ? uses.peak_reserved_bytes[row] : uses.end_reserved_bytes[row];
    holdings[{uses.input[row], uses.device[row]}] = std::move(holding);
  }
  const auto& holders = model.tables.Get<MemoryHolderTable>();
  for (size_t row = 0; row < holders.size(); ++row) {
    auto found = holdings.find({holders.input[row], holders.device[row]});
    if (found == holdings.end()) continue;
    Holding& holding = found->second;
    if (model.pools.Text(holders.moment[row]) != holding.moment) continue;
    auto& [bytes, count] = holding.categories[CategoryOf(model.pools, holders.stack[row])];
    bytes = Plus(bytes, holders.bytes[row]);
    count = Plus(count, holders.count[row]);
    int64_t& line = holding.lines[model.pools.Text(holders.frame[row])];
    line = Plus(line, holders.bytes[row]);
  }
  return holdings;
}

template <typename Row>
Row NewRow(const MemoryUseTable& uses, const Holding& holding, Part& part) {
  Row row;
  row.job = uses.job[holding.use];
  row.attempt = uses.attempt[holding.use];
  row.rank = uses.rank[holding.use];
  row.input = uses.input[holding.use];
  row.device = uses.device[holding.use];
  row.moment = part.pools.Intern(holding.moment);
  return row;
}

void AddCategories(const MemoryUseTable& uses, const Holding& holding, Part& part) {
  std::vector<std::pair<std::string_view, std::pair<int64_t, int64_t>>> sorted(
      holding.categories.begin(), holding.categories.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& each) { return each.second; });
  const int64_t unused = Minus(holding.reserved, holding.in_use);
  if (unused > 0) sorted.push_back({"unused", {unused, kNone64}});
  for (const auto& [category, held] : sorted) {
    auto row = NewRow<MemoryCategoryRow>(uses, holding, part);
    row.category = part.pools.Intern(category);
    std::tie(row.bytes, row.count) = held;
    if (holding.reserved > 0)
      row.share = static_cast<double>(row.bytes) / static_cast<double>(holding.reserved);
    part.tables.Edit<MemoryCategoryTable>().Add(row);
  }
}

// The largest device of each rank, by job and attempt.
using Ranks = std::map<int32_t, const Holding*>;
std::map<std::pair<int32_t, int32_t>, Ranks> ByAttempt(
    const MemoryUseTable& uses, const std::map<DeviceKey, Holding>& holdings) {
  std::map<std::pair<int32_t, int32_t>, Ranks> attempts;
  for (const auto& [key, holding] : holdings) {
    const int32_t rank = uses.rank[holding.use];
    if (rank == kNone32) continue;
    const Holding*& largest = attempts[{uses.job[holding.use], uses.attempt[holding.use]}][rank];
    if (largest == nullptr || largest->in_use < holding.in_use) largest = &holding;
  }
  return attempts;
}

template <typename Get>
int64_t MedianOfOthers(const Ranks& ranks, int32_t rank, const Get& get) {
  std::vector<int64_t> values;
  for (const auto& [other, holding] : ranks) {
    if (other != rank) values.push_back(get(*holding));
  }
  return Median(std::move(values));
}

// The bytes that each line usually holds: the median over all ranks, which one rank does not move;
// of two ranks the other one's count.
using LineBytes = std::map<std::string_view, int64_t>;
LineBytes UsualLines(const Ranks& ranks) {
  std::map<std::string_view, std::vector<int64_t>> told;
  for (const auto& [rank, holding] : ranks) {
    for (const auto& [line, bytes] : holding->lines) told[line].push_back(bytes);
  }
  LineBytes usual;
  for (auto& [line, bytes] : told) {
    bytes.resize(ranks.size());  // the others hold nothing by it
    usual[line] = Median(std::move(bytes));
  }
  return usual;
}

// The line whose bytes lie farthest above what is usual; farthest below for a rank that holds less.
struct Difference {
  std::string_view line;
  int64_t bytes = 0;
  int64_t others = 0;
};
Difference LargestDifference(const LineBytes& own, const LineBytes& usual, bool above) {
  Difference largest;
  int64_t most = 0;
  auto compare = [&](std::string_view line, int64_t bytes, int64_t others) {
    const int64_t difference = above ? Minus(bytes, others) : Minus(others, bytes);
    if (line.empty() || difference <= most) return;
    most = difference;
    largest = {line, bytes, others};
  };
  auto in = [](const LineBytes& lines, std::string_view line) {
    const auto found = lines.find(line);
    return found == lines.end() ? 0 : found->second;
  };
  for (const auto& [line, bytes] : own) compare(line, bytes, in(usual, line));
  if (above) return largest;
  for (const auto& [line, others] : usual) compare(line, in(own, line), others);
  return largest;
}

// A quarter more than the others and a GiB: less is a matter of batches and of pipeline stages.
bool IsMaterial(const MemoryRankRow& row) {
  constexpr double kLargeShare = 0.25;
  constexpr int64_t kLargeBytes = int64_t{1} << 30;
  constexpr int32_t kFewestRanks = 3;
  return row.ranks >= kFewestRanks && row.excess_bytes >= kLargeBytes &&
         row.excess_share >= kLargeShare;
}

void Report(const MemoryUseTable& uses, const Holding& holding, const MemoryRankRow& row, size_t at,
            const Difference& difference, std::vector<Finding>& findings) {
  using memory::SizeText;
  Finding finding;
  finding.rule = "memory_ranks.more";
  const bool ran_out = uses.ooms[holding.use] > 0;
  finding.severity = ran_out ? Severity::kWarning : Severity::kInfo;
  finding.role = Role::kObservation;
  finding.job = row.job;
  finding.attempt = row.attempt;
  finding.ranks = {row.rank};
  finding.headline =
      fmt::format("Rank {} holds {} more memory than the others: {} at its {}", row.rank,
                  SizeText(row.excess_bytes), SizeText(row.in_use_bytes), holding.moment);
  const auto row_number = static_cast<int64_t>(at);
  finding.evidence.push_back(
      {fmt::format("the others hold {} (median of {})", SizeText(row.others_bytes), row.ranks - 1),
       "memory_rank",
       {row_number}});
  if (!difference.line.empty())
    finding.evidence.push_back(
        {fmt::format("{}: {} here, {} on the others", difference.line, SizeText(difference.bytes),
                     SizeText(difference.others)),
         "memory_rank",
         {row_number}});
  finding.confidence = 0.8;
  finding.why = "allocator snapshots of all these ranks say so";
  finding.next_step =
      "Look at what this line allocates on this rank alone: a batch that is longer, "
      "an uneven shard, a buffer that only one rank keeps.";
  findings.push_back(std::move(finding));
}

void AddRanks(const MemoryUseTable& uses, const Ranks& ranks, AnalysisResult& result) {
  if (ranks.size() < 2) return;
  auto& rows = result.part.tables.Edit<MemoryRankTable>();
  const bool is_pair = ranks.size() == 2;
  const LineBytes usual = is_pair ? LineBytes() : UsualLines(ranks);
  for (const auto& [rank, holding] : ranks) {
    const Holding& other =
        *(ranks.begin()->first == rank ? ranks.rbegin() : std::prev(ranks.rend()))->second;
    auto row = NewRow<MemoryRankRow>(uses, *holding, result.part);
    row.in_use_bytes = holding->in_use;
    row.reserved_bytes = holding->reserved;
    row.others_bytes =
        MedianOfOthers(ranks, rank, [](const Holding& other) { return other.in_use; });
    row.excess_bytes = Minus(row.in_use_bytes, row.others_bytes);
    if (row.others_bytes > 0)
      row.excess_share =
          static_cast<double>(row.excess_bytes) / static_cast<double>(row.others_bytes);
    row.ranks = static_cast<int32_t>(ranks.size());
    const Difference difference =
        LargestDifference(holding->lines, is_pair ? other.lines : usual, row.excess_bytes >= 0);
    if (!difference.line.empty()) {
      row.line = result.part.pools.Intern(difference.line);
      row.line_bytes = difference.bytes;
      row.line_others_bytes = difference.others;
    }
    rows.Add(row);
    if (IsMaterial(row)) Report(uses, *holding, row, rows.size() - 1, difference, result.findings);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& uses = model.tables.Get<MemoryUseTable>();
  const auto holdings = CollectHoldings(model);
  for (const auto& [key, holding] : holdings) AddCategories(uses, holding, result.part);
  for (const auto& [attempt, ranks] : ByAttempt(uses, holdings)) AddRanks(uses, ranks, result);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "memory_ranks",
               .sentence = "Which rank holds more memory than the others, and what is it for?",
               .example = "Rank 3 holds 12.10 GiB more memory than the others: 70.10 GiB at its "
                          "peak",
               .needs = kTableNames<MemoryUseTable>,
               .makes = kTableNames<MemoryCategoryTable, MemoryRankTable>,
               .uses = kTableNames<MemoryHolderTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::memory_ranks
