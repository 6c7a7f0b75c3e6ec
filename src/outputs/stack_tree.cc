#include "outputs/stack_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/speedscope_json.h"

namespace debrief::outputs {

namespace {

bool IsShown(const timeline::KindIds& kinds, StringId track_kind, Frames frames) {
  if (track_kind == kinds.thread) return true;
  return frames == Frames::kAll && track_kind == kinds.stream;
}

std::string NameOf(const Pools& pools, const TimelineTrackTable& tracks, size_t row,
                   const timeline::KindIds& kinds) {
  const std::string_view name = pools.Text(tracks.name[row]);
  if (!name.empty()) return CollapsedFrame(std::string(name));
  const std::string_view kind = tracks.kind[row] == kinds.stream ? "stream" : "thread";
  return CollapsedFrame(fmt::format("{} {}", kind, pools.Text(tracks.tid[row])));
}

}  // namespace

int32_t StackTree::Child(int32_t parent, StringId name) {
  const uint64_t key = (static_cast<uint64_t>(parent) << 32) | static_cast<uint32_t>(name);
  const auto [found, is_new] = children_.try_emplace(key, static_cast<int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, CollapsedFrame(std::string(pools_.Text(name)))});
  return found->second;
}

int32_t StackTree::Root(std::string_view rank_name, std::string name) {
  if (!rank_name.empty()) name = fmt::format("{};{}", rank_name, name);
  const auto [found, is_new] = roots_.try_emplace(name, static_cast<int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({-1, std::move(name)});
  return found->second;
}

void StackTree::Add(const timeline::TimelineView& view, std::string_view rank_name, Frames frames) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  for (size_t row = view.tracks.begin; row < view.tracks.end; ++row) {
    if (!IsShown(view.kinds, tracks.kind[row], frames)) continue;
    AddTrack(view, row, Root(rank_name, NameOf(pools_, tracks, row, view.kinds)), frames);
  }
}

// Enclosing slices stand before what they enclose, so that one pass is enough.
void StackTree::AddTrack(const timeline::TimelineView& view, size_t track_row, int32_t root,
                         Frames frames) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  const int32_t first = tracks.first_slice[track_row];
  const auto count = static_cast<size_t>(tracks.slices[track_row]);
  std::vector<int32_t> node_of(count);   // of the slice, or of the frame around it
  std::vector<int32_t> frame_of(count);  // that slice, counted from the first; -1: none
  std::vector<int64_t> self_of(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(first) + i;
    const int32_t parent = view.parent[at];
    const size_t outer = parent == kNone32 ? count : static_cast<size_t>(parent - first);
    const int32_t outer_node = outer == count ? root : node_of[outer];
    const int32_t outer_frame = outer == count ? -1 : frame_of[outer];
    const bool is_frame = frames != Frames::kPython || view.kind[at] == view.kinds.python;
    node_of[i] = is_frame ? Child(outer_node, view.name[at]) : outer_node;
    frame_of[i] = is_frame ? static_cast<int32_t>(i) : outer_frame;
    if (!is_frame) continue;
    const int64_t duration = std::max<int64_t>(view.duration[at], 0);
    self_of[i] += duration;
    if (outer_frame >= 0) self_of[static_cast<size_t>(outer_frame)] -= duration;
  }
  // Slices that overlap without nesting could leave less than nothing.
  for (size_t i = 0; i < count; ++i)
    nodes_[static_cast<size_t>(node_of[i])].self_ns += std::max<int64_t>(self_of[i], 0);
}

Status StackTree::Write(const std::function<Status(std::string_view)>& write) const {
  std::string line;
  std::vector<const Node*> path;
  for (const Node& node : nodes_) {
    if (node.self_ns <= 0) continue;
    path.clear();
    for (const Node* at = &node;; at = &nodes_[static_cast<size_t>(at->parent)]) {
      path.push_back(at);
      if (at->parent < 0) break;
    }
    line.clear();
    for (size_t i = path.size(); i-- > 0;) {
      line += path[i]->name;
      if (i > 0) line += ';';
    }
    line += fmt::format(" {}\n", node.self_ns);
    TRY(write(line));
  }
  return {};
}

}  // namespace debrief::outputs
