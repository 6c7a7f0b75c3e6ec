// How evenly do the devices that recorded ops name share the time? One row a rank and device, one
// for each attempt with two devices or more. One pass over the ops.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "model/recorded_ops.h"
#include "tables/op_balance.h"
#include "tables/op_device.h"
#include "tables/recorded_op.h"

namespace debrief::analyses::load_balance {

namespace {

// A device with less than that above its share is not worth a word.
constexpr double kUneven = 0.2;

using Attempt = std::pair<int32_t, int32_t>;  // job, attempt

struct Devices {
  std::map<int32_t, op_trace::DeviceSums> of_rank;
  bool has_starts = false;
};

std::map<Attempt, Devices> AddUp(const Model& model) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  std::map<Attempt, Devices> attempts;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.device[i] == StringId::kNone) continue;
    Devices& devices = attempts[{ops.job[i], ops.attempt[i]}];
    devices.of_rank[ops.rank[i]].Add(FactsOf(model.pools, ops, i));
    devices.has_starts |= ops.start_ns[i] != kNone64;
  }
  return attempts;
}

void AddDevice(const Attempt& attempt, int32_t rank, const op_trace::DeviceSummary& device,
               bool has_starts, AnalysisResult& result) {
  OpDeviceRow row;
  std::tie(row.job, row.attempt) = attempt;
  row.rank = rank;
  row.device = result.part.pools.Intern(device.device);
  row.count = CountOf(device.count);
  row.duration_ns = device.duration_ns;
  if (has_starts) row.busy_ns = device.busy_ns;
  row.memory_bytes = CountOf(device.bytes);
  result.part.tables.Edit<OpDeviceTable>().Add(row);
}

std::string NameOf(int32_t rank, const std::string& device) {
  return rank == kNone32 ? device : fmt::format("{} of rank {}", device, rank);
}

// `devices` are of all ranks, the rank beside the device.
void AddBalance(const Attempt& attempt, const std::vector<op_trace::DeviceSummary>& devices,
                AnalysisResult& result) {
  const auto balance = op_trace::BalanceOf(devices);
  if (!balance) return;
  OpBalanceRow row;
  std::tie(row.job, row.attempt) = attempt;
  row.devices = static_cast<int64_t>(devices.size());
  row.total_ns = balance->total_ns;
  row.ideal_ns = std::llround(balance->ideal_ns);
  row.max_ns = balance->max_ns;
  row.imbalance = balance->imbalance;
  auto& table = result.part.tables.Edit<OpBalanceTable>();
  table.Add(row);
  if (balance->imbalance < kUneven) return;
  std::string busiest;
  for (const auto& [device, time] : balance->devices) {
    if (time == balance->max_ns && busiest.empty()) busiest = device;
  }
  Finding finding;
  finding.rule = "load_balance.uneven";
  std::tie(finding.job, finding.attempt) = attempt;
  finding.headline =
      fmt::format("{} has {:.0f} % more recorded op time than the mean of {} devices", busiest,
                  balance->imbalance * 100, devices.size());
  finding.evidence.push_back({.text = "op time of the devices added up",
                              .table = "op_balance",
                              .rows = {static_cast<int64_t>(table.size()) - 1}});
  finding.why = "added up from the recording; ops on the host's clock, not work on a device";
  finding.next_step =
      "Look at the devices: debrief query OUT \"FROM op_device ORDER BY duration_ns DESC\"";
  result.findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [attempt, devices] : AddUp(model)) {
    std::vector<op_trace::DeviceSummary> all;
    for (const auto& [rank, sums] : devices.of_rank) {
      for (op_trace::DeviceSummary& device : sums.Rows()) {
        AddDevice(attempt, rank, device, devices.has_starts, result);
        device.device = NameOf(rank, device.device);
        all.push_back(std::move(device));
      }
    }
    AddBalance(attempt, all, result);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "load_balance",
               .sentence = "How evenly do devices share the time of recorded ops?",
               .example = "gpu:0 has 50 % more recorded op time than the mean of 2 devices",
               .needs = kTableNames<RecordedOpTable>,
               .makes = kTableNames<OpDeviceTable, OpBalanceTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::load_balance
