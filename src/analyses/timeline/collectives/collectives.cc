// What communicated, when, with whom and how much?
//
// A kernel that communicates is known by its name or by its metadata; what it moved stands beside
// it or beside the op that issued it. A device that shows every transfer of a collective has one
// row for all of them. A timeline without such kernels (gloo, a CPU)
// has the ops themselves.
//
// Cost: one pass over the slices; everything else is linear in what communicates, but for sorting.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyses/analysis.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/accel_stamp.h"
#include "tables/profile_collective.h"
#include "tables/timeline.h"
#include "tables/timeline_group.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"
#include "torch/collective_names.h"
#include "torch/dtype.h"

namespace debrief::analyses::timeline_collectives {

namespace {

using timeline::IsBookkeeping;
using timeline::IsGathering;
using timeline::PlainOp;
using timeline::TimelineView;

// Which op of the host issued a communication kernel.
//
//   kernel --External id--------------------> record_param_comms
//   kernel --correlation--> launch --inside--> record_param_comms
//   kernel --correlation--> launch  after   -> record_param_comms, record_param_comms   (coalesced)
//
// The last is what batched sends and receives look like: the ops are recorded first, and one launch
// behind them starts a kernel for all.
//
// Cost: one pass over the slices of a timeline, and a hash of its communication kernels.

// An op on the host that carries what a collective moves.
struct Issuer {
  int32_t slice = kNone32;
  size_t row = 0;  // of timeline_collective
  bool taken = false;
};

class Issuers {
 public:
  // `kernels`: slices that communicate.
  Issuers(const TimelineView& view, const std::vector<int32_t>& kernels) : view_(view) {
    const auto& told = view.model.tables.Get<TimelineCollectiveTable>();
    for (size_t row = view.collectives.begin; row < view.collectives.end; ++row) {
      int32_t slice = told.slice[row];
      if (view.kinds.IsWork(view.kind[TimelineView::At(slice)])) continue;
      if (IsBookkeeping(view.model.pools.Text(told.op[row]))) continue;
      int64_t id = view.external_id[TimelineView::At(slice)];
      if (id != kNone64) by_external_id_.emplace(id, issuers_.size());
      issuers_.push_back({slice, row});
    }
    FindLaunches(kernels);
  }

  const std::vector<Issuer>& all() const { return issuers_; }

  // Positions in all() of the ops that issued `kernel`; several when they were coalesced. Kernels
  // of one stream have to be asked for in their order; those that name an op before all others.
  std::vector<size_t> Direct(int32_t kernel) {
    size_t issuer = kNoIssuer;
    size_t at = TimelineView::At(kernel);
    auto named = by_external_id_.find(view_.external_id[at]);
    if (named != by_external_id_.end()) issuer = named->second;
    auto launch = launch_of_.find(view_.correlation[at]);
    if (issuer == kNoIssuer && launch != launch_of_.end() && launch->second != kNone32)
      issuer = Around(launch->second);
    if (issuer == kNoIssuer) return {};
    issuers_[issuer].taken = true;
    return {issuer};
  }

  std::vector<size_t> Coalesced(int32_t kernel) {
    auto launch = launch_of_.find(view_.correlation[TimelineView::At(kernel)]);
    if (launch == launch_of_.end() || launch->second == kNone32) return {};
    int32_t track = view_.track[TimelineView::At(launch->second)];
    auto behind = std::partition_point(issuers_.begin(), issuers_.end(), [&](const Issuer& each) {
      return each.slice < launch->second;
    });
    std::vector<size_t> found;
    for (auto at = behind; at != issuers_.begin();) {
      --at;
      if (at->taken || view_.track[TimelineView::At(at->slice)] != track) break;
      at->taken = true;
      found.push_back(static_cast<size_t>(at - issuers_.begin()));
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  void FindLaunches(const std::vector<int32_t>& kernels) {
    for (int32_t kernel : kernels) {
      int64_t correlation = view_.correlation[TimelineView::At(kernel)];
      if (correlation != kNone64) launch_of_.emplace(correlation, kNone32);
    }
    if (launch_of_.empty()) return;
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      size_t at = TimelineView::At(slice);
      if (view_.kind[at] != view_.kinds.runtime || view_.correlation[at] == kNone64) continue;
      auto found = launch_of_.find(view_.correlation[at]);
      if (found != launch_of_.end()) found->second = slice;
    }
  }

  size_t Around(int32_t slice) const {
    for (int32_t outer = view_.parent[TimelineView::At(slice)]; outer != kNone32;
         outer = view_.parent[TimelineView::At(outer)]) {
      auto found = std::partition_point(issuers_.begin(), issuers_.end(),
                                        [&](const Issuer& each) { return each.slice < outer; });
      if (found != issuers_.end() && found->slice == outer)
        return static_cast<size_t>(found - issuers_.begin());
    }
    return kNoIssuer;
  }

  // the issuer that encloses it, or kNoIssuer

  static constexpr size_t kNoIssuer = static_cast<size_t>(-1);
  const TimelineView& view_;
  std::vector<Issuer> issuers_;  // in order of slice
  std::unordered_map<int64_t, size_t> by_external_id_;
  std::unordered_map<int64_t, int32_t> launch_of_;  // by correlation
};

// Collectives of devices that show every transfer of one, as AIUs do.
//
//   AllReduce_all_reduce_4   [Receive s0] [Add_1] [Send s1] [Receive s3]      one collective
//
// Its events carry its name. Where a graph runs again, so does the collective, under the same name
// and with the same events: one that comes a second time begins the next. Cost: sorts the events.

struct StampedCollective {
  StringId name = StringId::kNone;
  int32_t rank = kNone32;
  int32_t first_slice = kNone32;
  int64_t start_ns = 0, end_ns = 0;
  int64_t bytes = kNone64;
  int32_t parts = 0;
};

struct Piece {
  StringId collective;
  int32_t rank;
  int64_t start_ns;
  int32_t slice;
  size_t row;  // of accel_stamp

  auto Order() const { return std::tuple(rank, collective, start_ns, slice); }
};

std::vector<Piece> PiecesOf(const TimelineView& view) {
  const auto& stamps = view.model.tables.Get<AccelStampTable>();
  timeline::RowRange rows = timeline::RowsOf(stamps, view.who.input);
  std::vector<Piece> pieces;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    size_t slice = TimelineView::At(stamps.slice[row]);
    if (stamps.coll_group[row] == StringId::kNone || view.kind[slice] != view.kinds.kernel)
      continue;
    pieces.push_back(
        {stamps.coll_group[row], stamps.rank[row], view.start[slice], stamps.slice[row], row});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.Order() < b.Order(); });
  return pieces;
}

// In order of time for each rank and name. What only waits to run is no part of one.
std::vector<StampedCollective> StampedCollectivesOf(const TimelineView& view) {
  const auto& stamps = view.model.tables.Get<AccelStampTable>();
  std::vector<StampedCollective> found;
  std::unordered_set<StringId> names;  // of events in the last one
  for (const Piece& piece : PiecesOf(view)) {
    bool goes_on = !found.empty() && found.back().name == piece.collective &&
                   found.back().rank == piece.rank &&
                   !names.contains(view.name[TimelineView::At(piece.slice)]);
    if (!goes_on) {
      names.clear();
      found.push_back({.name = piece.collective,
                       .rank = piece.rank,
                       .first_slice = piece.slice,
                       .start_ns = piece.start_ns,
                       .end_ns = piece.start_ns});
    }
    names.insert(view.name[TimelineView::At(piece.slice)]);
    StampedCollective& collective = found.back();
    collective.end_ns = std::max(collective.end_ns, view.end(piece.slice));
    collective.bytes = std::max(collective.bytes, stamps.bytes[piece.row]);
    ++collective.parts;
  }
  return found;
}

// Whether a slice is a part of such a collective, by slice.
std::vector<bool> StampedPartsOf(const TimelineView& view) {
  std::vector<bool> is_part(view.slices.size());
  for (const Piece& piece : PiecesOf(view)) is_part[TimelineView::At(piece.slice)] = true;
  return is_part;
}

constexpr int64_t kTooMany = int64_t{1} << 50;  // more elements than any memory has

// Rows of one timeline; text is the model's until they are written.
class Collector {
 public:
  Collector(const TimelineView& view, const timeline::DeviceClasses& classes)
      : view_(view), told_(view.model.tables.Get<TimelineCollectiveTable>()), steps_(view) {
    FindKernels(classes);
  }

  std::vector<ProfileCollectiveRow> Collect(Part& part) {
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

 private:
  void FindKernels(const timeline::DeviceClasses& classes) {
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

  ProfileCollectiveRow NewRow(int32_t slice, Part& part) const {
    auto row = view_.NewRow<ProfileCollectiveRow>();
    row.slice = slice;
    row.parts = 1;
    row.start_ns = view_.start[TimelineView::At(slice)];
    row.duration_ns = view_.duration[TimelineView::At(slice)];
    std::string_view op = PlainOp(view_.NameOf(slice));
    row.op = part.pools.Intern(op.empty() ? view_.NameOf(slice) : op);
    row.step = steps_.At(row.start_ns);
    return row;
  }

  void Describe(size_t told_row, ProfileCollectiveRow& row, Part& part) const {
    std::string_view op = PlainOp(view_.model.pools.Text(told_.op[told_row]));
    if (!op.empty()) row.op = part.pools.Intern(op);
    row.group_name = timeline::Copied(view_.model, told_.group_name[told_row], part);
    row.group_desc = timeline::Copied(view_.model, told_.group_desc[told_row], part);
    std::span<const int64_t> members = view_.model.pools.lists.Get(MembersOf(told_row));
    if (!members.empty()) row.members = part.pools.lists.Intern(members);
    row.group_size = told_.group_size[told_row];
    if (!members.empty()) row.group_size = static_cast<int32_t>(members.size());
    row.dtype = timeline::Copied(view_.model, told_.dtype[told_row], part);
    row.bytes = BytesOf(told_row, op);
    row.peer = told_.peer[told_row];
    row.seq = told_.seq[told_row];
  }

  // One kernel for several ops: their bytes together; of sends and receives, which go both ways at
  // once, the larger sum.
  void DescribeCoalesced(const Issuers& issuers, const std::vector<size_t>& ops,
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

  void AddKernels(std::vector<ProfileCollectiveRow>& rows, Part& part) {
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

  void AddStamped(std::vector<ProfileCollectiveRow>& rows, Part& part) const {
    for (const StampedCollective& each : StampedCollectivesOf(view_)) {
      ProfileCollectiveRow row = NewRow(each.first_slice, part);
      row.on_device = true;
      row.rank = each.rank;
      row.start_ns = each.start_ns;
      row.duration_ns = each.end_ns - each.start_ns;
      row.parts = each.parts;
      row.bytes = each.bytes;
      row.group_name = timeline::Copied(view_.model, each.name, part);
      std::string_view op = PlainOp(view_.model.pools.Text(each.name));
      if (!op.empty()) row.op = part.pools.Intern(op);
      rows.push_back(row);
    }
  }

  void AddOps(std::vector<ProfileCollectiveRow>& rows, Part& part) {
    Issuers issuers(view_, {});
    for (const Issuer& issuer : issuers.all()) {
      ProfileCollectiveRow row = NewRow(issuer.slice, part);
      row.host_slice = issuer.slice;
      Describe(issuer.row, row, part);
      rows.push_back(row);
    }
  }

  // Recorded without metadata: the dispatcher's ops still have their names.
  void AddNamedOps(std::vector<ProfileCollectiveRow>& rows, Part& part) const {
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
  void Number(std::vector<ProfileCollectiveRow>& rows) const {
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::tie(a.start_ns, a.slice) < std::tie(b.start_ns, b.slice);
    });
    std::map<std::tuple<StringId, ListId, int32_t>, int64_t> next;
    for (ProfileCollectiveRow& row : rows)
      row.position = next[{row.group_name, row.members, row.rank}]++;
  }

  int64_t BytesOf(size_t told_row, std::string_view op) const {
    int64_t in = told_.in_elements[told_row];
    int64_t out = told_.out_elements[told_row];
    int64_t elements = IsGathering(op) ? std::max(in, out) : in > 0 ? in : out;
    int64_t width = WidthOf(view_.model.pools.Text(told_.dtype[told_row]));
    if (elements < 0 || elements > kTooMany || width == 0) return kNone64;
    return elements * width;
  }

  // As the event tells, or the list of groups at the head of the file.
  ListId MembersOf(size_t told_row) const {
    if (!view_.model.pools.lists.Get(told_.members[told_row]).empty())
      return told_.members[told_row];
    const auto& groups = view_.model.tables.Get<TimelineGroupTable>();
    timeline::RowRange rows = timeline::RowsOf(groups, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (groups.name[row] == told_.group_name[told_row]) return groups.members[row];
    }
    return ListId::kNone;
  }

  const TimelineView& view_;
  const TimelineCollectiveTable& told_;
  timeline::StepFinder steps_;
  std::vector<int32_t> kernels_;
};

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
               .scope = AnalysisScope::kRank,
               .sentence = "What communicated, when, with whom and how much?",
               .example = "all_reduce of mesh_dp [4, 6], 524288 bytes, 1.2 ms on rank 4 in step 3",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileCollectiveTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineStepTable, TimelineGroupTable,
                                   AccelStampTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_collectives
