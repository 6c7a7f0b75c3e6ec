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
#include "outputs/report/html/flight_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/writer.h"
#include "outputs/report/html/comm_json.h"
#include "outputs/report/html/flight_stacks.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/first_incomplete.h"
#include "torch/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kDumpTextBytes = 400'000;  // all of them
constexpr size_t kMostIncomplete = 2000;
constexpr size_t kMostDumpRuns = 12;  // of the ranks that one waits for

class FlightWriter {
 public:
  explicit FlightWriter(const Model& model)
      : model_(model),
        matches_(model.tables.Get<CommMatchTable>()),
        ops_(model.tables.Get<CommOpTable>()),
        json_(&out_) {}

  std::string Write(const Grids& grids) {
    json_.BeginObject().Key("groups").BeginArray();
    for (const Grid& grid : grids.grids) WriteGrid(grid);
    json_.EndArray().Field("left_out", grids.left_out);
    WriteIncomplete();
    texts_.Write(json_);
    json_.EndObject();
    return std::move(out_);
  }

 private:
  void WriteGrid(const Grid& grid) {
    json_.BeginObject()
        .Field("job", matches_.job[grid.match])
        .Field("attempt", matches_.attempt[grid.match])
        .Field("name", Cut(matches_.group_name[grid.match]))
        .Field("desc", Cut(matches_.group_desc[grid.match]))
        .Field("role", Cut(matches_.role[grid.match]))
        .Field("p2p", grid.is_p2p)
        .Field("total", grid.matches.size())
        .Field("trouble", grid.trouble);
    WriteRuns(json_, "members", grid.ranks, grid.ranks.size());
    WriteColumns(grid);
    json_.Key("cells").BeginArray();
    for (const std::string& row : grid.cells) json_.Value(std::string_view(row));
    json_.EndArray().Key("differs").BeginArray();
    for (const Difference& one : grid.differences) {
      json_.BeginArray().Value(one.column).Value(one.row).Value(Op(one.op_row));
      json_.Value(Sizes(one.op_row)).Value(Line(one.op_row)).EndArray();
    }
    json_.EndArray().EndObject();
  }

  void WriteColumns(const Grid& grid) {
    std::vector<int64_t> seq, op, sizes, line, status;
    for (const Column& column : grid.columns) {
      const bool has_op = column.op_row != kNoRow;
      seq.push_back(matches_.seq[column.match]);
      op.push_back(has_op ? Op(column.op_row)
                          : texts_.Add(model_.pools.Text(matches_.op[column.match])));
      sizes.push_back(has_op ? Sizes(column.op_row) : -1);
      line.push_back(has_op ? Line(column.op_row) : -1);
      status.push_back(texts_.Add(model_.pools.Text(matches_.status[column.match])));
    }
    json_.ListField("seq", seq).ListField("op", op).ListField("sizes", sizes);
    json_.ListField("line", line).ListField("status", status);
  }

  std::string_view Cut(StringId id) const { return CutText(model_.pools.Text(id), 200); }

  int64_t Op(size_t op_row) { return texts_.Add(model_.pools.Text(ops_.op[op_row])); }

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
    json_.Key("incomplete").BeginArray();
    for (size_t i = 0; i < shown; ++i) {
      json_.BeginObject()
          .Field("job", table.job[i])
          .Field("attempt", table.attempt[i])
          .Field("rank", table.rank[i])
          .Field("name", texts_.Add(model_.pools.Text(table.group_name[i])))
          .Field("desc", texts_.Add(model_.pools.Text(table.group_desc[i])))
          .Field("seq", table.seq[i])
          .Field("op", texts_.Add(model_.pools.Text(table.op[i])))
          .Field("state", texts_.Add(model_.pools.Text(table.state[i])))
          .Field("age_ns", table.age_ns[i]);
      const auto waits = model_.pools.lists.Get(table.waits_for[i]);
      WriteRuns(json_, "waits_for", waits, kMostDumpRuns);
      json_.Field("waits", waits.size()).EndObject();
    }
    json_.EndArray().Field("incomplete_left_out", table.size() - shown);
  }

  const Model& model_;
  const CommMatchTable& matches_;
  const CommOpTable& ops_;
  std::string out_;
  JsonWriter json_;
  Texts texts_{kDumpTextBytes};
};

}  // namespace

std::string FlightJson(const Model& model, const Grids& grids) {
  return FlightWriter(model).Write(grids);
}

Status AddFlight(const Model& model, Islands& islands) {
  if (model.tables.Get<CommMatchTable>().size() == 0) return {};
  const Grids grids = MakeGrids(model);
  TRY(islands.Add("flight", FlightJson(model, grids)));
  return islands.Add("flight_stacks", StacksJson(model, grids.grids));
}

}  // namespace debrief::outputs::html
