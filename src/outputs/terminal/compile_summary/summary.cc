// The summary as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/text/safe_name.h"
#include "outputs/output.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "outputs/terminal/compile_summary/one_compilation.h"
#include "outputs/terminal/compile_summary/section.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_cache_total.h"
#include "tables/compile_detail.h"
#include "tables/compile_failure.h"
#include "tables/compile_first_difference.h"
#include "tables/compile_log.h"
#include "tables/compile_phase.h"
#include "tables/compile_piece.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_shape.h"
#include "tables/compile_weight.h"
#include "tables/input.h"
#include "tables/triton_use.h"

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
  Summary(const Model& model, const SummaryOptions& options)
      : model_(model), options_(options), only_(options.compile_id) {
    const auto& logs = model.tables.Get<CompileLogTable>();
    for (size_t i = 0; i < logs.size(); ++i) ranks_.insert(logs.rank[i]);
    const auto& all = model.tables.Get<CompilationTable>();  // of texts, where there is no log
    for (size_t i = 0; i < all.size() && logs.size() == 0; ++i) ranks_.insert(all.rank[i]);
  }

  std::string Text() {
    if (!HasEntries()) {
      out_ = NothingText();
      WriteFindings();
      return std::move(out_);
    }
    WriteHead();
    if (WriteFindings() == 0) out_ += "Nothing stands out.\n";
    WriteCompilations();
    WriteBreaks();
    WriteFailures();
    WriteTime();
    WritePieces();
    WriteTriton();
    if (!HasFrames()) WriteShapes();
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
  std::string OneLine(StringId id) const { return std::string(FirstLine(Text(id))); }

  bool IsWanted(StringId compile_id) const { return only_.Is(Text(compile_id)); }

  std::string Rank(int32_t rank) const { return rank == kNone32 ? "-" : std::to_string(rank); }

  bool HasEntries() const {
    const auto& logs = Get<CompileLogTable>();
    return Get<CompilationTable>().size() > 0 ||
           std::ranges::any_of(logs.entries, [](int64_t entries) { return entries > 0; });
  }

  // Programs of torch.export and graphs for AOTInductor are none.
  bool HasFrames() const {
    return std::ranges::any_of(Get<CompilationTable>().compile_id,
                               [&](StringId id) { return Text(id) != "-/-"; });
  }

  // What was read instead of a log, so that nobody takes silence for health.
  std::string NothingText() const {
    const auto& inputs = Get<InputTable>();
    std::string text;
    for (size_t i = 0; i < std::min(inputs.size(), options_.rows); ++i)
      text += fmt::format("{}: no TORCH_TRACE entries and no compilations in lines of TORCH_LOGS\n",
                          Printable(Text(inputs.path[i])));
    return text;
  }

  // One line for what happened, in the order of what a reader asks.
  void WriteHead() {
    const auto& all = Get<CompilationTable>();
    size_t count = 0, failed = 0, again = 0, restarted = 0, unfinished = 0;
    double seconds = 0;
    bool timed = all.size() == 0;  // the text of TORCH_LOGS tells no times
    std::set<std::pair<StringId, int32_t>> functions;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      ++count;
      if (all.function[i] != StringId::kNone) functions.insert({all.function[i], all.line[i]});
      failed += Text(all.outcome[i]) == "failed";
      unfinished += Text(all.outcome[i]) == "unfinished";
      restarted += all.restarts[i] > 0;
      again += all.previous_id[i] != StringId::kNone;
      timed |= !std::isnan(all.seconds[i]);
      if (!std::isnan(all.seconds[i])) seconds += all.seconds[i];
    }
    out_ += fmt::format(
        "{}{}{}: {} failed, {} never ended, {} restarted, {} compiled again{}\n",
        Plural(count, "compilation"),
        count > 0 && functions.empty() ? "" : " of " + Plural(functions.size(), "function"),
        timed ? " in " + SecondsText(seconds) : "", failed, unfinished, restarted, again,
        ranks_.size() > 1 ? fmt::format("; {} ranks", ranks_.size()) : "");
    WriteVersion();
  }

  // PyTorch 2.12 and later say which they are; ranks of one job should be the same.
  void WriteVersion() {
    const auto& all = Get<CompileDetailTable>();
    std::set<std::string> versions;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_version =
          Text(all.family[i]) == "torch_version" && Text(all.key[i]) == "pytorch_version";
      if (is_version) versions.insert(OneLine(all.value[i]));
    }
    if (!versions.empty()) out_ += fmt::format("PyTorch {}\n", fmt::join(versions, " and "));
  }

  // About compiling, or what ended a process whose output this is: an exception of the compiler has
  // no entry of its own.
  bool IsShown(const Finding& finding) const {
    if (finding.rule.starts_with("compile")) return only_.IsAbout(finding);
    return only_.is_all() && finding.severity == Severity::kError && finding.role == Role::kCause;
  }

  // The most important conclusions and what to do about the first; how many they are.
  size_t WriteFindings() {
    size_t shown = 0;
    for (const Finding& finding : model_.findings) {
      if (shown == 3 || !IsShown(finding)) continue;
      out_ += fmt::format("{}: {}\n", SeverityName(finding.severity),
                          Printable(FirstLine(finding.headline)));
      if (shown++ == 0 && !finding.next_step.empty())
        out_ += fmt::format("next: {}\n", Printable(FirstLine(finding.next_step)));
    }
    return shown;
  }

  void WriteCompilations() {
    const auto& all = Get<CompilationTable>();
    Section section("Compilations", Heads({"id", "function", "outcome", "ops", "time", "why"}),
                    options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      section.Row(Cells(all.rank[i], {std::string(Text(all.compile_id[i])), FunctionOf(all, i),
                                      std::string(Text(all.outcome[i])),
                                      all.ops[i] == kNone64 ? "-" : std::to_string(all.ops[i]),
                                      SecondsText(all.seconds[i]), WhyOf(all, i)}));
    }
    AddSection(section);
  }

  std::string FunctionOf(const CompilationTable& all, size_t i) const {
    if (all.function[i] == StringId::kNone) return "-";
    return fmt::format("{} ({})", OneLine(all.function[i]),
                       PlaceText(Text(all.file[i]), all.line[i]));
  }

  std::string WhyOf(const CompilationTable& all, size_t i) const {
    if (all.why[i] != StringId::kNone) return OneLine(all.why[i]);
    if (all.fail_type[i] != StringId::kNone) {
      const bool is_reason = Text(all.fail_type[i]) == "Unsupported";  // no class that says more
      std::string what = OneLine(is_reason ? all.fail_reason[i] : all.fail_type[i]);
      if (all.fail_file[i] == StringId::kNone) return what;
      return fmt::format("{} at {}", what, PlaceText(Text(all.fail_file[i]), all.fail_line[i]));
    }
    if (all.break_reason[i] != StringId::kNone)
      return fmt::format("{} at {}", OneLine(all.break_reason[i]),
                         PlaceText(Text(all.break_file[i]), all.break_line[i]));
    return "";
  }

  void WriteBreaks() {
    const auto& all = Get<CompileBreakTable>();
    Section section("Graph breaks", Heads({"count", "line", "cost", "reason"}), options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!only_.IsIn(Text(all.compile_ids[i]))) continue;
      section.Row(
          Cells(all.rank[i],
                {std::to_string(all.count[i]), PlaceText(Text(all.user_file[i]), all.user_line[i]),
                 CostText(all.wasted_s[i] + all.resume_s[i]), OneLine(all.reason[i])}));
    }
    AddSection(section);
  }

  // A text of TORCH_LOGS does not tell what a break cost.
  static std::string CostText(double seconds) { return seconds > 0 ? SecondsText(seconds) : "-"; }

  void WriteFailures() {
    const auto& all = Get<CompileFailureTable>();
    Section section("Failures", Heads({"id", "line", "class", "reason"}), options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      section.Row(Cells(all.rank[i], {std::string(Text(all.compile_id[i])),
                                      PlaceText(Text(all.user_file[i]), all.user_line[i]),
                                      OneLine(all.fail_type[i]), OneLine(all.reason[i])}));
    }
    AddSection(section);
  }

  // Own time of phases by name, over all ranks or of one compilation.
  void WriteTime() {
    const auto& all = Get<CompilePhaseTable>();
    Tally tally;
    for (size_t i = 0; i < all.size(); ++i) {
      if (IsWanted(all.compile_id[i])) tally.Add(all.name[i], all.self_ns[i], 1);
    }
    Section section("Time by phase", {"own time", "share", "count", "phase"}, options_.width);
    for (const auto& each : tally.Largest(model_.pools))
      section.Row({SecondsText(static_cast<double>(each.amount) / 1e9), tally.Share(each.amount),
                   std::to_string(each.count), OneLine(each.name)});
    AddSection(section, 6);
  }

  // Runs of the backend for the pieces of vLLM's graph.
  void WritePieces() {
    const auto& all = Get<CompilePieceTable>();
    Section section("Pieces of vLLM", Heads({"id", "time", "cache", "piece"}), options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsWanted(all.compile_id[i])) continue;
      section.Row(Cells(
          all.rank[i],
          {std::string(Text(all.compile_id[i])), SecondsText(all.seconds[i]),
           all.graph_cache[i] == StringId::kNone ? "-" : std::string(Text(all.graph_cache[i])),
           OneLine(all.label[i])}));
    }
    AddSection(section, 12);
  }

  // Kernels of tritonparse, one line each.
  void WriteTriton() {
    const auto& all = Get<TritonUseTable>();
    auto number = [](int64_t value) { return value == kNone64 ? "-" : std::to_string(value); };
    Section section(
        "Triton kernels",
        Heads({"id", "warps", "shared", "target", "from cache", "launches", "source", "kernel"}),
        options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!only_.is_all() && !IsWanted(all.compile_id[i])) continue;
      section.Row(Cells(
          all.rank[i],
          {all.compile_id[i] == StringId::kNone ? "-" : std::string(Text(all.compile_id[i])),
           all.num_warps[i] == kNone32 ? "-" : std::to_string(all.num_warps[i]),
           all.shared[i] == kNone64 ? "-" : BytesText(static_cast<double>(all.shared[i])),
           OneLine(all.target[i]), fmt::format("{} of {}", all.cache_hits[i], all.compilations[i]),
           number(all.launches[i]), OneLine(all.place[i]), OneLine(all.kernel[i])}));
    }
    AddSection(section, 12);
  }

  // Of a log of torch.export, which has no compilations.
  void WriteShapes() {
    const auto& all = Get<CompileShapeTable>();
    Section section("Symbolic shapes", Heads({"kind", "symbol", "value", "of what"}),
                    options_.width);
    for (size_t i = 0; i < all.size(); ++i) {
      StringId value = all.value[i] != StringId::kNone ? all.value[i] : all.range[i];
      StringId subject = all.expression[i] != StringId::kNone ? all.expression[i] : all.sources[i];
      section.Row(Cells(all.rank[i], {std::string(Text(all.kind[i])), OneLine(all.symbol[i]),
                                      OneLine(value), OneLine(subject)}));
    }
    AddSection(section);
  }

  void WriteCaches() {
    const auto& all = Get<CompileCacheTotalTable>();
    Section section("Caches", Heads({"hits", "misses", "bypassed", "saved", "cache"}),
                    options_.width);
    for (size_t i = 0; i < all.size(); ++i)
      section.Row(Cells(all.rank[i], {std::to_string(all.hits[i]), std::to_string(all.misses[i]),
                                      std::to_string(all.bypasses[i]), SecondsText(all.saved_s[i]),
                                      OneLine(all.cache[i])}));
    AddSection(section);
  }

  void WriteRanks() {
    if (ranks_.size() < 2) return;
    const auto& times = Get<CompileRankTimeTable>();
    Section section("Ranks", {"rank", "compilations", "time", "alone", "of the slowest"},
                    options_.width);
    for (size_t i = 0; i < times.size(); ++i)
      section.Row({Rank(times.rank[i]), std::to_string(times.compilations[i]),
                   SecondsText(times.seconds[i]), SecondsText(times.alone_s[i]),
                   fmt::format("{:.0f} %", 100 * times.share_of_slowest[i])});
    AddSection(section);
    WriteDifferences();
  }

  void WriteDifferences() {
    const auto& all = Get<CompileFirstDifferenceTable>();
    Section section("Where ranks first differ", {"rank", "from", "what", "id", "difference"},
                    options_.width);
    for (size_t i = 0; i < all.size(); ++i)
      section.Row({Rank(all.rank_b[i]), Rank(all.rank_a[i]),
                   fmt::format("{} {}", Text(all.kind[i]), OneLine(all.name[i])),
                   std::string(Text(all.compile_id[i])), OneLine(all.difference[i])});
    AddSection(section);
  }

  void WriteWeight() {
    const auto& all = Get<CompileWeightTable>();
    Tally tally;
    for (size_t i = 0; i < all.size(); ++i) {
      if (Text(all.divided_by[i]) == "kind") tally.Add(all.name[i], all.bytes[i], all.entries[i]);
    }
    Section section(fmt::format("The log: {}", BytesText(static_cast<double>(tally.total()))),
                    {"bytes", "share", "entries", "kind"}, options_.width);
    for (const auto& each : tally.Largest(model_.pools))
      section.Row({BytesText(static_cast<double>(each.amount)), tally.Share(each.amount),
                   std::to_string(each.count), OneLine(each.name)});
    AddSection(section, 4);
  }

  void AddSection(const Section& section, size_t most = SIZE_MAX) {
    std::string text = section.Text(std::min(options_.rows, most));
    if (!text.empty()) out_ += "\n" + text;
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
  OneCompilation only_;
  std::set<int32_t> ranks_;
  std::string out_;
};

// The summary as a file of a report: `debrief PATH --with compile_summary`.
Status Write(const Model& model, const OutputContext& context) {
  return WriteFileAtomically(context.folder + "/compile_summary.txt",
                             SummaryText(model, {.width = 120, .rows = 1000, .compile_id = {}}));
}

}  // namespace

std::string SummaryText(const Model& model, const SummaryOptions& options) {
  return Summary(model, options).Text();
}

const Output& Describe() {
  static constexpr Output kOutput = {
      {"compile_summary", "what the compile logs show, as text: recompiles, breaks, time, caches",
       "compile_summary.txt", kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::compile_summary
