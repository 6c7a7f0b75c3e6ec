// Flame graphs of the report: speedscope, a viewer by Jamie Wong and others (MIT licence), and the
// profiles that it shows. They lie beside the page,
//
//   report_data/speedscope/index.html, speedscope.js, ..., LICENSE
//   report_data/speedscope/timeline_3.js   speedscope.loadFileFromBase64("...", "BASE64")
//   report_data/flames.js                  island "flames": which profiles there are
//
// only when there is something to show. A page of one file cannot hold them and says so.
#pragma once

#include <cstdint>
#include <string>

#include "outputs/report/html/islands.h"
#include "outputs/stack_tree.h"

namespace debrief::outputs::html {

Status AddFlames(const Model& model, Islands& islands);

// Where the time of one timeline's threads and streams went, a profile each, as speedscope's JSON
// of at most about `most_bytes`: stacks with most time first, and `left_out_ns` is that of the
// others.
struct FlameText {
  std::string json;
  int64_t total_ns = 0;
  int64_t left_out_ns = 0;
};
FlameText TimelineFlame(const StackTree& tree, std::string_view title, size_t most_bytes);

}  // namespace debrief::outputs::html
