// What makes the output of a job large: which loggers, which lines of source, which files?
//
// Sums over the texts of an attempt of what their importer counted; the largest of each division
// are kept. A finding only where most of a large output comes from one logger that TORCH_LOGS or
// NCCL_DEBUG switch on: such an output costs time and hides the lines that matter.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/text/units.h"
#include "tables/input.h"
#include "tables/output_weight.h"
#include "tables/text_weight.h"

namespace debrief::analyses::text_weight {

namespace {

constexpr size_t kMostRows = 100;                 // of a division
constexpr int64_t kLargeOutput = 100'000'000;     // bytes
constexpr double kMost = 0.5;                     // of it
constexpr std::string_view kPlain = "no logger";  // what programs print themselves

struct Sum {
  int64_t lines = 0, bytes = 0;
};
using Division = std::map<std::string_view, Sum>;  // by name

// The texts of one attempt of a job.
struct AttemptSums {
  std::map<std::string_view, Division> divisions;
  int64_t bytes = 0;
};

class WeightPass {
 public:
  WeightPass(const Model& model, AnalysisResult& result)
      : model_(model), result_(result), rows_(result.part.tables.Edit<TextWeightTable>()) {}

  void Run() {
    Gather();
    for (const auto& [who, sums] : attempts_) {
      for (const auto& [divided_by, division] : sums.divisions)
        AddDivision(who, divided_by, division, sums.bytes);
      AddFinding(who, sums);
    }
  }

 private:
  using Who = std::pair<int32_t, int32_t>;  // job, attempt

  void Gather() {
    const auto& weights = model_.tables.Get<OutputWeightTable>();
    const auto& inputs = model_.tables.Get<InputTable>();
    for (size_t row = 0; row < weights.size(); ++row) {
      AttemptSums& sums = attempts_[{weights.job[row], weights.attempt[row]}];
      const std::string_view divided_by = model_.pools.Text(weights.divided_by[row]);
      const Sum sum = {weights.lines[row], weights.bytes[row]};
      Count(model_.pools.Text(weights.name[row]), sum, sums.divisions[divided_by]);
      if (divided_by != "logger") continue;  // every line has one
      sums.bytes += sum.bytes;
      const auto input = static_cast<size_t>(weights.input[row]);
      Count(model_.pools.Text(inputs.path[input]), sum, sums.divisions["file"]);
    }
  }

  static void Count(std::string_view name, const Sum& sum, Division& division) {
    Sum& to = division[name];
    to.lines += sum.lines;
    to.bytes += sum.bytes;
  }

  void AddDivision(const Who& who, std::string_view divided_by, const Division& division,
                   int64_t all) {
    std::vector<std::pair<std::string_view, Sum>> sorted(division.begin(), division.end());
    std::ranges::stable_sort(sorted, std::greater(),
                             [](const auto& one) { return one.second.bytes; });
    if (sorted.size() > kMostRows) sorted.resize(kMostRows);
    for (const auto& [name, sum] : sorted) {
      auto row = Part::RowOf<TextWeightRow>({.job = who.first, .attempt = who.second});
      row.divided_by = result_.part.pools.Intern(divided_by);
      row.name = result_.part.pools.Intern(name);
      row.lines = sum.lines;
      row.bytes = sum.bytes;
      row.share = static_cast<double>(sum.bytes) / static_cast<double>(std::max<int64_t>(all, 1));
      rows_.Add(row);
      const bool is_main = divided_by == "logger" && name != kPlain && row.share > kMost;
      if (is_main) main_ = rows_.size() - 1;
    }
  }

  void AddFinding(const Who& who, const AttemptSums& sums) {
    const size_t row = std::exchange(main_, SIZE_MAX);
    if (row == SIZE_MAX || sums.bytes < kLargeOutput) return;
    const std::string_view name = result_.part.pools.Text(rows_.name[row]);
    Finding finding;
    finding.rule = "text_weight.large_output";
    finding.severity = Severity::kInfo;
    finding.role = Role::kObservation;
    finding.job = who.first;
    finding.attempt = who.second;
    finding.headline =
        fmt::format("{} writes {:.0f} % of {} of output", name, 100 * rows_.share[row],
                    BytesText(static_cast<double>(sums.bytes)));
    finding.evidence.push_back(
        {fmt::format("{} lines", rows_.lines[row]), "text_weight", {static_cast<int64_t>(row)}});
    finding.confidence = 1;
    finding.why = "counted in the texts";
    finding.next_step =
        name.starts_with("NCCL ")
            ? "Set NCCL_DEBUG=WARN, or NCCL_DEBUG_FILE to write it elsewhere."
            : fmt::format("Leave {} out of TORCH_LOGS, or write it elsewhere with TORCH_LOGS_OUT.",
                          name);
    result_.findings.push_back(std::move(finding));
  }

  const Model& model_;
  AnalysisResult& result_;
  TextWeightTable& rows_;
  std::map<Who, AttemptSums> attempts_;
  size_t main_ = SIZE_MAX;  // the row of the logger that writes most
};

Status Run(const Model& model, AnalysisResult& result) {
  WeightPass(model, result).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_weight",
               .sentence = "Which loggers, files and lines make the output of a job large?",
               .example = "output_code writes 82 % of 1.2 GB of output",
               .needs = kTableNames<OutputWeightTable, InputTable>,
               .makes = kTableNames<TextWeightTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_weight
