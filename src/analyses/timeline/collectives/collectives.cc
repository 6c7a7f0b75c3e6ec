// What communicated, when, with whom and how much?
//
// A kernel that communicates is known by its name or by its metadata; what it moved stands beside
// it or beside the op that issued it (issuers.h). A device that shows every transfer of a
// collective has one row for all of them (stamped.h). A timeline without such kernels (gloo, a CPU)
// has the ops themselves.
//
// Cost: one pass over the slices; everything else is linear in what communicates, but for sorting.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/timeline/collectives/issuers.h"
#include "analyses/timeline/collectives/stamped.h"
#include "model/timeline/device_class.h"
#include "tables/profile_collective.h"
#include "tables/timeline.h"
#include "tables/timeline_group.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"
#include "torch/collective_names.h"
#include "torch/dtype.h"

namespace debrief::analyses::timeline_collectives {

namespace {

using timeline::IsGathering;
using timeline::PlainOp;
using timeline::TimelineView;

constexpr auto kNeeds = kTableNames<TimelineTable, TimelineSliceTable>;
constexpr auto kMakes = kTableNames<ProfileCollectiveTable>;
constexpr auto kUses = kTableNames<TimelineStepTable>;
constexpr int64_t kTooMany = int64_t{1} << 50;  // more elements than any memory has

// Rows of one timeline; text is the model's until they are written.
class Collector {
 public:
  Collector(const TimelineView& view, const timeline::DeviceClasses& classes)
      : view_(view), told_(view.model.tables.Get<TimelineCollectiveTable>()) {
    FindKernels(classes);
  }

  std::vector<ProfileCollectiveRow> Collect(Part& part);

 private:
  void FindKernels(const timeline::DeviceClasses& classes);
  ProfileCollectiveRow NewRow(int32_t slice, Part& part) const;
  void Describe(size_t told_row, ProfileCollectiveRow& row, Part& part) const;
  void DescribeCoalesced(const Issuers& issuers, const std::vector<size_t>& ops,
                         ProfileCollectiveRow& row, Part& part) const;
  void AddKernels(std::vector<ProfileCollectiveRow>& rows, Part& part);
  void AddStamped(std::vector<ProfileCollectiveRow>& rows, Part& part) const;
  void AddOps(std::vector<ProfileCollectiveRow>& rows, Part& part);
  void AddNamedOps(std::vector<ProfileCollectiveRow>& rows, Part& part) const;
  void Number(std::vector<ProfileCollectiveRow>& rows) const;
  int64_t BytesOf(size_t told_row, std::string_view op) const;
  int32_t StepAt(int64_t time_ns) const;
  ListId MembersOf(size_t told_row) const;

  StringId Copy(StringId id, Part& part) const {
    return id == StringId::kNone ? id : part.pools.Intern(view_.model.pools.Text(id));
  }

  const TimelineView& view_;
  const TimelineCollectiveTable& told_;
  std::vector<int32_t> kernels_;
};

void Collector::FindKernels(const timeline::DeviceClasses& classes) {
  size_t row = view_.collectives.begin;
  const std::vector<bool> is_stamped_part = StampedPartsOf(view_);
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    while (row < view_.collectives.end && told_.slice[row] < slice) ++row;
    if (view_.kind[TimelineView::At(slice)] != view_.kinds.kernel) continue;
    if (is_stamped_part[TimelineView::At(slice)]) continue;
    bool told = row < view_.collectives.end && told_.slice[row] == slice;
    if (told || classes.Of(view_, slice) == timeline::DeviceClass::kCommunication)
      kernels_.push_back(slice);
  }
}

ProfileCollectiveRow Collector::NewRow(int32_t slice, Part& part) const {
  auto row = Part::RowOf<ProfileCollectiveRow>(view_.who);
  row.input = view_.who.input;
  row.slice = slice;
  row.parts = 1;
  row.start_ns = view_.start[TimelineView::At(slice)];
  row.duration_ns = view_.duration[TimelineView::At(slice)];
  std::string_view op = PlainOp(view_.NameOf(slice));
  row.op = part.pools.Intern(op.empty() ? view_.NameOf(slice) : op);
  row.step = StepAt(row.start_ns);
  return row;
}

int32_t Collector::StepAt(int64_t time_ns) const {
  const auto& steps = view_.model.tables.Get<TimelineStepTable>();
  timeline::RowRange rows = timeline::RowsOf(steps, view_.who.input);
  auto first = steps.start_ns.begin() + static_cast<std::ptrdiff_t>(rows.begin);
  auto last = steps.start_ns.begin() + static_cast<std::ptrdiff_t>(rows.end);
  auto after = std::upper_bound(first, last, time_ns);
  if (after == first) return kNone32;
  auto row = static_cast<size_t>(after - steps.start_ns.begin()) - 1;
  return time_ns < steps.end_ns[row] ? steps.step[row] : kNone32;
}

int64_t Collector::BytesOf(size_t told_row, std::string_view op) const {
  int64_t in = told_.in_elements[told_row];
  int64_t out = told_.out_elements[told_row];
  int64_t elements = IsGathering(op) ? std::max(in, out) : in > 0 ? in : out;
  int64_t width = WidthOf(view_.model.pools.Text(told_.dtype[told_row]));
  if (elements < 0 || elements > kTooMany || width == 0) return kNone64;
  return elements * width;
}

// As the event tells, or the list of groups at the head of the file.
ListId Collector::MembersOf(size_t told_row) const {
  if (!view_.model.pools.lists.Get(told_.members[told_row]).empty()) return told_.members[told_row];
  const auto& groups = view_.model.tables.Get<TimelineGroupTable>();
  timeline::RowRange rows = timeline::RowsOf(groups, view_.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (groups.name[row] == told_.group_name[told_row]) return groups.members[row];
  }
  return ListId::kNone;
}

void Collector::Describe(size_t told_row, ProfileCollectiveRow& row, Part& part) const {
  std::string_view op = PlainOp(view_.model.pools.Text(told_.op[told_row]));
  if (!op.empty()) row.op = part.pools.Intern(op);
  row.group_name = Copy(told_.group_name[told_row], part);
  row.group_desc = Copy(told_.group_desc[told_row], part);
  std::span<const int64_t> members = view_.model.pools.lists.Get(MembersOf(told_row));
  if (!members.empty()) row.members = part.pools.lists.Intern(members);
  row.group_size = told_.group_size[told_row];
  if (!members.empty()) row.group_size = static_cast<int32_t>(members.size());
  row.dtype = Copy(told_.dtype[told_row], part);
  row.bytes = BytesOf(told_row, op);
  row.peer = told_.peer[told_row];
  row.seq = told_.seq[told_row];
}

// One kernel for several ops: their bytes together; of sends and receives, which go both ways at
// once, the larger sum.
void Collector::DescribeCoalesced(const Issuers& issuers, const std::vector<size_t>& ops,
                                  ProfileCollectiveRow& row, Part& part) const {
  std::map<std::string_view, int64_t> bytes;  // by op
  for (size_t op : ops) {
    const Issuer& issuer = issuers.all()[op];
    Describe(issuer.row, row, part);
    int64_t& sum = bytes[part.pools.Text(row.op)];
    sum = sum == kNone64 || row.bytes == kNone64 ? kNone64 : sum + row.bytes;
  }
  row.parts = static_cast<int32_t>(ops.size());
  row.bytes = 0;
  for (const auto& [op, sum] : bytes)
    row.bytes = sum == kNone64 || row.bytes == kNone64 ? kNone64 : std::max(row.bytes, sum);
  if (bytes.size() > 1) row.op = part.pools.Intern("send_recv");
}

void Collector::AddKernels(std::vector<ProfileCollectiveRow>& rows, Part& part) {
  Issuers issuers(view_, kernels_);
  std::vector<std::vector<size_t>> issued;
  for (int32_t kernel : kernels_) issued.push_back(issuers.Direct(kernel));
  for (size_t i = 0; i < kernels_.size(); ++i) {
    ProfileCollectiveRow row = NewRow(kernels_[i], part);
    row.on_device = true;
    std::optional<size_t> own = view_.CollectiveRow(kernels_[i]);
    if (!own && issued[i].empty()) issued[i] = issuers.Coalesced(kernels_[i]);
    if (!issued[i].empty()) row.host_slice = issuers.all()[issued[i].front()].slice;
    if (own) {
      Describe(*own, row, part);
    } else if (!issued[i].empty()) {
      DescribeCoalesced(issuers, issued[i], row, part);
    }
    rows.push_back(row);
  }
}

void Collector::AddStamped(std::vector<ProfileCollectiveRow>& rows, Part& part) const {
  for (const StampedCollective& each : StampedCollectivesOf(view_)) {
    ProfileCollectiveRow row = NewRow(each.first_slice, part);
    row.on_device = true;
    row.rank = each.rank;
    row.start_ns = each.start_ns;
    row.duration_ns = each.end_ns - each.start_ns;
    row.parts = each.parts;
    row.bytes = each.bytes;
    row.group_name = Copy(each.name, part);
    std::string_view op = PlainOp(view_.model.pools.Text(each.name));
    if (!op.empty()) row.op = part.pools.Intern(op);
    rows.push_back(row);
  }
}

void Collector::AddOps(std::vector<ProfileCollectiveRow>& rows, Part& part) {
  Issuers issuers(view_, {});
  for (const Issuer& issuer : issuers.all()) {
    ProfileCollectiveRow row = NewRow(issuer.slice, part);
    row.host_slice = issuer.slice;
    Describe(issuer.row, row, part);
    rows.push_back(row);
  }
}

// Recorded without metadata: the dispatcher's ops still have their names.
void Collector::AddNamedOps(std::vector<ProfileCollectiveRow>& rows, Part& part) const {
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    if (view_.kind[TimelineView::At(slice)] != view_.kinds.op) continue;
    std::string_view name = view_.NameOf(slice);
    if (!name.starts_with("c10d::") || PlainOp(name).empty()) continue;
    ProfileCollectiveRow row = NewRow(slice, part);
    row.host_slice = slice;
    rows.push_back(row);
  }
}

// In order of time; positions count in each group.
void Collector::Number(std::vector<ProfileCollectiveRow>& rows) const {
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start_ns, a.slice) < std::tie(b.start_ns, b.slice);
  });
  std::map<std::tuple<StringId, ListId, int32_t>, int64_t> next;
  for (ProfileCollectiveRow& row : rows)
    row.position = next[{row.group_name, row.members, row.rank}]++;
}

std::vector<ProfileCollectiveRow> Collector::Collect(Part& part) {
  std::vector<ProfileCollectiveRow> rows;
  AddStamped(rows, part);
  if (!kernels_.empty()) {
    AddKernels(rows, part);
  } else if (rows.empty()) {
    AddOps(rows, part);
    if (rows.empty()) AddNamedOps(rows, part);
  }
  Number(rows);
  return rows;
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  auto& table = result.part.tables.Edit<ProfileCollectiveTable>();
  for (const TimelineView& view : timeline::Timelines(model)) {
    for (ProfileCollectiveRow& row : Collector(view, classes).Collect(result.part)) {
      row.collective = static_cast<int64_t>(table.size());
      table.Add(row);
    }
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_collectives",
               .sentence = "What communicated, when, with whom and how much?",
               .example = "all_reduce of mesh_dp [4, 6], 524288 bytes, 1.2 ms on rank 4 in step 3",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_collectives
