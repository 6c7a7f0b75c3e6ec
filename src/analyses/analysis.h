// Plug-in point 2: const model -> findings and derived tables. One question is one folder
// src/analyses/<name>/ that defines
//
//   const Analysis& debrief::analyses::<name>::Describe();
//
// An analysis names the tables it needs, uses and makes, and touches no others: builds for tests
// end when it does (model/declared_tables.h), and the order of analyses follows from these names
// alone. It runs when every needed table has rows; otherwise the user is told that it did not run
// and what it would have needed. It never prints, never changes what it reads, and never guesses:
// "not computable: no dump from rank 4" is an answer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/model.h"
#include "model/table_group.h"

namespace debrief {

class ThreadPool;

// The names of tables for `needs`, `makes` and `uses`: kTableNames<InputTable, RankTable>. One of
// them may be a TableGroup (model/table_group.h), all of which are meant.
template <typename... Tables>
inline constexpr auto kTableNames = TableGroup<Tables...>::Names();

// What an analysis has to see at once.
enum class AnalysisScope : uint8_t {
  // The whole job: it compares ranks, or counts them together.
  kJob,
  // One rank: its rows and findings of a rank follow from what that rank left, and those of a job
  // are those of its ranks one behind the other. It reads no table that an analysis of the whole
  // job makes, so that it can run before the other ranks are there.
  kRank,
};

struct AnalysisInfo {
  std::string_view name;                      // the folder's name
  AnalysisScope scope = AnalysisScope::kJob;  // kRank must be said
  std::string_view sentence;                  // the question it answers
  std::string_view example;                   // a finding it may make, as the user reads it
  std::span<const std::string_view> needs;    // tables
  std::span<const std::string_view> makes;    // tables
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
