#include "analyses/profile/comms/samples.h"

#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::profile_comms {

namespace {

int32_t SizeOf(const Model& model, ListId members) {
  size_t size = model.pools.lists.Get(members).size();
  return size == 0 ? kNone32 : static_cast<int32_t>(size);
}

// Of a row of profile_collective or profile_collective_match.
template <typename Table>
Kind KindOf(const Table& table, size_t row, int32_t group_size, bool matched) {
  return {.job = table.job[row],
          .attempt = table.attempt[row],
          .group_name = table.group_name[row],
          .group_desc = table.group_desc[row],
          .members = table.members[row],
          .group_size = group_size,
          .op = table.op[row],
          .bytes = table.bytes[row],
          .matched = matched};
}

void AddMatched(const Model& model, Samples& samples) {
  const auto& table = model.tables.Get<ProfileCollectiveMatchTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.bytes[row] == kNone64 || table.on_device[row] == 0) continue;
    Durations& found = samples[KindOf(table, row, SizeOf(model, table.members[row]), true)];
    found.transfer_ns.push_back(table.transfer_ns[row]);
    if (table.start_skew_ns[row] != kNone64) found.skew_ns.push_back(table.start_skew_ns[row]);
  }
}

void AddSingle(const Model& model, Samples& samples) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  std::vector<uint8_t> matched(table.size());
  for (int64_t collective : waits.collective) matched[static_cast<size_t>(collective)] = 1;
  for (size_t row = 0; row < table.size(); ++row) {
    if (matched[row] != 0 || table.bytes[row] == kNone64 || table.on_device[row] == 0) continue;
    samples[KindOf(table, row, table.group_size[row], false)].transfer_ns.push_back(
        table.duration_ns[row]);
  }
}

}  // namespace

Samples FindSamples(const Model& model) {
  Samples samples;
  AddMatched(model, samples);
  AddSingle(model, samples);
  return samples;
}

double BusFactor(std::string_view op, int32_t group_size) {
  bool all_reduce = op == "all_reduce";
  bool shares = op == "all_gather" || op == "reduce_scatter" || op == "all_to_all";
  if (!all_reduce && !shares) return 1;
  if (group_size <= 0) return 0;
  double share = static_cast<double>(group_size - 1) / static_cast<double>(group_size);
  return all_reduce ? 2 * share : share;
}

}  // namespace debrief::analyses::profile_comms
