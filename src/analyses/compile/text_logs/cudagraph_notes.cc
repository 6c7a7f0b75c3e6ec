#include "analyses/compile/text_logs/cudagraph_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/compile/text_logs/record_text.h"
#include "base/text/units.h"
#include "tables/compile_cudagraph_skip.h"

namespace debrief::analyses::compile_text_logs {

void CudagraphNotes::Note(const ProcessOfText& process, size_t record, std::string_view id,
                          std::string_view text) {
  if (auto reason = ParseGraphSkip(text)) {
    auto [found, is_new] = skips_.try_emplace(std::pair(process, std::string(*reason)));
    if (is_new) found->second.record = record;
    ++found->second.count;
    if (!id.empty()) found->second.ids.Add(id);
  } else if (const int32_t sizes = ParseGraphSizes(text); sizes > 0) {
    auto [found, is_new] = sizes_.try_emplace(process, Sizes{.record = record});
    found->second.most = std::max(found->second.most, sizes);
  }
}

void CudagraphNotes::Write(const TorchLogTable& records, AnalysisResult& result) {
  for (const auto& [key, skip] : skips_) AddSkip(records, key.second, skip, result);
  for (const auto& [process, sizes] : sizes_) AddSizes(records, sizes, result);
}

void CudagraphNotes::AddSkip(const TorchLogTable& records, const std::string& reason,
                             const Skip& skip, AnalysisResult& result) {
  auto& table = result.part.tables.Edit<CompileCudagraphSkipTable>();
  auto row = RowLike<CompileCudagraphSkipRow>(records, skip.record);
  const std::string ids = skip.ids.Joined();
  row.reason = result.part.pools.Intern(reason);
  row.compile_ids = ids.empty() ? StringId::kNone : result.part.pools.Intern(ids);
  row.count = skip.count;
  table.Add(row);
  const int32_t job = records.job[skip.record], attempt = records.attempt[skip.record];
  auto [found, is_new] =
      findings_.try_emplace(std::tuple(job, attempt, reason), result.findings.size());
  if (is_new) {
    Finding finding = NewFinding("compile.cudagraphs_skipped", job, attempt);
    finding.headline = fmt::format("CUDA graphs were skipped: {}", reason);
    finding.why = "as TORCH_LOGS printed it";
    finding.confidence = 0.9;
    finding.next_step =
        "Move what it names to the GPU or out of the compiled function, or accept launches one by "
        "one.";
    finding.evidence.push_back(
        {Plural(static_cast<size_t>(skip.count), "skip") + " on the first rank",
         "compile_cudagraph_skip",
         {}});
    result.findings.push_back(std::move(finding));
  }
  Finding& finding = result.findings[found->second];
  AddRank(finding.ranks, records.rank[skip.record]);
  finding.evidence[0].rows.push_back(static_cast<int64_t>(table.size() - 1));
}

// A graph is recorded for each size, at the cost of time and memory.
void CudagraphNotes::AddSizes(const TorchLogTable& records, const Sizes& sizes,
                              AnalysisResult& result) {
  const int32_t job = records.job[sizes.record], attempt = records.attempt[sizes.record];
  auto [found, is_new] =
      findings_.try_emplace(std::tuple(job, attempt, std::string()), result.findings.size());
  if (is_new) {
    Finding finding =
        NewFinding("compile.cudagraphs_sizes", job, attempt, Severity::kWarning, Role::kCause);
    finding.headline =
        fmt::format("CUDA graphs were recorded for {} distinct sizes of inputs", sizes.most);
    finding.why = "as TORCH_LOGS printed it";
    finding.confidence = 0.9;
    finding.next_step =
        "Pad inputs to a few sizes, or set "
        "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True.";
    finding.evidence.push_back(
        {fmt::format("{} sizes on the first rank; each has a graph of its own", sizes.most),
         "torch_log",
         {static_cast<int64_t>(sizes.record)}});
    result.findings.push_back(std::move(finding));
  }
  AddRank(result.findings[found->second].ranks, records.rank[sizes.record]);
}

}  // namespace debrief::analyses::compile_text_logs
