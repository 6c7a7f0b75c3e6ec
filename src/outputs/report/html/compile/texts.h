// Texts of compile logs (graphs, generated code, guards) for the report's code viewer.
//
//   island "texts"     which compilation has which texts, and where they are
//   island "text/N"    the bytes of some texts, one behind the other, about 1 MB in all
//
//   {"most_bytes": 48000000, "left_out": 3, "left_out_bytes": 91234567,
//    "kinds": ["artifact", ...], "names": ["before_pre_grad_graph", ...], "forms": ["text", ...],
//    "texts": [[chunk, offset, bytes, lines, whole], ...],
//    "compilations": [{"input": 1, "rank": 0, "life": 0, "id": "0/0",
//                      "artifacts": [[entry, kind, name, form, attempt, bytes, text], ...]}],
//    "frames": ..., "stacks": ...}                   (StackIndex)
//
// kind, name, form and text are positions in the lists; a text of -1 is not in the page. `whole` is
// 0, or the bytes of a text of which only the beginning is here. `left_out` counts distinct texts.
// web/src/run/texts.ts reads it. The islands are there when table compile_log has rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

struct TextLimits {
  int64_t all = 48'000'000;        // bytes of distinct texts
  int64_t important = 32'000'000;  // of these, for compilations that somebody will look at
  int64_t one = 4'000'000;         // the beginning of a longer text is taken
  size_t chunk = 1'000'000;        // an island is full when it has so many
  size_t artifacts = 40'000;       // entries in the index
};

Status AddTexts(const Model& model, Islands& islands);

// Hands each island to `add`, "texts" last. Same model, same bytes.
Status WriteTexts(const Model& model, const TextLimits& limits, const IslandSink& add);

// Which payloads of compile logs the report gets as texts, decided from the table of entries alone:
// a log of many GB costs one pass over its entries, and only what is chosen is read.
//
// Equal payloads are one text: all ranks log the same graphs. The checksum in the log tells, where
// it holds. Texts of compilations that somebody will look at come first (failed, repeated, named by
// a finding, or with a map of their lines), and of those and of all others the smallest.

struct TextArtifact {
  size_t row = 0;   // of table compile_entry
  size_t text = 0;  // in TextChoice::texts
};

struct DistinctText {
  size_t row = 0;     // first entry that has it
  int64_t bytes = 0;  // in the log, with the tab before each line
  bool important = false;
  bool chosen = false;
};

struct TextChoice {
  std::vector<TextArtifact> artifacts;  // in the order of the entries
  std::vector<DistinctText> texts;      // in the order of their first entries
  int64_t artifacts_left_out = 0;       // beyond the limit
};

TextChoice ChooseTexts(const Model& model, const TextLimits& limits);

}  // namespace debrief::outputs::html
