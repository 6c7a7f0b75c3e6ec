// From one node of an execution trace to one row.
//
//   {"id": 3, "name": "aten::view", "ctrl_deps": 2,
//    "inputs": {"values": [...], "shapes": [[4,256],[[],[]]], "types": [...], "strides": [...]},
//    "outputs": {...},
//    "attrs": [{"name": "rf_id", "type": "uint64", "value": 1}, ...]}
//
// Before schema 1.1 the attributes and "input_shapes", "output_types", ... stand in the node
// itself, and the enclosing node is "parent".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/cursor.h"
#include "model/model.h"
#include "tables/execution_node.h"

namespace debrief::inputs::execution_trace {

class NodeParser {
 public:
  // `text` is a batch of nodes that begins at `offset` of the input.
  NodeParser(const Identity& who, std::string_view text, uint64_t offset, Part& part)
      : who_(who),
        text_(text),
        offset_(offset),
        part_(part),
        rows_(part.tables.Edit<ExecutionNodeTable>()) {}

  // Nodes in order; Finish behind the last one.
  Status Add(JsonValue node);
  void Finish() { EndLast(text_.size()); }

 private:
  Status AddField(std::string_view key, JsonValue value, ExecutionNodeRow& row);
  Status AddTensors(JsonValue value, StringId& shapes, StringId& types);
  Status AddAttributes(JsonValue value, ExecutionNodeRow& row);
  static bool AddNumber(std::string_view key, std::optional<int64_t> number, ExecutionNodeRow& row);
  void AddText(std::string_view key, std::string_view text, ExecutionNodeRow& row);
  StringId Compact(JsonValue value);
  void EndLast(uint64_t next);

  Identity who_;
  std::string_view text_;
  uint64_t offset_;
  Part& part_;
  ExecutionNodeTable& rows_;
  bool is_open_ = false;  // the last row has no length yet
  std::string line_;
};

}  // namespace debrief::inputs::execution_trace
