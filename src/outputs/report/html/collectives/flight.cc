// Writes the grids and the oldest open op of each rank.
//
//   {"texts": ["all_reduce", "[[4, 4]] Float", "train.py:52 step"],
//    "groups": [{"job": 0, "attempt": 0, "name": "7", "desc": "mesh_dp", "role": "dp",
//                "p2p": false, "members": [[5, 2, 2]], "total": 400, "trouble": 1,
//                "seq": [15, 16], "op": [0, 0], "sizes": [1, 1], "line": [2, 2],
//                "status": ["completed", "waiting"], "cells": ["cm", "ct"],
//                "differs": [[column, row, op, sizes, line]]}],
//    "left_out": 0, "incomplete": [...], "incomplete_left_out": 0}
//
// Lists of ranks are runs [first, step, count]: the groups of a mesh are one run each. Texts that
// repeat are numbers into `texts`; -1 is none. web/src/flight/data.ts reads it.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "base/json/writer.h"
#include "outputs/pending_ops.h"
#include "outputs/report/html/collectives/collectives.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/first_incomplete.h"
#include "tables/profile_collective_match.h"
#include "torch/collective_names.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kFlightTextBytes = 400'000;  // all of them
constexpr size_t kMostIncomplete = 2000;
constexpr size_t kMostWaitRuns = 12;  // of the ranks that one waits for

class FlightWriter : TextIsland {
 public:
  explicit FlightWriter(const Model& model)
      : TextIsland(model, kFlightTextBytes),
        matches_(model.tables.Get<CommMatchTable>()),
        ops_(model.tables.Get<CommOpTable>()) {}

  std::string Write(const Grids& grids) {
    json_.Objects("groups", grids.grids, [&](const Grid& grid) { WriteGrid(grid); });
    json_.Field("left_out", grids.left_out);
    WriteIncomplete();
    return Finish();
  }

 private:
  void WriteGrid(const Grid& grid) {
    const size_t match = grid.match;
    json_.Field("job", matches_.job[match]).Field("attempt", matches_.attempt[match]);
    json_.Field("name", Cut(matches_.group_name[match]));
    json_.Field("desc", Cut(matches_.group_desc[match])).Field("role", Cut(matches_.role[match]));
    json_.Field("p2p", grid.is_p2p).Field("total", grid.matches.size());
    json_.Field("trouble", grid.trouble);
    WriteRuns(json_, "members", grid.ranks, grid.ranks.size());
    WriteColumns(grid);
    json_.ListField("cells", grid.cells);
    json_.Array("differs", grid.differences, [&](const Difference& one) {
      json_.BeginArray().Value(one.column).Value(one.row).Value(OpName(ops_.op[one.op_row]));
      json_.Value(Sizes(one.op_row)).Value(Line(one.op_row)).EndArray();
    });
  }

  void WriteColumns(const Grid& grid) {
    std::vector<int64_t> seq, op, sizes, line, status;
    for (const Column& column : grid.columns) {
      const bool has_op = column.op_row != kNoRow;
      seq.push_back(matches_.seq[column.match]);
      op.push_back(OpName(has_op ? ops_.op[column.op_row] : matches_.op[column.match]));
      sizes.push_back(has_op ? Sizes(column.op_row) : -1);
      line.push_back(has_op ? Line(column.op_row) : -1);
      status.push_back(Text(matches_.status[column.match]));
    }
    json_.ListField("seq", seq).ListField("op", op).ListField("sizes", sizes);
    json_.ListField("line", line).ListField("status", status);
  }

  std::string_view Cut(StringId id) const { return CutText(model_.pools.Text(id), 200); }

  int64_t OpName(StringId op) {
    return texts_.Add(std::string(timeline::PublicOp(model_.pools.Text(op))));
  }

  // "[[4, 4]] Float", or "[[4, 4]] Float to [[8, 4]] Float" where output and input differ.
  int64_t Sizes(size_t op_row) {
    const auto part = [&](StringId sizes, StringId types) {
      return fmt::format("{} {}", Cut(sizes), Cut(types));
    };
    const std::string in = part(ops_.input_sizes[op_row], ops_.input_dtypes[op_row]);
    const std::string to = part(ops_.output_sizes[op_row], ops_.output_dtypes[op_row]);
    return texts_.Add(in == to || to == " " ? in : fmt::format("{} to {}", in, to));
  }

  // Where it was issued.
  int64_t Line(size_t op_row) {
    const auto frames = UserFrames(model_.pools, ops_.stack[op_row]);
    if (frames.empty()) return -1;
    const Frame& frame = model_.pools.GetFrame(frames.front());
    std::string_view file = model_.pools.Text(frame.file);
    if (file.size() > 100) file.remove_prefix(file.size() - 100);  // the end tells more
    return texts_.Add(fmt::format("{}:{} {}", file, frame.line, Cut(frame.function)));
  }

  void WriteIncomplete() {
    const auto& table = model_.tables.Get<FirstIncompleteTable>();
    const size_t shown = std::min(table.size(), kMostIncomplete);
    const AttemptEnds ends = FindAttemptEnds(model_);
    json_.Objects("incomplete", std::views::iota(size_t{0}, shown), [&](size_t i) {
      json_.Field("job", table.job[i]).Field("attempt", table.attempt[i]);
      json_.Field("rank", table.rank[i]).Field("name", Text(table.group_name[i]));
      json_.Field("desc", Text(table.group_desc[i])).Field("seq", table.seq[i]);
      json_.Field("op", OpName(table.op[i])).Field("state", Text(table.state[i]));
      const auto op_row = static_cast<size_t>(table.op_row[i]);
      json_.Field("age_ns", PendingAge(model_, ends, op_row, table.age_ns[i]));
      const auto waits = model_.pools.lists.Get(table.waits_for[i]);
      WriteRuns(json_, "waits_for", waits, kMostWaitRuns);
      json_.Field("waits", waits.size());
    });
    json_.Field("incomplete_left_out", table.size() - shown);
  }

  const CommMatchTable& matches_;
  const CommOpTable& ops_;
};

}  // namespace

std::string FlightJson(const Model& model, const Grids& grids) {
  return FlightWriter(model).Write(grids);
}

// Writes whole stacks, each once, and which stack each cell has.
//
//   {"texts": ["/home/u/train.py", "step"],
//    "frames": [[file, line, function, kind]],        kind 0: the reader's, 1: of a library, 2:
//    native "stacks": [[frame, ...]],                        innermost first "cut": 0, frames that
//    stacks lost to a bound "groups": [{"column": [stack, ...], "cells": [[column, row, stack],
//    ...], "left_out": 0}]}
//
// A group stands where it stands in island "flight". The ranks of a job run the same program, so a
// column has the stack that most of its cells have, and only the cells that have another are
// listed. -1 is none. Cost: one pass over the cells.

namespace {

constexpr size_t kStackTextBytes = 600'000;
constexpr size_t kMostDumpFrames = 20'000;  // different ones
constexpr size_t kMostStacks = 5'000;
constexpr size_t kDeepest = 200;             // frames of one stack
constexpr size_t kMostReferences = 150'000;  // frames of all stacks
constexpr size_t kMostOtherCells = 40'000;   // that differ from their column, of all groups

class StackWriter : TextIsland {
 public:
  explicit StackWriter(const Model& model)
      : TextIsland(model, kStackTextBytes),
        pools_(model.pools),
        ops_(model.tables.Get<CommOpTable>()) {}

  std::string Write(const std::vector<Grid>& grids) {
    json_.Objects("groups", grids, [&](const Grid& grid) { WriteGroup(grid); });
    WriteLists("frames", frames_);
    WriteLists("stacks", stacks_);
    json_.Field("cut", cut_);
    return Finish();
  }

 private:
  void WriteGroup(const Grid& grid) {
    std::vector<int64_t> columns;
    std::vector<StackId> usual;
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      usual.push_back(UsualStack(grid, column));
      columns.push_back(Number(usual.back()));
    }
    json_.ListField("column", columns).Key("cells").BeginArray();
    size_t left_out = 0;
    for (size_t row = 0; row < grid.ranks.size(); ++row) {
      for (size_t column = 0; column < grid.columns.size(); ++column)
        left_out += WriteCell(grid, row, column, usual[column]) ? 0 : 1;
    }
    json_.EndArray().Field("left_out", left_out);
  }

  // False when there is no more room.
  bool WriteCell(const Grid& grid, size_t row, size_t column, StackId usual) {
    const StackId stack = grid.stacks[grid.CellNumber(row, column)];
    if (stack == usual || stack == StackId::kNone) return true;
    if (cells_ == kMostOtherCells) return false;
    ++cells_;
    json_.BeginArray().Value(column).Value(row).Value(Number(stack)).EndArray();
    return true;
  }

  // That of most members; of several such the one of the op that the column shows.
  StackId UsualStack(const Grid& grid, size_t column) const {
    std::unordered_map<StackId, size_t> votes;
    const size_t op_row = grid.columns[column].op_row;
    StackId best = op_row == kNoRow ? StackId::kNone : ops_.stack[op_row];
    for (size_t row = 0; row < grid.ranks.size(); ++row) {
      const StackId stack = grid.stacks[grid.CellNumber(row, column)];
      if (stack != StackId::kNone) ++votes[stack];
    }
    for (size_t row = 0; row < grid.ranks.size(); ++row) {
      const StackId stack = grid.stacks[grid.CellNumber(row, column)];
      if (stack != StackId::kNone && (best == StackId::kNone || votes[stack] > votes[best]))
        best = stack;
    }
    return best;
  }

  int64_t Number(StackId stack) {
    if (stack == StackId::kNone) return -1;
    const auto [at, is_new] = stack_numbers_.try_emplace(stack, -1);
    if (is_new && stacks_.size() < kMostStacks) {
      at->second = static_cast<int64_t>(stacks_.size());
      stacks_.push_back(FramesOf(stack));
    }
    return at->second;
  }

  std::vector<int64_t> FramesOf(StackId stack) {
    const std::span<const FrameId> frames = pools_.GetStack(stack);
    const size_t kept = std::min({frames.size(), kDeepest, kMostReferences - references_});
    references_ += kept;
    cut_ += frames.size() - kept;
    std::vector<int64_t> numbers;
    for (FrameId frame : frames.first(kept)) numbers.push_back(FrameNumber(frame));
    return numbers;
  }

  int64_t FrameNumber(FrameId id) {
    const auto [at, is_new] = frame_numbers_.try_emplace(id, -1);
    if (is_new && frames_.size() < kMostDumpFrames) {
      at->second = static_cast<int64_t>(frames_.size());
      const Frame& frame = pools_.GetFrame(id);
      const std::string_view file = pools_.Text(frame.file);
      const int64_t kind = IsNativeFile(file) ? 2 : IsLibraryFile(file) ? 1 : 0;
      frames_.push_back({Text(frame.file), frame.line, Text(frame.function), kind});
    }
    return at->second;
  }

  void WriteLists(std::string_view key, const std::vector<std::vector<int64_t>>& lists) {
    json_.Array(key, lists, [&](const std::vector<int64_t>& list) { json_.List(list); });
  }

  const Pools& pools_;
  const CommOpTable& ops_;
  std::unordered_map<StackId, int64_t> stack_numbers_;
  std::unordered_map<FrameId, int64_t> frame_numbers_;
  std::vector<std::vector<int64_t>> stacks_;
  std::vector<std::vector<int64_t>> frames_;
  size_t references_ = 0;
  size_t cut_ = 0;
  size_t cells_ = 0;
};

}  // namespace

std::string StacksJson(const Model& model, const std::vector<Grid>& grids) {
  return StackWriter(model).Write(grids);
}

Status AddCollectiveIslands(const Model& model, Islands& islands) {
  const bool has_dumps = model.tables.Get<CommMatchTable>().size() > 0;
  if (has_dumps) {
    const Grids grids = MakeGrids(model);
    TRY(islands.Add("flight", FlightJson(model, grids)));
    TRY(islands.Add("flight_stacks", StacksJson(model, grids.grids)));
    TRY(islands.Add("waits", WaitsJson(model)));
  }
  if (!has_dumps && model.tables.Get<ProfileCollectiveMatchTable>().size() == 0) return {};
  return islands.Add("arrivals", ArrivalsJson(model));
}

}  // namespace debrief::outputs::html
