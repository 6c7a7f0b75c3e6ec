// Which kernels take the time of devices, and which ops launch them?
//
// Cost: a pass over the work of devices; durations are put into one array by group, so that a
// median costs no more than a sum.
#include <unordered_map>

#include "analyses/analysis.h"
#include "base/stats/statistics.h"
#include "compat/hta/tables.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/profile_kernel.h"
#include "tables/profile_kernel_op.h"
#include "tables/timeline_launch.h"

namespace debrief::analyses::profile_kernels {

namespace {

using timeline::TimelineView;

struct Key {
  StringId kind = StringId::kNone, kernel = StringId::kNone;
  StringId op = StringId::kNone, shapes = StringId::kNone;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = 0;
    for (StringId id : {key.kind, key.kernel, key.op, key.shapes})
      hash = (hash ^ (hash >> 31) ^ static_cast<uint64_t>(id)) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(hash ^ (hash >> 29));
  }
};

// Pieces of work with the same key, in the order in which keys come first.
class Groups {
 public:
  void Add(const Key& key, int64_t duration) {
    auto [at, is_new] = numbers_.try_emplace(key, keys_.size());
    if (is_new) {
      keys_.push_back(key);
      durations_.emplace_back();
    }
    durations_[at->second].push_back(duration);
    last_ = at->second;
  }

  size_t last() const { return last_; }  // group of the last one added
  size_t size() const { return keys_.size(); }
  const Key& key(size_t group) const { return keys_[group]; }
  Summary Summarised(size_t group) { return Summarise(durations_[group]); }

 private:
  std::unordered_map<Key, size_t, KeyHash> numbers_;
  std::vector<Key> keys_;
  std::vector<std::vector<int64_t>> durations_;
  size_t last_ = 0;
};

template <typename T>
struct Constant {
  T value{};
  bool seen = false, differs = false;
  void Add(T next) {
    differs = differs || (seen && next != value);
    value = next;
    seen = true;
  }
  T Or(T none) const { return seen && !differs ? value : none; }
};

// How kernels of one name were launched.
struct Shape {
  Constant<int64_t> blocks;
  Constant<int32_t> threads, registers;
  double weighted_occupancy = 0, weight = 0;
};

template <typename Row>
void SetSummary(const Summary& summary, Row& row) {
  row.count = summary.count;
  row.total_ns = summary.total;
  row.min_ns = summary.min;
  row.max_ns = summary.max;
  row.mean_ns = summary.mean;
  row.median_ns = summary.median;
  row.stddev_ns = summary.stddev;
}

class Profile {
 public:
  Profile(const TimelineView& view, const timeline::DeviceClasses& classes, Part& part)
      : view_(view), classes_(classes), part_(part) {}

  void Run() {
    Read();
    AddKernels();
    AddKernelOps();
  }

 private:
  void Read() {
    const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
    const timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
    size_t work = view_.works.begin;
    for (size_t row = rows.begin; row < rows.end; ++row) {
      const int32_t slice = launches.slice[row];
      const size_t at = TimelineView::At(slice);
      Key key = {.kind = view_.kind[at], .kernel = view_.name[at]};
      kernels_.Add(key, view_.duration[at]);
      device_ns_ += view_.duration[at];
      AddShape(slice, work);
      if (launches.op[row] != kNone32) SetOp(launches.op[row], key);
      kernel_ops_.Add(key, view_.duration[at]);
    }
  }

  // Details are in the order of slices, as launches are: `work` only moves on.
  void AddShape(int32_t slice, size_t& work) {
    const auto& works = view_.model.tables.Get<TimelineDeviceWorkTable>();
    shapes_.resize(kernels_.size());
    while (work < view_.works.end && works.slice[work] < slice) ++work;
    if (work == view_.works.end || works.slice[work] != slice) return;
    Shape& shape = shapes_[kernels_.last()];
    shape.blocks.Add(works.blocks[work]);
    shape.threads.Add(works.threads[work]);
    shape.registers.Add(works.registers[work]);
    if (works.occupancy_pct[work] != works.occupancy_pct[work]) return;  // not told
    const auto weight = static_cast<double>(view_.duration[TimelineView::At(slice)]);
    shape.weighted_occupancy += works.occupancy_pct[work] * weight;
    shape.weight += weight;
  }

  void SetOp(int32_t op, Key& key) const {
    key.op = view_.name[TimelineView::At(op)];
    if (auto row = view_.OpRow(op))
      key.shapes = view_.model.tables.Get<TimelineOpTable>().shapes[*row];
  }

  void AddKernels() {
    for (size_t group = 0; group < kernels_.size(); ++group) {
      const Key& key = kernels_.key(group);
      auto row = view_.NewRow<ProfileKernelRow>();
      row.definition = part_.pools.Intern("debrief");
      row.name = timeline::Copied(view_.model, key.kernel, part_);
      row.device_class = part_.pools.Intern(DeviceClassName(classes_.Of(key.kind, key.kernel)));
      SetSummary(kernels_.Summarised(group), row);
      if (device_ns_ > 0)
        row.share_pct = 100 * static_cast<double>(row.total_ns) / static_cast<double>(device_ns_);
      SetShape(shapes_[group], row);
      part_.tables.Edit<ProfileKernelTable>().Add(row);
    }
  }

  static void SetShape(const Shape& shape, ProfileKernelRow& row) {
    row.blocks = shape.blocks.Or(kNone64);
    row.threads = shape.threads.Or(kNone32);
    row.registers = shape.registers.Or(kNone32);
    if (shape.weight > 0) row.occupancy_pct = shape.weighted_occupancy / shape.weight;
  }

  void AddKernelOps() {
    for (size_t group = 0; group < kernel_ops_.size(); ++group) {
      const Key& key = kernel_ops_.key(group);
      auto row = view_.NewRow<ProfileKernelOpRow>();
      row.kernel = timeline::Copied(view_.model, key.kernel, part_);
      row.op = timeline::Copied(view_.model, key.op, part_);
      row.shapes = timeline::Copied(view_.model, key.shapes, part_);
      SetSummary(kernel_ops_.Summarised(group), row);
      part_.tables.Edit<ProfileKernelOpTable>().Add(row);
    }
  }

  const TimelineView& view_;
  const timeline::DeviceClasses& classes_;
  Part& part_;
  Groups kernels_, kernel_ops_;
  std::vector<Shape> shapes_;  // by group of kernels_
  int64_t device_ns_ = 0;
};

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  hta::Names hta_names(model);
  for (const TimelineView& view : timeline::Timelines(model)) {
    Profile(view, classes, result.part).Run();
    hta::AddKernels(view, hta_names, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_kernels",
               .scope = AnalysisScope::kRank,
               .sentence = "Which kernels take the time of devices, and which ops launch them?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineLaunchTable>,
               .makes = kTableNames<ProfileKernelTable, ProfileKernelOpTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_kernels
