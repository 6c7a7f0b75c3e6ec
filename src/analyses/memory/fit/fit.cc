// How much of the peak of a device grows with the batch, and what would make room? From what its
// allocator snapshot says (model/memory/fit.h has the estimates); profiles are read by
// profile/memory.
#include "model/memory/fit.h"

#include <map>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "tables/memory_category.h"
#include "tables/memory_fit.h"
#include "tables/memory_use.h"

namespace debrief::analyses::memory_fit {

namespace {

Status Run(const Model& model, AnalysisResult& result) {
  std::vector<memory::PeakParts> peaks;
  std::map<std::pair<int32_t, int32_t>, size_t> numbers;  // by input and device
  const auto& uses = model.tables.Get<MemoryUseTable>();
  for (size_t row = 0; row < uses.size(); ++row) {
    const bool has_peak = uses.peak_allocated_bytes[row] != kNone64;
    numbers[{uses.input[row], uses.device[row]}] = peaks.size();
    peaks.push_back(
        {.who = {uses.input[row], uses.job[row], uses.attempt[row], uses.rank[row]},
         .device = uses.device[row],
         .source = "snapshot",
         .in_use = has_peak ? uses.peak_allocated_bytes[row] : uses.end_requested_bytes[row],
         .reserved = has_peak ? uses.peak_reserved_bytes[row] : uses.end_reserved_bytes[row],
         .ran_out = uses.ooms[row] != kNone64 && uses.ooms[row] > 0});
  }
  const auto& rows = model.tables.Get<MemoryCategoryTable>();
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto found = numbers.find({rows.input[row], rows.device[row]});
    if (found == numbers.end()) continue;
    peaks[found->second].Add(model.pools.Text(rows.category[row]), rows.bytes[row],
                             rows.count[row]);
  }
  memory::AddFits(peaks, result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "memory_fit",
               .sentence = "How much of the peak grows with the batch, and what would make room?",
               .example =
                   "Activation checkpointing would save about 21.40 GiB of 70.10 GiB on GPU 0 "
                   "of rank 3",
               .needs = kTableNames<MemoryUseTable, MemoryCategoryTable>,
               .makes = kTableNames<MemoryFitTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::memory_fit
