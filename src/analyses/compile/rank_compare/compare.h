// In what do the ranks of one job differ?
#pragma once

#include <string>
#include <vector>

#include "analyses/compile/rank_compare/jobs.h"
#include "model/model.h"

namespace debrief::analyses::compile_rank_compare {

enum class Kind : uint8_t { kExtra, kMissing, kGraph };
std::string_view KindName(Kind kind);

// A rank that differs from most, and in what.
struct Difference {
  Kind kind = Kind::kExtra;
  int32_t rank_a = kNone32;  // of the majority
  int32_t rank_b = kNone32;
  const UnitKey* unit = nullptr;
  size_t span_a = kNoRow;  // rows of compile_span; kNoRow: has none
  size_t span_b = kNoRow;
  size_t graph_a = kNoRow;  // of compile_entry, of kGraph
  size_t graph_b = kNoRow;
  std::string text;

  static constexpr size_t kNoRow = static_cast<size_t>(-1);
};

// Ranks that are to blame when `have` of `all` ranks do one thing and the others do not: with three
// ranks or more the few, when they are one, or at most a quarter; of two ranks the higher, which
// means that it is not told which. Empty: ranks divide as ranks of a pipeline do, by design.
std::vector<int32_t> Few(const std::vector<int32_t>& have, const std::vector<int32_t>& all);

// Compilations that only some ranks have become rows of compile_rank_only. Returns what blames
// somebody, in the order of the units.
std::vector<Difference> CompareUnits(const Model& model, const Job& job, Part& part);

// Graphs of compilations that ranks share. Only payloads are read whose checksums differ.
std::vector<Difference> CompareGraphs(const Model& model, const Job& job, const Graphs& graphs);

}  // namespace debrief::analyses::compile_rank_compare
