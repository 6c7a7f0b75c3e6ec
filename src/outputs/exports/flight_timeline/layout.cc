#include "outputs/exports/flight_timeline/layout.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tables/comm_op.h"

namespace debrief::outputs::flight_timeline {

namespace {

using ProcessKey = std::tuple<int32_t, int32_t, int32_t>;
using GroupKey = std::tuple<size_t, StringId, StringId, ListId>;

class LayoutMaker {
 public:
  explicit LayoutMaker(const Model& model) : ops_(model.tables.Get<CommOpTable>()) {}

  Layout Make() {
    layout_.boxes.reserve(ops_.size());
    for (size_t row = 0; row < ops_.size(); ++row) AddOp(row);
    for (Box& box : layout_.boxes) SetEnd(box);
    std::sort(layout_.boxes.begin(), layout_.boxes.end(), [](const Box& a, const Box& b) {
      return std::tie(a.group, a.start_ns, a.op_row) < std::tie(b.group, b.start_ns, b.op_row);
    });
    for (size_t i = 0; i < layout_.boxes.size();) i = AssignLanes(i);
    return std::move(layout_);
  }

 private:
  void AddOp(size_t row) {
    const size_t process = FindProcess(row);
    int64_t& newest = layout_.processes[process].newest_ns;
    newest = std::max({newest, ops_.created_ns[row], ops_.started_ns[row], ops_.completed_ns[row]});
    const int64_t created = ops_.created_ns[row];
    if (created == kNone64) {
      ++layout_.untimed;
      return;
    }
    if (layout_.boxes.empty() || created < layout_.base_ns) layout_.base_ns = created;
    layout_.boxes.push_back({.op_row = row, .group = FindGroup(process, row), .start_ns = created});
  }

  // Rows of one dump follow each other, so the process is mostly that of the row before.
  size_t FindProcess(size_t row) {
    const ProcessKey key = {ops_.job[row], ops_.attempt[row], ops_.rank[row]};
    if (!layout_.processes.empty() && key == last_key_) return last_process_;
    auto [at, is_new] = processes_.try_emplace(key, layout_.processes.size());
    if (is_new) {
      layout_.processes.push_back(
          {.job = ops_.job[row], .attempt = ops_.attempt[row], .rank = ops_.rank[row]});
      groups_of_.push_back(0);
    }
    last_key_ = key;
    return last_process_ = at->second;
  }

  size_t FindGroup(size_t process, size_t row) {
    const GroupKey key = {process, ops_.group_name[row], ops_.group_desc[row], ops_.members[row]};
    auto [at, is_new] = groups_.try_emplace(key, layout_.groups.size());
    if (is_new) {
      layout_.groups.push_back(
          {.process = process, .op_row = row, .number = groups_of_[process]++});
    }
    return at->second;
  }

  void SetEnd(Box& box) const {
    const Process& process = layout_.processes[layout_.groups[box.group].process];
    const int64_t completed = ops_.completed_ns[box.op_row];
    box.end_ns = std::max(box.start_ns, completed == kNone64 ? process.newest_ns : completed);
  }

  // All boxes of the group that begins at `first`; returns where the next group begins.
  size_t AssignLanes(size_t first) {
    std::array<int64_t, kMostLanes> free_from{};  // of the first group.lanes
    Group& group = layout_.groups[layout_.boxes[first].group];
    size_t i = first;
    for (; i < layout_.boxes.size() && layout_.boxes[i].group == layout_.boxes[first].group; ++i) {
      Box& box = layout_.boxes[i];
      const auto begin = free_from.begin();
      const auto end = begin + group.lanes;
      auto lane = std::find_if(begin, end, [&](int64_t from) { return from <= box.start_ns; });
      if (lane == end && group.lanes < kMostLanes) {
        ++group.lanes;
      } else if (lane == end) {
        lane = std::min_element(begin, end);
        box.start_ns = *lane;
        box.end_ns = std::max(box.start_ns, box.end_ns);
      }
      box.lane = static_cast<int32_t>(lane - begin);
      *lane = box.end_ns;
    }
    return i;
  }

  const CommOpTable& ops_;
  Layout layout_;
  std::map<ProcessKey, size_t> processes_;
  std::map<GroupKey, size_t> groups_;
  std::vector<int32_t> groups_of_;  // by process
  ProcessKey last_key_;
  size_t last_process_ = 0;
};

}  // namespace

Layout MakeLayout(const Model& model) { return LayoutMaker(model).Make(); }

}  // namespace debrief::outputs::flight_timeline
