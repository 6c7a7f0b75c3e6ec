// Which payloads of compile logs the report gets as texts, decided from the table of entries alone:
// a log of many GB costs one pass over its entries, and only what is chosen is read.
//
// Equal payloads are one text: all ranks log the same graphs. The checksum in the log tells, where
// it holds. Texts of compilations that somebody will look at come first (failed, repeated, named by
// a finding, or with a map of their lines), and of those and of all others the smallest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "outputs/report/html/text_data.h"

namespace debrief::outputs::html {

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

// "0/0_1", the second attempt, belongs to 0/0.
std::string_view WithoutAttempt(std::string_view id);

TextChoice ChooseTexts(const Model& model, const TextLimits& limits);

}  // namespace debrief::outputs::html
