// Which entries of a TORCH_TRACE log show a graph of operations.
#pragma once

#include <string_view>
#include <vector>

#include "model/model.h"

namespace debrief {

class CompileEntryTable;

namespace analyses::compile_graphs {

class GraphEntries {
 public:
  GraphEntries(const Model& model, const CompileEntryTable& entries)
      : model_(model), entries_(entries) {}

  // By kind and name; whether the payload is a graph, only its text tells.
  bool MayBeGraph(size_t row);

 private:
  enum class Answer : uint8_t { kNotAsked, kNo, kYes, kByName };
  template <typename Ask>
  Answer Cached(std::vector<Answer>& answers, StringId id, Ask ask);

  const Model& model_;
  const CompileEntryTable& entries_;
  std::vector<Answer> kinds_;  // by text, so that most rows cost a look-up
  std::vector<Answer> names_;
};

}  // namespace analyses::compile_graphs
}  // namespace debrief
