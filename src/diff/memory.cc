// Peaks of device memory by rank, and what holds more or less at the peak. Bytes are allocated
// alike in every run of the same program; a hundredth is taken for chance all the same.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diff/run_diff.h"
#include "tables/memory_holder.h"
#include "tables/memory_use.h"
#include "tables/profile_memory_holder.h"
#include "tables/profile_memory_peak.h"

namespace debrief::diff {

namespace {

constexpr int64_t kChancePercent = 1;
constexpr int32_t kHostMemory = 0;

struct Memory {
  std::map<int32_t, int64_t> peaks;        // by rank; of several devices the largest
  std::map<std::string, int64_t> holders;  // bytes by line or op, over all ranks
};

void Raise(std::map<int32_t, int64_t>& peaks, int32_t rank, int64_t bytes) {
  if (bytes == kNone64) return;
  auto [peak, is_new] = peaks.try_emplace(rank, bytes);
  peak->second = std::max(peak->second, bytes);
}

void AddSnapshots(const Side& side, Memory& memory) {
  const auto& uses = side.model.tables.Get<MemoryUseTable>();
  for (size_t row = 0; row < uses.size(); ++row) {
    if (!side.HasRow(uses, row)) continue;
    const int64_t peak = uses.peak_allocated_bytes[row];
    Raise(memory.peaks, side.RankKey(uses.rank[row]),
          peak == kNone64 ? uses.end_allocated_bytes[row] : peak);
  }
  const auto& holders = side.model.tables.Get<MemoryHolderTable>();
  for (size_t row = 0; row < holders.size(); ++row) {
    if (!side.HasRow(holders, row) || side.Text(holders.moment[row]) != "peak") continue;
    const std::string_view frame = side.Text(holders.frame[row]);
    memory.holders[std::string(frame.empty() ? "(no stack)" : frame)] += holders.bytes[row];
  }
}

void AddProfiles(const Side& side, Memory& memory) {
  const auto& peaks = side.model.tables.Get<ProfileMemoryPeakTable>();
  for (size_t row = 0; row < peaks.size(); ++row) {
    if (side.HasRow(peaks, row) && peaks.device_type[row] != kHostMemory)
      Raise(memory.peaks, side.RankKey(peaks.rank[row]), peaks.peak_allocated_bytes[row]);
  }
  const auto& holders = side.model.tables.Get<ProfileMemoryHolderTable>();
  for (size_t row = 0; row < holders.size(); ++row) {
    if (!side.HasRow(holders, row) || holders.device_type[row] == kHostMemory) continue;
    const std::string_view op = side.Text(holders.op[row]);
    memory.holders[std::string(op.empty() ? "(allocated outside of ops, or earlier)" : op)] +=
        holders.bytes[row];
  }
}

// A snapshot tells more than the events of a profile; they are not mixed.
Memory MemoryOf(const Side& side, bool from_snapshots) {
  Memory memory;
  from_snapshots ? AddSnapshots(side, memory) : AddProfiles(side, memory);
  return memory;
}

bool HasSnapshots(const Side& side) { return side.model.tables.Get<MemoryUseTable>().size() > 0; }

std::vector<Row> HolderRows(const Memory& a, const Memory& b) {
  std::map<std::string, Change> holders;
  int64_t sum = 0;
  for (const auto& [name, bytes] : a.holders) {
    holders[name].a = bytes;
    sum += bytes;
  }
  for (const auto& [name, bytes] : b.holders) holders[name].b = bytes;
  std::vector<Row> rows;
  for (auto& [name, change] : holders) {
    change.noise = PercentOf(sum, kChancePercent);
    change.is_real = std::abs(change.difference()) > change.noise;
    if (change.is_real) rows.push_back(RowOf(name, Unit::kBytes, change));
  }
  return rows;
}

}  // namespace

void DiffMemory(const Side& a, const Side& b, RunDiff& diff) {
  const bool from_snapshots = HasSnapshots(a) && HasSnapshots(b);
  const Memory of_a = MemoryOf(a, from_snapshots), of_b = MemoryOf(b, from_snapshots);
  std::vector<Row> rows;
  Change most;
  for (const auto& [rank, peak] : of_a.peaks) {
    auto other = of_b.peaks.find(rank);
    if (other == of_b.peaks.end()) continue;
    const Change change = ChangeOfSingles(peak, other->second, kChancePercent);
    most.a = std::max(most.a, change.a);
    most.b = std::max(most.b, change.b);
    if (!change.is_real) continue;
    const bool is_only = rank == kNone32 || a.rank != kNone32;
    rows.push_back(
        RowOf(is_only ? "peak" : fmt::format("peak of rank {}", rank), Unit::kBytes, change));
  }
  if (most.a > 0) {
    diff.metrics.push_back(
        {"memory_peak", Unit::kBytes, ChangeOfSingles(most.a, most.b, kChancePercent)});
  }
  AddSection("memory", "Device memory", std::move(rows), diff);
  if (most.a > 0)
    AddSection("memory_holders", "Held at the peak, over all ranks", HolderRows(of_a, of_b), diff);
}

}  // namespace debrief::diff
