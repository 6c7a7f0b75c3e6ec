#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "inputs/flight_recorder/diagnostics.h"
#include "inputs/flight_recorder/dump.h"
#include "tables/comm_dump.h"
#include "tables/comm_op.h"

namespace debrief::inputs::flight_recorder {

namespace {

using Rank = std::tuple<bool, size_t, bool>;

Rank RichnessOf(const Twin& twin) {
  const auto& dump = twin.part->tables.Get<CommDumpTable>();
  if (dump.size() == 0) return {};
  return {dump.has_stacks[0] != 0, twin.part->tables.Get<CommOpTable>().size(), dump.whole[0] != 0};
}

std::set<std::string> BackendsOf(const Twin& twin) {
  std::set<std::string> backends;
  const auto& ops = twin.part->tables.Get<CommOpTable>();
  StringId last = StringId::kNone;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.backend[row] != last) backends.emplace(twin.part->pools.Text(ops.backend[row]));
    last = ops.backend[row];
  }
  return backends;
}

// A dump without entries tells no backend, and so nothing that another dump does not.
bool SameRecorder(const Twin& a, const Twin& b) {
  auto theirs = BackendsOf(b);
  auto ours = BackendsOf(a);
  if (ours.empty() || theirs.empty()) return true;
  return std::any_of(ours.begin(), ours.end(),
                     [&](const std::string& backend) { return theirs.contains(backend); });
}

// Entries are the same when they have the same group, record and op id.
using EntryKey = std::tuple<std::string_view, int32_t, int32_t, int32_t>;

EntryKey KeyOf(const Part& part, size_t row) {
  const auto& ops = part.tables.Get<CommOpTable>();
  return {part.pools.Text(ops.group_name[row]), ops.record[row], ops.op_id[row],
          ops.collective_seq[row]};
}

// What both forms tell of an entry, and which must agree.
std::vector<std::pair<std::string_view, std::string>> ContentOf(const Part& part, size_t row) {
  const auto& ops = part.tables.Get<CommOpTable>();
  auto text = [&](StringId id) { return std::string(part.pools.Text(id)); };
  return {{"op", text(ops.op[row])},
          {"state", text(ops.state[row])},
          {"input_sizes", text(ops.input_sizes[row])},
          {"output_sizes", text(ops.output_sizes[row])},
          {"input_dtypes", text(ops.input_dtypes[row])},
          {"output_dtypes", text(ops.output_dtypes[row])},
          {"p2p_seq", fmt::to_string(ops.p2p_seq[row])},
          {"created_ns", fmt::to_string(ops.created_ns[row])},
          {"retired", fmt::to_string(ops.retired[row])}};
}

std::string FirstDifference(const Part& kept, size_t kept_row, const Part& other, size_t row) {
  auto ours = ContentOf(kept, kept_row);
  auto theirs = ContentOf(other, row);
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) continue;
    return fmt::format("record {}: {} is {} here and {} in the one used",
                       other.tables.Get<CommOpTable>().record[row], ours[i].first, theirs[i].second,
                       ours[i].second);
  }
  return {};
}

void Compare(const Twin& kept, const Twin& other) {
  std::map<EntryKey, size_t> row_of;
  for (size_t row = 0; row < kept.part->tables.Get<CommOpTable>().size(); ++row)
    row_of.emplace(KeyOf(*kept.part, row), row);
  for (size_t row = 0; row < other.part->tables.Get<CommOpTable>().size(); ++row) {
    auto found = row_of.find(KeyOf(*other.part, row));
    if (found == row_of.end()) continue;
    std::string difference = FirstDifference(*kept.part, found->second, *other.part, row);
    if (difference.empty()) continue;
    other.part->diagnostics.Add(kTwinDiffers, other.input, {.detail = std::move(difference)});
  }
}

}  // namespace

void Settle(std::span<Twin> twins) {
  std::vector<Twin*> order;
  for (Twin& twin : twins) order.push_back(&twin);
  std::stable_sort(order.begin(), order.end(),
                   [](Twin* a, Twin* b) { return RichnessOf(*a) > RichnessOf(*b); });
  std::vector<Twin*> kept;
  for (Twin* twin : order) {
    auto same = std::find_if(kept.begin(), kept.end(),
                             [&](Twin* other) { return SameRecorder(*other, *twin); });
    if (same == kept.end()) {
      kept.push_back(twin);
      continue;
    }
    twin->keep = false;
    Compare(**same, *twin);
    twin->part->diagnostics.Add(kTwin, twin->input,
                                {.detail = fmt::format("input {} was used", (*same)->input)});
  }
}

}  // namespace debrief::inputs::flight_recorder
