#include "inputs/recording/join_slices.h"

#include <algorithm>
#include <map>

#include "tables/recorded_op.h"
#include "tables/recorded_op_note.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"

namespace debrief::inputs::recording {

namespace {

// Row of the op that a slice is; none for marks.
int64_t OpOf(const TimelineSliceTable& slices, size_t slice) {
  const int64_t id = slices.external_id[slice];
  return id == kNone64 ? kNone64 : id - 1;
}

// Rows of recorded_op of each thread, in order of begin.
std::map<int64_t, std::vector<size_t>> OpsByThread(const RecordedOpTable& ops) {
  std::map<int64_t, std::vector<size_t>> threads;
  for (size_t row = 0; row < ops.size(); ++row) threads[ops.thread[row]].push_back(row);
  return threads;
}

}  // namespace

void JoinOpsToSlices(Part& whole) {
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  auto& ops = whole.tables.Edit<RecordedOpTable>();
  for (size_t i = 0; i < slices.size(); ++i) {
    const int64_t op = OpOf(slices, i);
    if (op == kNone64) continue;
    ops.slice[static_cast<size_t>(op)] = static_cast<int32_t>(i);
    if (slices.parent[i] == kNone32) continue;
    const int64_t outer = OpOf(slices, static_cast<size_t>(slices.parent[i]));
    if (outer == kNone64) continue;
    int64_t& self = ops.self_ns[static_cast<size_t>(outer)];
    self = std::max<int64_t>(self - slices.duration_ns[i], 0);
  }
}

void JoinNotesToSlices(Part& whole) {
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  const auto& ops = whole.tables.Get<RecordedOpTable>();
  auto& notes = whole.tables.Edit<RecordedOpNoteTable>();
  if (notes.size() == 0) return;
  const auto threads = OpsByThread(ops);
  std::map<int64_t, size_t> begun;  // ops of each thread that had begun
  for (size_t note = 0; note < notes.size(); ++note) {
    const auto own = threads.find(notes.thread[note]);
    if (own == threads.end()) continue;
    size_t& next = begun[notes.thread[note]];
    while (next < own->second.size() && ops.start_ns[own->second[next]] <= notes.time_ns[note])
      ++next;
    if (next == 0) continue;
    int32_t slice = ops.slice[own->second[next - 1]];
    const auto end_of = [&](int32_t number) {
      const auto at = static_cast<size_t>(number);
      return slices.start_ns[at] + slices.duration_ns[at];
    };
    while (slice != kNone32 && end_of(slice) < notes.time_ns[note])
      slice = slices.parent[static_cast<size_t>(slice)];
    notes.slice[note] = slice;
  }
}

}  // namespace debrief::inputs::recording
