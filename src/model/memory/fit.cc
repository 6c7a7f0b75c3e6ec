#include "model/memory/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/memory/amounts.h"
#include "tables/memory_fit.h"

namespace debrief::memory {

namespace {

constexpr double kNearlyFull = 0.9;                // of the memory of the device
constexpr int64_t kWorthwhile = int64_t{1} << 30;  // less is not worth the time of recomputing

int64_t SavedByCheckpoints(const PeakParts& peak) {
  const auto count = static_cast<double>(std::max<int64_t>(1, peak.activation_count));
  const double kept = std::min(1.0, 2 / std::sqrt(count));
  return static_cast<int64_t>(static_cast<double>(peak.activations) * (1 - kept));
}

// Of the memory of the device the same share stays unused.
double BatchThatFits(const PeakParts& peak) {
  if (peak.capacity == kNone64 || peak.capacity <= 0 || peak.by_batch <= 0 || peak.reserved <= 0)
    return kNoDouble;
  const double usable = static_cast<double>(peak.capacity) * static_cast<double>(peak.in_use) /
                        static_cast<double>(peak.reserved);
  const auto rest = static_cast<double>(Minus(peak.in_use, peak.by_batch));
  return std::max(0.0, (usable - rest) / static_cast<double>(peak.by_batch));
}

MemoryFitRow RowOf(const PeakParts& peak, Part& part) {
  auto row = Part::RowOf<MemoryFitRow>(peak.who);
  row.device = peak.device;
  row.source = part.pools.Intern(peak.source);
  row.peak_bytes = peak.in_use;
  row.fixed_bytes = peak.fixed;
  row.batch_bytes = peak.by_batch;
  row.other_bytes = peak.other;
  row.unused_bytes = peak.unused;
  if (peak.reserved > 0)
    row.unused_share = static_cast<double>(peak.unused) / static_cast<double>(peak.reserved);
  row.checkpoint_bytes = SavedByCheckpoints(peak);
  row.half_batch_bytes = peak.by_batch / 2;
  row.capacity_bytes = peak.capacity;
  row.batch_factor = BatchThatFits(peak);
  return row;
}

bool IsTight(const PeakParts& peak) {
  const bool is_known = peak.capacity != kNone64 && peak.reserved != kNone64;
  return peak.ran_out || (is_known && static_cast<double>(peak.reserved) >
                                          kNearlyFull * static_cast<double>(peak.capacity));
}

// Where memory was short: what would make room. A hint, no judgement.
Finding MakeRoom(const PeakParts& peak, const MemoryFitRow& row) {
  Finding finding;
  finding.rule = "memory_fit.room";
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  finding.job = peak.who.job;
  finding.attempt = peak.who.attempt;
  if (peak.who.rank != kNone32) finding.ranks = {peak.who.rank};
  finding.headline = fmt::format("Activation checkpointing would save about {} of {} on {}",
                                 SizeText(row.checkpoint_bytes), SizeText(row.peak_bytes),
                                 DeviceName(peak.device, peak.who.rank));
  finding.evidence.push_back(
      {.text = fmt::format("of the peak {} grow with the batch, {} do not; half the batch would "
                           "save about {}; {} were reserved and not in use",
                           SizeText(row.batch_bytes), SizeText(row.fixed_bytes),
                           SizeText(row.half_batch_bytes), SizeText(row.unused_bytes)),
       .table = "memory_fit",
       .rows = {}});
  finding.confidence = 0.5;
  finding.why = fmt::format(
      "an estimate: of {} activations, with a checkpoint at every {:.0f}th, {:.0f} are alive at "
      "once",
      peak.activation_count, std::sqrt(static_cast<double>(peak.activation_count)),
      2 * std::sqrt(static_cast<double>(peak.activation_count)));
  finding.next_step = "Try torch.utils.checkpoint on the blocks of the model, or a smaller batch.";
  return finding;
}

}  // namespace

void PeakParts::Add(std::string_view category, int64_t bytes, int64_t count) {
  const bool is_activation = category == "activations";
  if (category == "unused") {
    unused = bytes;
  } else if (is_activation || category == "temporary") {
    by_batch = Plus(by_batch, bytes);
  } else if (category == "other" || category == "unknown") {
    other = Plus(other, bytes);
  } else {
    fixed = Plus(fixed, bytes);
  }
  if (!is_activation) return;
  activations = Plus(activations, bytes);
  activation_count = Plus(activation_count, count);
}

void AddFits(const std::vector<PeakParts>& peaks, Part& part, std::vector<Finding>& findings) {
  auto& rows = part.tables.Edit<MemoryFitTable>();
  std::map<std::pair<int32_t, int32_t>, const PeakParts*> best;  // by attempt
  for (const PeakParts& peak : peaks) {
    const MemoryFitRow row = RowOf(peak, part);
    if (IsTight(peak) && row.checkpoint_bytes >= kWorthwhile) {
      const PeakParts*& found = best[{peak.who.job, peak.who.attempt}];
      if (found == nullptr || found->activations < peak.activations) found = &peak;
    }
    rows.Add(row);
  }
  for (const auto& [attempt, found] : best) {
    findings.push_back(MakeRoom(*found, RowOf(*found, part)));
  }
}

}  // namespace debrief::memory
