#include "analyses/timeline/collectives/stamped.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "tables/accel_stamp.h"

namespace debrief::analyses::timeline_collectives {

namespace {

using timeline::TimelineView;

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

}  // namespace

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

std::vector<bool> StampedPartsOf(const TimelineView& view) {
  std::vector<bool> is_part(view.slices.size());
  for (const Piece& piece : PiecesOf(view)) is_part[TimelineView::At(piece.slice)] = true;
  return is_part;
}

}  // namespace debrief::analyses::timeline_collectives
