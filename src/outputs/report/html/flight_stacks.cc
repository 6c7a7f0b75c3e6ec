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
#include "outputs/report/html/flight_stacks.h"

#include <algorithm>
#include <unordered_map>

#include "base/json/writer.h"
#include "outputs/report/html/comm_json.h"
#include "tables/comm_op.h"
#include "torch/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kTextBytes = 600'000;
constexpr size_t kMostDumpFrames = 20'000;  // different ones
constexpr size_t kMostStacks = 5'000;
constexpr size_t kDeepest = 200;             // frames of one stack
constexpr size_t kMostReferences = 150'000;  // frames of all stacks
constexpr size_t kMostCells = 40'000;        // that differ from their column, of all groups

class StackWriter {
 public:
  explicit StackWriter(const Model& model)
      : pools_(model.pools), ops_(model.tables.Get<CommOpTable>()), json_(&out_) {}

  std::string Write(const std::vector<Grid>& grids) {
    json_.BeginObject().Key("groups").BeginArray();
    for (const Grid& grid : grids) WriteGroup(grid);
    json_.EndArray();
    WriteLists("frames", frames_);
    WriteLists("stacks", stacks_);
    json_.Field("cut", cut_);
    texts_.Write(json_);
    json_.EndObject();
    return std::move(out_);
  }

 private:
  void WriteGroup(const Grid& grid) {
    std::vector<int64_t> columns;
    std::vector<StackId> usual;
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      usual.push_back(UsualStack(grid, column));
      columns.push_back(Number(usual.back()));
    }
    json_.BeginObject().ListField("column", columns).Key("cells").BeginArray();
    size_t left_out = 0;
    for (size_t row = 0; row < grid.ranks.size(); ++row) {
      for (size_t column = 0; column < grid.columns.size(); ++column)
        left_out += WriteCell(grid, row, column, usual[column]) ? 0 : 1;
    }
    json_.EndArray().Field("left_out", left_out).EndObject();
  }

  // False when there is no more room.
  bool WriteCell(const Grid& grid, size_t row, size_t column, StackId usual) {
    const StackId stack = grid.stacks[grid.CellNumber(row, column)];
    if (stack == usual || stack == StackId::kNone) return true;
    if (cells_ == kMostCells) return false;
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
      frames_.push_back(
          {texts_.Add(file), frame.line, texts_.Add(pools_.Text(frame.function)), kind});
    }
    return at->second;
  }

  void WriteLists(std::string_view key, const std::vector<std::vector<int64_t>>& lists) {
    json_.Key(key).BeginArray();
    for (const std::vector<int64_t>& list : lists) {
      json_.BeginArray();
      for (int64_t value : list) json_.Value(value);
      json_.EndArray();
    }
    json_.EndArray();
  }

  const Pools& pools_;
  const CommOpTable& ops_;
  std::string out_;
  JsonWriter json_;
  Texts texts_{kTextBytes};
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

}  // namespace debrief::outputs::html
