// Pieces of the files that speedscope and flamegraph.pl read.
//
//   {"$schema": ..., "profiles": [{"type": "sampled", "name": "python", "unit": "nanoseconds",
//                                  "samples": [[0, 1], [0]], "weights": [52400, 300], ...}],
//    "shared": {"frames": [{"name": "train.py(3): step"}, {"name": "aten::mm"}]}}
//
// docs: https://www.speedscope.app/file-format-schema.json. A sample is a list of numbers of
// frames, outermost first. Collapsed stacks are lines: outer;inner 1500
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/version.h"

namespace debrief::outputs {

inline void WriteSpeedscopeHead(std::string_view name, JsonWriter& json) {
  json.Field("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.Field("name", name).Field("exporter", fmt::format("debrief {}", kVersion));
}

struct SpeedscopeProfile {
  std::string name;
  std::string_view unit;
};

// `frames(one)` and `weight(one)` of each of `samples`; `end`: the sum of the weights.
template <typename Weight, typename Samples, typename Frames, typename WeightOf>
void WriteSpeedscopeProfile(const SpeedscopeProfile& profile, Weight end, const Samples& samples,
                            Frames frames, WeightOf weight, JsonWriter& json) {
  json.BeginObject().Field("type", "sampled").Field("name", profile.name);
  json.Field("unit", profile.unit).Field("startValue", 0).Field("endValue", end);
  json.Array("samples", samples, [&](const auto& one) { json.List(frames(one)); });
  json.Array("weights", samples, [&](const auto& one) { json.Value(weight(one)); });
  json.EndObject();
}

// A name in a collapsed stack, without what would end the frame or the line.
inline std::string CollapsedFrame(std::string name) {
  for (char& c : name) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return name;
}

}  // namespace debrief::outputs
