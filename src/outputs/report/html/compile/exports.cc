// Island "export": what draft export stumbled over, and the programs that it exported.
//
//   {"issues": [{"job": 0, "rank": 0, "input": 0, "entry": 70, "compile_id": "-/-",
//                "kind": "missing_fake_kernel", "expression": "mylib.foo.default", "result":
//                "True", "reason": "...", "sources": "u0: L['x']", "locals": "a: 1", "symbols":
//                "s0: 3", "file": "/home/user/train.py", "line": 12, "function": "forward",
//                "stack": ["/home/user/train.py:12 in forward", ...]}],
//    "left_out": 0,
//    "programs": [{"job": 0, "rank": 0, "input": 0, "entry": 912, "bytes": 4096}]}
//
// A guard counts when it was evaluated ("eval"), not when it only was noted. Texts that are absent
// are not written. web/src/compile/export.ts reads it. Cost: a pass over compile_shape and
// compile_entry.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/json/writer.h"
#include "model/compile/frames.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "tables/compile_entry.h"
#include "tables/compile_shape.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostIssues = 2000;
constexpr size_t kMostPrograms = 200;
constexpr size_t kLongestExportText = 2000;
constexpr size_t kMostExportFrames = 30;

bool IsIssue(const Pools& pools, const CompileShapeTable& shapes, size_t row) {
  const std::string_view kind = pools.Text(shapes.kind[row]);
  if (kind == "guard_added") return pools.Text(shapes.prefix[row]) == "eval";
  return kind == "propagate_real_tensors_provenance" || kind == "missing_fake_kernel" ||
         kind == "mismatched_fake_kernel";
}

class ExportWriter {
 public:
  explicit ExportWriter(const Model& model)
      : model_(model),
        shapes_(model.tables.Get<CompileShapeTable>()),
        entries_(model.tables.Get<CompileEntryTable>()),
        json_(&out_) {}

  std::string Write() {
    if (entries_.size() == 0) return "";
    const ExportIssues issues = FindExportIssues(model_, kMostIssues);
    json_.BeginObject();
    json_.Objects("issues", issues.first, [&](const ExportIssue& one) { WriteIssue(one); });
    json_.Field("left_out", issues.left_out);
    WritePrograms();
    json_.EndObject();
    return std::move(out_);
  }

 private:
  template <typename Table>
  void WriteWho(const Table& table, size_t row) {
    json_.Field("job", table.job[row]).Field("rank", table.rank[row]);
    json_.Field("input", table.input[row]).Field("entry", table.entry[row]);
    WriteText("compile_id", table.compile_id[row]);
  }

  void WriteText(std::string_view key, StringId text) {
    if (text != StringId::kNone)
      json_.Field(key, model_.pools.Text(text).substr(0, kLongestExportText));
  }

  void WriteIssue(const ExportIssue& issue) {
    const size_t row = issue.row;
    WriteWho(shapes_, row);
    WriteText("kind", shapes_.kind[row]);
    WriteText("expression", shapes_.expression[row]);
    WriteText("result", shapes_.result[row]);
    WriteText("reason", shapes_.reason[row]);
    WriteText("sources", shapes_.sources[row]);
    WriteText("locals", shapes_.locals[row]);
    WriteText("symbols", shapes_.symbols[row]);
    WriteStack(issue.stack);
  }

  void WriteStack(StackId stack) {
    const auto frames = UserFrames(model_.pools, stack);
    if (frames.empty()) return;
    const Frame& first = model_.pools.GetFrame(frames.front());
    json_.Field("file", ShortPath(model_.pools.Text(first.file))).Field("line", first.line);
    WriteText("function", first.function);
    WriteText("code", first.text);
    const auto shown = frames.first(std::min(frames.size(), kMostExportFrames));
    json_.Array("stack", shown, [&](FrameId id) {
      const Frame& frame = model_.pools.GetFrame(id);
      json_.Value(fmt::format("{}:{} in {}", ShortPath(model_.pools.Text(frame.file)), frame.line,
                              model_.pools.Text(frame.function)));
    });
  }

  void WritePrograms() {
    const StringId kind = model_.pools.strings.Find("exported_program");
    size_t written = 0;
    json_.Key("programs").BeginArray();
    for (size_t row = 0; row < entries_.size() && kind != StringId::kNone; ++row) {
      if (entries_.kind[row] != kind || written == kMostPrograms) continue;
      ++written;
      json_.BeginObject();
      WriteWho(entries_, row);
      json_.Field("bytes", entries_.payload_bytes[row]).EndObject();
    }
    json_.EndArray();
  }

  const Model& model_;
  const CompileShapeTable& shapes_;
  const CompileEntryTable& entries_;
  std::string out_;
  JsonWriter json_;
};

}  // namespace

ExportIssues FindExportIssues(const Model& model, size_t most) {
  const auto& shapes = model.tables.Get<CompileShapeTable>();
  const auto& entries = model.tables.Get<CompileEntryTable>();
  ExportIssues issues;
  std::map<std::pair<int32_t, int64_t>, size_t> by_entry;  // input and entry -> issue
  for (size_t row = 0; row < shapes.size(); ++row) {
    if (!IsIssue(model.pools, shapes, row)) continue;
    if (issues.first.size() == most) {
      ++issues.left_out;
      continue;
    }
    by_entry.emplace(std::pair(shapes.input[row], shapes.entry[row]), issues.first.size());
    issues.first.push_back({.row = row});
  }
  for (size_t row = 0; row < entries.size() && !by_entry.empty(); ++row) {
    const auto found = by_entry.find({entries.input[row], entries.entry[row]});
    if (found == by_entry.end()) continue;
    const StackId user = entries.user_stack[row];
    issues.first[found->second].stack = user != StackId::kNone ? user : entries.stack[row];
  }
  return issues;
}

std::string ExportJson(const Model& model) { return ExportWriter(model).Write(); }

}  // namespace debrief::outputs::html
