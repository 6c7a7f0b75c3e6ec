#include "outputs/terminal/compile_summary/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/text/rank_list.h"
#include "outputs/terminal/compile_summary/text_block.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_cache_total.h"
#include "tables/compile_failure.h"
#include "tables/compile_first_difference.h"
#include "tables/compile_log.h"
#include "tables/compile_phase.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_recompile.h"
#include "tables/compile_shape.h"
#include "tables/compile_weight.h"
#include "tables/input.h"

namespace debrief::outputs::compile_summary {

namespace {

// Amounts by name, largest first.
class Tally {
 public:
  struct Sum {
    StringId name;
    int64_t amount = 0, count = 0;
  };

  void Add(StringId name, int64_t amount, int64_t count) {
    Sum& sum = sums_.try_emplace(name, Sum{name}).first->second;
    sum.amount += amount;
    sum.count += count;
    total_ += amount;
  }

  std::vector<Sum> Largest(const Pools& pools) const {
    std::vector<Sum> sorted;
    for (const auto& [name, sum] : sums_) sorted.push_back(sum);
    std::sort(sorted.begin(), sorted.end(), [&](const Sum& a, const Sum& b) {
      return a.amount != b.amount ? a.amount > b.amount : pools.Text(a.name) < pools.Text(b.name);
    });
    return sorted;
  }

  int64_t total() const { return total_; }
  std::string Share(int64_t amount) const {
    double share = total_ > 0 ? static_cast<double>(amount) / static_cast<double>(total_) : 0;
    return fmt::format("{:.0f} %", 100 * share);
  }

 private:
  std::map<StringId, Sum> sums_;
  int64_t total_ = 0;
};

class Summary {
 public:
  Summary(const Model& model, const SummaryOptions& options) : model_(model), options_(options) {
    const auto& logs = model.tables.Get<CompileLogTable>();
    for (size_t i = 0; i < logs.size(); ++i) ranks_.insert(logs.rank[i]);
  }

  std::string Text() {
    WriteHead();
    WriteFindings();
    WriteCompilations();
    WriteBreaks();
    WriteFailures();
    WriteTime();
    if (Get<CompilationTable>().size() == 0) WriteShapes();
    if (options_.compile_id.empty()) {
      WriteCaches();
      WriteRanks();
      WriteWeight();
    }
    return std::move(out_);
  }

 private:
  template <typename Table>
  const Table& Get() const {
    return model_.tables.Get<Table>();
  }
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  bool IsWanted(StringId compile_id) const {
    std::string_view id = Text(compile_id);
    return options_.compile_id.empty() || id.substr(0, id.find('_')) == options_.compile_id;
  }

  std::string Rank(int32_t rank) const { return rank == kNone32 ? "-" : std::to_string(rank); }

  // One line for what happened, in the order of what a reader asks.
  void WriteHead() {
    const auto& all = Get<CompilationTable>();
    size_t count = 0, failed = 0, again = 0, restarted = 0, unfinished = 0;
    double seconds = 0;
    std::set<std::pair<StringId, int32_t>> functions;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      ++count;
      functions.insert({all.function[i], all.line[i]});
      failed += Text(all.outcome[i]) == "failed";
      unfinished += Text(all.outcome[i]) == "unfinished";
      restarted += all.restarts[i] > 0;
      again += all.previous_id[i] != StringId::kNone;
      if (!std::isnan(all.seconds[i])) seconds += all.seconds[i];
    }
    out_ += fmt::format(
        "{} {} of {} {} in {}: {} failed, {} never ended, {} restarted, {} compiled again{}\n",
        count, count == 1 ? "compilation" : "compilations", functions.size(),
        functions.size() == 1 ? "function" : "functions", SecondsText(seconds), failed, unfinished,
        restarted, again, ranks_.size() > 1 ? fmt::format("; {} ranks", ranks_.size()) : "");
  }

  // The two most important conclusions and what to do about the first.
  void WriteFindings() {
    size_t shown = 0;
    for (const Finding& finding : model_.findings) {
      if (!finding.rule.starts_with("compile") || shown == 3) continue;
      out_ += fmt::format("{}: {}\n", SeverityName(finding.severity), OneLine(finding.headline));
      if (shown++ == 0 && !finding.next_step.empty())
        out_ += fmt::format("next: {}\n", OneLine(finding.next_step));
    }
    if (shown == 0) out_ += "Nothing stands out.\n";
  }

  void WriteCompilations() {
    const auto& all = Get<CompilationTable>();
    TextBlock block("Compilations", Heads({"id", "function", "outcome", "ops", "time", "why"}));
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      block.Row(Cells(all.rank[i], {std::string(Text(all.compile_id[i])),
                                    fmt::format("{} ({})", OneLine(Text(all.function[i])),
                                                PlaceText(Text(all.file[i]), all.line[i])),
                                    std::string(Text(all.outcome[i])),
                                    all.ops[i] == kNone64 ? "-" : std::to_string(all.ops[i]),
                                    SecondsText(all.seconds[i]), WhyOf(all, i)}));
    }
    block.Write(options_.rows, options_.width, out_);
  }

  std::string WhyOf(const CompilationTable& all, size_t i) const {
    if (all.why[i] != StringId::kNone) return OneLine(Text(all.why[i]));
    if (all.fail_type[i] != StringId::kNone)
      return fmt::format("{} at {}", OneLine(Text(all.fail_type[i])),
                         PlaceText(Text(all.fail_file[i]), all.fail_line[i]));
    if (all.break_reason[i] != StringId::kNone)
      return fmt::format("{} at {}", OneLine(Text(all.break_reason[i])),
                         PlaceText(Text(all.break_file[i]), all.break_line[i]));
    return "";
  }

  void WriteBreaks() {
    const auto& all = Get<CompileBreakTable>();
    TextBlock block("Graph breaks", Heads({"count", "line", "cost", "reason"}));
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.first_compile_id[i])) continue;
      block.Row(
          Cells(all.rank[i],
                {std::to_string(all.count[i]), PlaceText(Text(all.user_file[i]), all.user_line[i]),
                 SecondsText(all.wasted_s[i] + all.resume_s[i]), OneLine(Text(all.reason[i]))}));
    }
    block.Write(options_.rows, options_.width, out_);
  }

  void WriteFailures() {
    const auto& all = Get<CompileFailureTable>();
    TextBlock block("Failures", Heads({"id", "line", "class", "reason"}));
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      block.Row(
          Cells(all.rank[i], {std::string(Text(all.compile_id[i])),
                              PlaceText(Text(all.user_file[i]), all.user_line[i]),
                              OneLine(Text(all.fail_type[i])), OneLine(Text(all.reason[i]))}));
    }
    block.Write(options_.rows, options_.width, out_);
  }

  // Own time of phases by name, over all ranks or of one compilation.
  void WriteTime() {
    const auto& all = Get<CompilePhaseTable>();
    Tally tally;
    for (size_t i = 0; i < all.size(); ++i) {
      if (IsWanted(all.compile_id[i])) tally.Add(all.name[i], all.self_ns[i], 1);
    }
    TextBlock block("Time by phase", {"own time", "share", "count", "phase"});
    for (const auto& each : tally.Largest(model_.pools))
      block.Row({SecondsText(static_cast<double>(each.amount) / 1e9), tally.Share(each.amount),
                 std::to_string(each.count), OneLine(Text(each.name))});
    block.Write(std::min<size_t>(options_.rows, 6), options_.width, out_);
  }

  // Of a log of torch.export, which has no compilations.
  void WriteShapes() {
    const auto& all = Get<CompileShapeTable>();
    TextBlock block("Symbolic shapes", Heads({"kind", "symbol", "value", "of what"}));
    for (size_t i = 0; i < all.size(); ++i) {
      StringId value = all.value[i] != StringId::kNone ? all.value[i] : all.range[i];
      StringId subject = all.expression[i] != StringId::kNone ? all.expression[i] : all.sources[i];
      block.Row(Cells(all.rank[i], {std::string(Text(all.kind[i])), OneLine(Text(all.symbol[i])),
                                    OneLine(Text(value)), OneLine(Text(subject))}));
    }
    block.Write(options_.rows, options_.width, out_);
  }

  void WriteCaches() {
    const auto& all = Get<CompileCacheTotalTable>();
    TextBlock block("Caches", Heads({"hits", "misses", "bypassed", "saved", "cache"}));
    for (size_t i = 0; i < all.size(); ++i)
      block.Row(Cells(all.rank[i], {std::to_string(all.hits[i]), std::to_string(all.misses[i]),
                                    std::to_string(all.bypasses[i]), SecondsText(all.saved_s[i]),
                                    OneLine(Text(all.cache[i]))}));
    block.Write(options_.rows, options_.width, out_);
  }

  void WriteRanks() {
    if (ranks_.size() < 2) return;
    const auto& times = Get<CompileRankTimeTable>();
    TextBlock block("Ranks", {"rank", "compilations", "time", "alone", "of the slowest"});
    for (size_t i = 0; i < times.size(); ++i)
      block.Row({Rank(times.rank[i]), std::to_string(times.compilations[i]),
                 SecondsText(times.seconds[i]), SecondsText(times.alone_s[i]),
                 fmt::format("{:.0f} %", 100 * times.share_of_slowest[i])});
    block.Write(options_.rows, options_.width, out_);
    WriteDifferences();
  }

  void WriteDifferences() {
    const auto& all = Get<CompileFirstDifferenceTable>();
    TextBlock block("Where ranks first differ", {"rank", "from", "what", "id", "difference"});
    for (size_t i = 0; i < all.size(); ++i)
      block.Row({Rank(all.rank_b[i]), Rank(all.rank_a[i]),
                 fmt::format("{} {}", Text(all.kind[i]), OneLine(Text(all.name[i]))),
                 std::string(Text(all.compile_id[i])), OneLine(Text(all.difference[i]))});
    block.Write(options_.rows, options_.width, out_);
  }

  void WriteWeight() {
    const auto& all = Get<CompileWeightTable>();
    Tally tally;
    for (size_t i = 0; i < all.size(); ++i) {
      if (Text(all.divided_by[i]) == "kind") tally.Add(all.name[i], all.bytes[i], all.entries[i]);
    }
    TextBlock block(fmt::format("The log: {}", BytesText(static_cast<double>(tally.total()))),
                    {"bytes", "share", "entries", "kind"});
    for (const auto& each : tally.Largest(model_.pools))
      block.Row({BytesText(static_cast<double>(each.amount)), tally.Share(each.amount),
                 std::to_string(each.count), OneLine(Text(each.name))});
    block.Write(std::min<size_t>(options_.rows, 4), options_.width, out_);
  }

  // With a column for the rank where there are several.
  std::vector<std::string> Heads(std::vector<std::string> heads) const {
    if (ranks_.size() > 1) heads.insert(heads.begin(), "rank");
    return heads;
  }
  std::vector<std::string> Cells(int32_t rank, std::vector<std::string> cells) const {
    if (ranks_.size() > 1) cells.insert(cells.begin(), Rank(rank));
    return cells;
  }

  const Model& model_;
  const SummaryOptions& options_;
  std::set<int32_t> ranks_;
  std::string out_;
};

}  // namespace

std::string SummaryText(const Model& model, const SummaryOptions& options) {
  return Summary(model, options).Text();
}

}  // namespace debrief::outputs::compile_summary
