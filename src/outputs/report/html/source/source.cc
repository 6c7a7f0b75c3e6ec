// Island "source": files that something points into, those with most to tell first.
//
//   {"files": [{"job": 0, "file": "/home/user/train.py", "user": true,
//               "lines": [{"line": 27, "code": "def forward(self, x):", "function": "forward",
//                          "seconds": 1.5, "breaks": 2, "exports": 1, "guards": 3, "failed_guards":
//                          1, "nodes": 4, "compiled": {"count": 2, "first": ["0:0:0:0/0"]},
//                          "recompiled": ..., "failed": ..., "kernels": ..., "collectives": ...,
//                          "call": {"group": "0", "seq": 16, "rank": 5}}]}],
//    "left_out": 0}                                                            lines beyond the
//    bounds
//
// What is nothing is not written. web/src/source/data.ts reads it.
#include <algorithm>

#include "base/json/writer.h"
#include "outputs/report/html/source/source_lines.h"
#include "tables/comm_op.h"
#include "tables/compile_entry.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostLines = 40'000;
constexpr int64_t kGraphBytes = 512'000'000;

using Entry = SourceFiles::const_iterator;

// What a file has to tell: its place in the list.
struct Weight {
  bool is_user = false;
  double seconds = 0;
  int64_t facts = 0;
  size_t lines = 0;

  auto operator<=>(const Weight&) const = default;
};

Weight WeightOf(Entry file) {
  Weight weight = {.is_user = IsUserFile(file->first.second)};
  for (const auto& [number, line] : file->second) {
    weight.seconds += line.seconds;
    weight.facts += line.breaks + line.failed.count + line.recompiled.count + line.compiled.count;
    weight.lines += line.has_facts() ? 1 : 0;
  }
  return weight;
}

// Files in which something has facts, heaviest first.
std::vector<Entry> OrderOf(const SourceFiles& files) {
  std::vector<std::pair<Weight, Entry>> all;
  for (Entry file = files.begin(); file != files.end(); ++file)
    if (Weight weight = WeightOf(file); weight.lines > 0) all.emplace_back(weight, file);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return b.first < a.first; });
  std::vector<Entry> order;
  for (const auto& [weight, file] : all) order.push_back(file);
  return order;
}

void WriteText(JsonWriter& json, std::string_view key, const std::string& text) {
  if (!text.empty()) json.Field(key, text);
}

void WriteNumber(JsonWriter& json, std::string_view key, int64_t number) {
  if (number > 0) json.Field(key, number);
}

void WriteList(JsonWriter& json, std::string_view key, const LineList& list) {
  if (list.count == 0) return;
  json.Key(key).BeginObject().Field("count", list.count);
  json.ListField("first", list.first).EndObject();
}

void WriteLine(JsonWriter& json, const Pools& pools, int32_t number, const SourceLine& line) {
  json.BeginObject().Field("line", number);
  WriteText(json, "code", line.code);
  WriteText(json, "function", line.function);
  if (line.seconds > 0) json.Field("seconds", line.seconds);
  WriteNumber(json, "breaks", line.breaks);
  WriteNumber(json, "exports", line.exports);
  WriteNumber(json, "guards", line.guards);
  WriteNumber(json, "failed_guards", line.failed_guards);
  WriteNumber(json, "nodes", line.nodes);
  WriteList(json, "compiled", line.compiled);
  WriteList(json, "recompiled", line.recompiled);
  WriteList(json, "failed", line.failed);
  WriteList(json, "kernels", line.kernels);
  WriteList(json, "collectives", line.collectives);
  if (line.collectives.count > 0) {
    json.Key("call").BeginObject().Field("group", pools.Text(line.call.group));
    json.Field("seq", line.call.seq).Field("rank", line.call.rank).EndObject();
  }
  json.EndObject();
}

}  // namespace

std::string SourceJson(const Model& model) {
  if (model.tables.Get<CompileEntryTable>().size() == 0 &&
      model.tables.Get<CommOpTable>().size() == 0)
    return "";
  const SourceFiles files = CollectSource(model, kGraphBytes);
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("files").BeginArray();
  size_t written = 0;
  size_t left_out = 0;
  for (Entry file : OrderOf(files)) {
    const auto& [job, path] = file->first;
    if (written == kMostLines) {
      left_out += file->second.size();
      continue;
    }
    json.BeginObject().Field("job", job).Field("file", path);
    json.Field("user", IsUserFile(path)).Key("lines").BeginArray();
    for (const auto& [number, line] : file->second) {
      if (written == kMostLines) {
        ++left_out;
        continue;
      }
      WriteLine(json, model.pools, number, line);
      ++written;
    }
    json.EndArray().EndObject();
  }
  json.EndArray().Field("left_out", left_out).EndObject();
  return out;
}

}  // namespace debrief::outputs::html
