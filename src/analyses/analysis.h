// Plug-in point 2: const model -> findings and derived tables. One question is one folder
// src/analyses/<name>/ that defines
//
//   const Analysis& debrief::analyses::<name>::Describe();
//
// An analysis names the tables it needs and makes. It runs when every needed table has rows;
// otherwise the user is told that it did not run and what it would have needed. It never prints,
// never changes what it reads, and never guesses: "not computable: no dump from rank 4" is an
// answer.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/model.h"

namespace debrief {

class ThreadPool;

// The names of tables for `needs`, `makes` and `uses`: kTableNames<InputTable, RankTable>.
template <typename... Tables>
inline constexpr std::array<std::string_view, sizeof...(Tables)> kTableNames = {Tables::kName...};

struct AnalysisInfo {
  std::string_view name;                    // the folder's name
  std::string_view sentence;                // the question it answers
  std::string_view example;                 // a finding it may make, as the user reads it
  std::span<const std::string_view> needs;  // tables
  std::span<const std::string_view> makes;  // tables
  // Tables that it reads where they have rows and does without where not; made before it runs.
  std::span<const std::string_view> uses = {};
};

struct AnalysisResult {
  Part part;  // derived tables, with pools of their own
  std::vector<Finding> findings;
  ThreadPool* pool = nullptr;  // for what can be done side by side; null: one after the other
};

struct Analysis {
  AnalysisInfo info;
  Status (*run)(const Model& model, AnalysisResult& result) = nullptr;
  // Runs once, when all others have run: weighs what they found. It may change, add and link
  // findings; positions must stay, since `explains` holds them. One that judges need not run.
  void (*judge)(const Model& model, std::vector<Finding>& findings) = nullptr;
};

// All analyses, in order of name (generated from the folders).
std::span<const Analysis* const> AllAnalyses();

}  // namespace debrief
