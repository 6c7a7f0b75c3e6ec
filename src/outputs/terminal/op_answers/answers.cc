#include "outputs/terminal/op_answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/recorded_ops.h"
#include "tables/input.h"
#include "tables/op_device.h"
#include "tables/recording.h"
#include "tables/recording_loss.h"
#include "tables/timeline_memory.h"

namespace debrief::outputs::op_answers {

namespace {

using op_trace::Behaviour;
using op_trace::Interval;
using op_trace::OpFacts;

std::optional<int32_t> ToldRank(int32_t rank) {
  return rank == kNone32 ? std::nullopt : std::optional(rank);
}

// Begin, end and communication of one input.
struct InputTimes {
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
  std::vector<Interval> communication;
};

// What the sums of one name do not tell.
struct Name {
  bool communicates = false;
  size_t table_rows = 0;  // of op_summary
  uint64_t without_duration = 0;
  std::vector<int64_t> durations;  // of names with several rows
};

class Answerer {
 public:
  Answerer(const Model& model, const OpsOptions& options)
      : model_(model), options_(options), ops_(model.tables.Get<RecordedOpTable>()) {}

  OpAnswers Answer() {
    FindRanks();
    options_.behaviour == Behaviour::kReference ? SumReference() : ReadTables();
    for (const op_trace::OpSummary& op : answers_.ops)
      names_[op.operation].communicates = IsCommunication(op.operation, options_.behaviour);
    for (size_t row = 0; row < ops_.size(); ++row) AddOp(row);
    AddTotals();
    AddWallTimes();
    ListSlowest();
    FindPeak();
    answers_.metadata = MetadataOf(model_);
    ListLosses();
    ListOpen();
    return std::move(answers_);
  }

 private:
  OpFacts Facts(size_t row) const {
    const auto entries = reference_.entries();
    if (entries.empty()) return FactsOf(model_.pools, ops_, row);
    return op_trace::FactsOf(entries[row], entries[row].duration_ns.value_or(0));
  }

  void FindRanks() {
    const auto& inputs = model_.tables.Get<InputTable>();
    answers_.inputs = inputs.size();
    std::set<int32_t> ranks;
    for (const int32_t rank : inputs.rank) {
      if (rank != kNone32) ranks.insert(rank);
    }
    answers_.ranks.assign(ranks.begin(), ranks.end());
  }

  void SumReference() {
    for (op_trace::Entry& entry : CompatEntries(model_)) reference_.Add(std::move(entry));
    answers_.ops = SummariseOps(reference_);
    answers_.devices = SummariseDevices(reference_);
  }

  // What the analyses have added up, over all ranks.
  void ReadTables() {
    const auto& summaries = model_.tables.Get<OpSummaryTable>();
    OpSummaries sums;
    for (size_t row = 0; row < summaries.size(); ++row) {
      AddSummary(model_.pools, summaries, row, sums);
      ++names_[model_.pools.Text(summaries.operation[row])].table_rows;
    }
    for (auto& [name, sum] : sums) answers_.ops.push_back(std::move(sum));
    ReadDevices();
  }

  // The same name is another device on another rank.
  void ReadDevices() {
    const auto& table = model_.tables.Get<OpDeviceTable>();
    std::map<std::string, op_trace::DeviceSummary> devices;
    for (size_t row = 0; row < table.size(); ++row) {
      std::string name(model_.pools.Text(table.device[row]));
      if (answers_.ranks.size() > 1) name = fmt::format("rank {} {}", table.rank[row], name);
      op_trace::DeviceSummary& device = devices[name];
      device.device = std::move(name);
      device.count += static_cast<uint64_t>(table.count[row]);
      op_trace::AddTo(device.duration_ns, table.duration_ns[row]);
      op_trace::AddTo(device.busy_ns, std::max<int64_t>(table.busy_ns[row], 0));
      op_trace::AddTo(device.bytes, static_cast<uint64_t>(table.memory_bytes[row]));
    }
    for (auto& [name, device] : devices) answers_.devices.push_back(std::move(device));
    std::sort(answers_.devices.begin(), answers_.devices.end(), [](const auto& a, const auto& b) {
      return op_trace::NaturallyBefore(a.device, b.device);
    });
  }

  void AddOp(size_t row) {
    const OpFacts op = Facts(row);
    Name& name = names_[op.operation];
    if (op.duration_ns && name.table_rows > 1) name.durations.push_back(*op.duration_ns);
    name.without_duration += !op.duration_ns;
    answers_.without_duration += !op.duration_ns;
    answers_.without_device += !op.device;
    answers_.largest_bytes = std::max(answers_.largest_bytes, op.bytes);
    answers_.bytes_assumed += ops_.bytes_assumed[row] != 0;
    if (op.bytes > options_.hot_bytes) answers_.hot_spots.push_back(Listed(row, op));
    if (!op.start_ns) return;
    answers_.has_busy = true;
    InputTimes& times = times_[ops_.input[row]];
    const int64_t end = *op.start_ns + op.duration_ns.value_or(0);
    times.start_ns = std::min(times.start_ns, *op.start_ns);
    times.end_ns = std::max(times.end_ns, end);
    if (name.communicates) times.communication.emplace_back(*op.start_ns, end);
  }

  ListedOp Listed(size_t row, const OpFacts& op) const {
    ListedOp listed = {.operation = std::string(op.operation),
                       .rank = ToldRank(ops_.rank[row]),
                       .duration_ns = op.duration_ns,
                       .self_ns = op.self_ns,
                       .bytes = op.bytes,
                       .step = static_cast<uint64_t>(std::max<int64_t>(ops_.step[row], 0))};
    if (op.device) listed.device = std::string(*op.device);
    if (ops_.thread[row] != kNone64) listed.thread = ops_.thread[row];
    return listed;
  }

  // Percentiles of several ranks or devices do not follow from those of each.
  void FinishSummary(Name& name, op_trace::OpSummary& op) const {
    const uint64_t timed = op.count - name.without_duration;
    op.mean_ns = op_trace::MeanOf(op.duration_ns, timed);
    if (name.durations.empty()) return;
    op.p50_ns = op_trace::Percentile(name.durations, 50);
    op.p99_ns = op_trace::Percentile(name.durations, 99);
  }

  void AddTotals() {
    answers_.count = ops_.size();
    for (op_trace::OpSummary& op : answers_.ops) {
      Name& name = names_[op.operation];
      if (options_.behaviour == Behaviour::kCorrect) FinishSummary(name, op);
      op_trace::AddTo(answers_.op_time_ns, op.self_ns);
      op_trace::AddTo(answers_.bytes, op.bytes, options_.behaviour);
      if (name.communicates) op_trace::AddTo(answers_.communication_ns, op.self_ns);
    }
    answers_.balance = op_trace::BalanceOf(answers_.devices);
    answers_.communication = op_trace::CommunicationOf(answers_.ops, answers_.op_time_ns,
                                                       options_.min_ratio, options_.behaviour);
    if (answers_.op_time_ns > 0)
      answers_.communication_of_op_time =
          static_cast<double>(answers_.communication_ns) / static_cast<double>(answers_.op_time_ns);
    std::stable_sort(answers_.ops.begin(), answers_.ops.end(),
                     [](const auto& a, const auto& b) { return a.self_ns > b.self_ns; });
  }

  void AddWallTimes() {
    int64_t wall = 0, talking = 0;
    for (auto& [input, times] : times_) {
      op_trace::AddTo(wall, times.end_ns - times.start_ns);
      op_trace::AddTo(talking, op_trace::UnionOf(times.communication));
    }
    if (times_.empty()) return;
    answers_.wall_ns = wall;
    if (wall > 0)
      answers_.communication_of_wall = static_cast<double>(talking) / static_cast<double>(wall);
  }

  // The best so far are a heap with the least of them on top.
  void ListSlowest() {
    using Slow = std::pair<int64_t, size_t>;  // self time, row
    const auto before = [](const Slow& a, const Slow& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    const size_t count = options_.top == 0 ? ops_.size() : std::min(options_.top, ops_.size());
    std::vector<Slow> best;
    for (size_t row = 0; row < ops_.size() && count > 0; ++row) {
      const OpFacts op = Facts(row);
      const Slow own = {op.duration_ns ? op.self_ns : INT64_MIN, row};
      if (best.size() == count && !before(own, best.front())) continue;
      if (best.size() == count) {
        std::pop_heap(best.begin(), best.end(), before);
        best.pop_back();
      }
      best.push_back(own);
      std::push_heap(best.begin(), best.end(), before);
    }
    std::sort_heap(best.begin(), best.end(), before);
    for (const auto& [self, row] : best) answers_.slowest.push_back(Listed(row, Facts(row)));
  }

  void FindPeak() {
    for (const int64_t bytes : model_.tables.Get<TimelineMemoryTable>().allocated_bytes)
      answers_.live_peak_bytes = std::max(answers_.live_peak_bytes.value_or(0), bytes);
  }

  void ListLosses() {
    const auto& recordings = model_.tables.Get<RecordingTable>();
    const auto& paths = model_.tables.Get<InputTable>().path;
    const std::map<int32_t, Interval> ranges = LossRanges();
    for (size_t row = 0; row < recordings.size(); ++row) {
      Losses lost = {.rank = ToldRank(recordings.rank[row]),
                     .overwritten = recordings.overwritten[row],
                     .dropped = recordings.dropped[row],
                     .names = recordings.lost_names[row]};
      if (lost.overwritten == 0 && lost.dropped == 0 && lost.names == 0) continue;
      lost.path = model_.pools.Text(paths[static_cast<size_t>(recordings.input[row])]);
      if (const auto range = ranges.find(recordings.input[row]); range != ranges.end()) {
        lost.from_ns = range->second.first - recordings.start_ns[row];
        lost.to_ns = range->second.second - recordings.start_ns[row];
      }
      answers_.losses.push_back(std::move(lost));
    }
  }

  // Earliest and latest time of what each input lost.
  std::map<int32_t, Interval> LossRanges() const {
    const auto& losses = model_.tables.Get<RecordingLossTable>();
    std::map<int32_t, Interval> ranges;
    for (size_t row = 0; row < losses.size(); ++row) {
      const Interval own = {losses.from_ns[row], losses.to_ns[row]};
      const auto [found, is_new] = ranges.try_emplace(losses.input[row], own);
      found->second.first = std::min(found->second.first, own.first);
      found->second.second = std::max(found->second.second, own.second);
    }
    return ranges;
  }

  void ListOpen() {
    const auto& recordings = model_.tables.Get<RecordingTable>();
    std::map<int32_t, size_t> recording_of;  // by input
    for (size_t row = 0; row < recordings.size(); ++row)
      recording_of.emplace(recordings.input[row], row);
    std::map<std::pair<int32_t, int64_t>, OpenOps> stacks;  // by input and thread
    for (size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.open[row] == 0) continue;
      const size_t recording = recording_of.at(ops_.input[row]);
      OpenOps& open = stacks[{ops_.input[row], ops_.thread[row]}];
      open.rank = ToldRank(ops_.rank[row]);
      open.pid = recordings.pid[recording];
      open.thread = ops_.thread[row];
      open.closed = recordings.closed[recording] != 0;
      open.copied = recordings.copied[recording] != 0;
      open.operations.emplace_back(model_.pools.Text(ops_.operation[row]));
      open.open_for_ns.push_back(ops_.duration_ns[row]);
    }
    for (auto& [key, open] : stacks) answers_.open.push_back(std::move(open));
  }

  const Model& model_;
  const OpsOptions& options_;
  const RecordedOpTable& ops_;
  op_trace::Trace reference_{Behaviour::kReference};
  std::unordered_map<std::string_view, Name> names_;
  std::map<int32_t, InputTimes> times_;
  OpAnswers answers_;
};

}  // namespace

OpAnswers AnswerOps(const Model& model, const OpsOptions& options) {
  return Answerer(model, options).Answer();
}

}  // namespace debrief::outputs::op_answers
