// What logs and dumps put on the timeline, a process an input:
//
//   compile logs   phases of the compiler (table compile_phase), one lane; those of other threads
//                  stand below the ones they overlap
//   dumps          ops of the Flight Recorder (comm_op), a lane a group, from issued to completed;
//                  what never completed lasts to the timeout, or to the end of the record
//   output         what the text of a rank says at a known time (text_event, progress), a lane of
//                  moments
//
// Cost: one pass over the rows and a sort of each lane.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "outputs/report/html/timeline/maker.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/compile_phase.h"
#include "tables/progress.h"
#include "tables/text_event.h"
#include "tables/timeline_clock.h"
#include "torch/collective_names.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

struct ProcessWords {
  std::string_view source, what;
  ProcessPlace place;
};

// The process of the input that these rows are of; returns the time that is 0 in it.
template <typename Table>
int64_t AddProcessOf(const Table& table, const std::vector<int64_t>& times,
                     std::span<const uint32_t> rows, const ProcessWords& words,
                     TimelineMaker& maker) {
  const Identity who = Identity::Of(table, rows.front());
  TimelineProcess& process =
      maker.AddProcess(who, std::to_string(who.input), std::string(words.what));
  process.source = words.source;
  process.place = words.place;
  process.shift = ShiftOfRank(maker.context.model, who);
  int64_t earliest = times[rows.front()];
  for (uint32_t row : rows) earliest = std::min(earliest, times[row]);
  return maker.SetZero(earliest);
}

// ---- compilers

// What is compiled, by the compile ids of one input.
class Compilations {
 public:
  Compilations(const TimelineContext& context, int32_t input)
      : pools_(context.model.pools), table_(context.model.tables.Get<CompilationTable>()) {
    const auto rows = context.compilations.find(input);
    if (rows == context.compilations.end()) return;
    for (uint32_t row : rows->second)
      row_of_[{table_.life[row], pools_.Text(table_.compile_id[row])}] = row;
  }

  // "0/1, train_step at train.py:52"; an id may have an attempt, 0/1_2.
  std::string Words(int32_t life, std::string_view id) const {
    std::string text(CutText(id));
    const auto at = row_of_.find({life, id.substr(0, id.find('_'))});
    if (at == row_of_.end()) return text;
    const std::string_view function = CutText(pools_.Text(table_.function[at->second]));
    const std::string_view file = CutText(pools_.Text(table_.file[at->second]));
    if (!function.empty()) AddWords(text, "{}", function);
    if (!file.empty()) text += fmt::format(" at {}:{}", file, table_.line[at->second]);
    return text;
  }

 private:
  const Pools& pools_;
  const CompilationTable& table_;
  std::map<std::pair<int32_t, std::string_view>, size_t> row_of_;
};

// ---- collectives

class CollectiveLanes {
 public:
  CollectiveLanes(std::span<const uint32_t> rows, int64_t zero, TimelineMaker& maker)
      : rows_(rows),
        zero_(zero),
        maker_(maker),
        pools_(maker.context.model.pools),
        ops_(maker.context.model.tables.Get<CommOpTable>()) {}

  void Add() {
    using Group = std::tuple<StringId, StringId, ListId>;
    std::map<Group, std::vector<uint32_t>> groups;
    auto group_of_last = groups.end();
    for (uint32_t row : rows_) {
      const Group group = {ops_.group_name[row], ops_.group_desc[row], ops_.members[row]};
      if (group_of_last == groups.end() || group_of_last->first != group)
        group_of_last = groups.try_emplace(group).first;
      group_of_last->second.push_back(row);
    }
    size_t lane = 0;
    for (const auto& [group, rows] : groups) {
      maker_.slices.clear();
      for (uint32_t row : rows) {
        AddOp(row);
        if (pools_.Text(ops_.op[row]).ends_with("coalesced")) EndBatch(row);
      }
      maker_.AddUnsortedLane(fmt::format("group{}", lane++), GroupName(rows.front()),
                             "collectives");
    }
  }

 private:
  void AddOp(uint32_t row) {
    Slice slice;
    const int64_t created = ops_.created_ns[row];
    const bool is_open = ops_.completed_ns[row] == kNone64;
    const int64_t end =
        std::max(is_open ? PendingEnd(maker_.context.model, maker_.context.ends, row)
                         : ops_.completed_ns[row],
                 created);
    if (!SetTimes(zero_, created, end - created, slice)) return;
    const std::string_view op = pools_.Text(ops_.op[row]);
    slice.name = op.starts_with('_') ? maker_.texts.Number(timeline::PublicOp(op))
                                     : maker_.texts.Number(ops_.op[row]);
    slice.kind = is_open && !IsCompleted(row) ? SliceKind::kCommOpen : SliceKind::kComm;
    slice.note = NoteNumber(row, slice.kind, end - created);
    slice.number = row - rows_.front();
    maker_.slices.push_back(slice);
  }

  // Ops that were issued as one (coalesced) stay scheduled for ever: the marker at their end, which
  // has their sequence numbers, tells how they ended.
  void EndBatch(uint32_t marker) {
    const auto seqs = [&](uint32_t row) {
      return std::pair(ops_.collective_seq[row], ops_.p2p_seq[row]);
    };
    if (maker_.slices.empty() || maker_.slices.back().number != marker - rows_.front()) return;
    const Slice end = maker_.slices.back();
    for (size_t i = maker_.slices.size() - 1; i-- > 0;) {
      Slice& slice = maker_.slices[i];
      const uint32_t row = slice.number + rows_.front();
      if (seqs(row) != seqs(marker)) return;
      if (ops_.completed_ns[row] != kNone64) continue;
      slice.duration = std::max(end.end() - slice.start, int64_t{0});
      slice.kind = end.kind;
    }
  }

  bool IsCompleted(uint32_t row) const { return pools_.Text(ops_.state[row]) == "completed"; }

  // Of what has no time of its own in its note, the note is made once.
  uint32_t NoteNumber(uint32_t row, SliceKind kind, int64_t age) {
    if (kind == SliceKind::kCommOpen || ops_.duration_ns[row] >= 0)
      return maker_.texts.Number(Note(row, kind, age));
    const OpNotes::Key key = {static_cast<uint32_t>(SeqOf(row)),
                              static_cast<uint32_t>(ops_.input_sizes[row]),
                              static_cast<uint32_t>(ops_.input_dtypes[row]),
                              static_cast<uint32_t>(ops_.output_sizes[row]),
                              static_cast<uint32_t>(ops_.output_dtypes[row]),
                              static_cast<uint32_t>(ops_.state[row]),
                              static_cast<uint32_t>(ops_.stack[row])};
    return maker_.op_notes.Number(key, maker_.texts, [&] { return Note(row, kind, age); });
  }

  int32_t SeqOf(uint32_t row) const {
    return ops_.is_p2p[row] != 0 ? ops_.p2p_seq[row] : ops_.collective_seq[row];
  }

  // "seq 16, [[4, 4]] Float to [[8, 4]] Float, started, train.py:52 step".
  std::string_view Note(uint32_t row, SliceKind kind, int64_t age) {
    text_.clear();
    if (SeqOf(row) != kNone32) AddWords(text_, "seq {}", SeqOf(row));
    const std::string in = Sizes(ops_.input_sizes[row], ops_.input_dtypes[row]);
    const std::string out = Sizes(ops_.output_sizes[row], ops_.output_dtypes[row]);
    if (!in.empty()) AddWords(text_, "{}", in);
    if (!out.empty() && out != in) text_ += " to " + out;
    AddWords(text_, "{}", CutText(pools_.Text(ops_.state[row])));
    if (kind == SliceKind::kCommOpen) AddWords(text_, "not completed after {}", DurationText(age));
    if (ops_.duration_ns[row] >= 0) AddWords(text_, "ran {}", DurationText(ops_.duration_ns[row]));
    if (ops_.stack[row] == StackId::kNone) return text_;
    const std::string& place = PlaceOf(ops_.stack[row]);
    if (!place.empty()) AddWords(text_, "{}", place);
    return text_;
  }

  const std::string& PlaceOf(StackId stack) {
    auto [known, is_new] = maker_.places.try_emplace(stack);
    const auto frames = is_new ? UserFrames(pools_, stack) : std::span<const FrameId>();
    if (frames.empty()) return known->second;
    const Frame& frame = pools_.GetFrame(frames.front());
    known->second = fmt::format("{}:{} {}", CutText(pools_.Text(frame.file)), frame.line,
                                CutText(pools_.Text(frame.function)));
    return known->second;
  }

  std::string Sizes(StringId sizes, StringId types) const {
    if (sizes == StringId::kNone) return "";
    return fmt::format("{} {}", CutText(pools_.Text(sizes)).substr(0, 60),
                       CutText(pools_.Text(types)).substr(0, 30));
  }

  // "mesh_dp (7), ranks 5 and 7".
  std::string GroupName(uint32_t row) const {
    const std::string_view desc = CutText(pools_.Text(ops_.group_desc[row]));
    const std::string_view name = CutText(pools_.Text(ops_.group_name[row]));
    std::string text =
        desc.empty() ? fmt::format("group {}", name) : fmt::format("{} ({})", desc, name);
    if (ops_.members[row] == ListId::kNone) return text;
    std::vector<int32_t> ranks;
    for (int64_t rank : pools_.lists.Get(ops_.members[row]))
      ranks.push_back(static_cast<int32_t>(rank));
    return fmt::format("{}, {}", text, RanksInWords(ranks));
  }

  std::span<const uint32_t> rows_;
  int64_t zero_;
  TimelineMaker& maker_;
  const Pools& pools_;
  const CommOpTable& ops_;
  std::string text_;
};

}  // namespace

TimelineShift ShiftOfRank(const Model& model, const Identity& who) {
  TimelineShift shift;
  const auto& clocks = model.tables.Get<TimelineClockTable>();
  for (size_t row = 0; row < clocks.size() && who.rank != kNone32; ++row) {
    const Identity of = Identity::Of(clocks, row);
    if (of.job != who.job || of.attempt != who.attempt || of.rank != who.rank) continue;
    if (clocks.offset_ns[row] != kNone64) shift.offset = clocks.offset_ns[row];
    break;
  }
  return shift;
}

void AddCompilePhases(std::span<const uint32_t> rows, TimelineMaker& maker) {
  const auto& phases = maker.context.model.tables.Get<CompilePhaseTable>();
  const Pools& pools = maker.context.model.pools;
  const Compilations compilations(maker.context, phases.input[rows.front()]);
  const int64_t zero = AddProcessOf(phases, phases.start_ns, rows,
                                    {"compile", "compiler", ProcessPlace::kCompiler}, maker);
  maker.slices.clear();
  for (uint32_t row : rows) {
    Slice slice;
    const int64_t start = phases.start_ns[row];
    const int64_t end = std::max(phases.end_ns[row], start);
    if (!SetTimes(zero, start, end - start, slice)) continue;
    slice.name = maker.texts.Number(phases.name[row]);
    slice.note = maker.texts.Number(
        compilations.Words(phases.life[row], pools.Text(phases.compile_id[row])));
    slice.number = row - rows.front();
    slice.depth = phases.depth[row];
    slice.kind = SliceKindOf(pools.Text(phases.area[row]));
    if (slice.kind == SliceKind::kOther) slice.kind = SliceKind::kCompile;
    maker.slices.push_back(slice);
  }
  maker.AddUnsortedLane("phases", "phases", "compile");
}

void AddCollectives(std::span<const uint32_t> rows, TimelineMaker& maker) {
  const auto& ops = maker.context.model.tables.Get<CommOpTable>();
  const int64_t zero = AddProcessOf(ops, ops.created_ns, rows,
                                    {"flight", "collectives", ProcessPlace::kCollectives}, maker);
  CollectiveLanes(rows, zero, maker).Add();
}

namespace {

// "watchdog timeout": kinds are words with underscores.
std::string PlainWords(std::string_view kind) {
  std::string words(kind);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

void AddSteps(std::span<const uint32_t> rows, int64_t zero, TimelineMaker& maker) {
  const auto& progress = maker.context.model.tables.Get<ProgressTable>();
  for (uint32_t row : rows) {
    Slice slice;
    if (!SetTimes(zero, progress.time_ns[row], 0, slice)) continue;
    if (maker.slices.size() == maker.context.limits.moments_of_output) break;
    std::string text;
    if (progress.step[row] != kNone64) AddWords(text, "step {}", progress.step[row]);
    if (std::isfinite(progress.loss[row])) AddWords(text, "loss {:.6g}", progress.loss[row]);
    slice.name = maker.texts.Number(std::string_view("step printed"));
    slice.note = maker.texts.Number(std::string_view(text));
    slice.number = UINT32_MAX - (row - rows.front());  // apart from those of text_event
    slice.kind = SliceKind::kOutput;
    maker.slices.push_back(slice);
  }
}

}  // namespace

void AddOutputLines(std::span<const uint32_t> rows, TimelineMaker& maker) {
  const auto& events = maker.context.model.tables.Get<TextEventTable>();
  const int64_t zero =
      AddProcessOf(events, events.time_ns, rows, {"text", "output", ProcessPlace::kOutput}, maker);
  const Pools& pools = maker.context.model.pools;
  maker.slices.clear();
  for (uint32_t row : rows) {
    Slice slice;
    if (!SetTimes(zero, events.time_ns[row], 0, slice)) continue;
    if (maker.slices.size() == maker.context.limits.moments_of_output) break;
    slice.name = maker.texts.Number(std::string_view(PlainWords(pools.Text(events.kind[row]))));
    slice.note = maker.texts.Number(events.text[row]);
    slice.number = row - rows.front();
    slice.kind = SliceKind::kOutput;
    maker.slices.push_back(slice);
  }
  const auto steps = maker.context.progress.find(events.input[rows.front()]);
  if (steps != maker.context.progress.end()) AddSteps(steps->second, zero, maker);
  maker.AddUnsortedLane("output", "output", "text");
}

void AddStepLines(std::span<const uint32_t> rows, TimelineMaker& maker) {
  const auto& progress = maker.context.model.tables.Get<ProgressTable>();
  const int64_t zero = AddProcessOf(progress, progress.time_ns, rows,
                                    {"text", "output", ProcessPlace::kOutput}, maker);
  maker.slices.clear();
  AddSteps(rows, zero, maker);
  maker.AddUnsortedLane("output", "output", "text");
}

}  // namespace debrief::outputs::html
