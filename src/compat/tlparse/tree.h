// The tree of files that tlparse makes of a TORCH_TRACE log: same paths, same numbers, and the same
// bytes in every file that is no page. docs/compat.md lists what is different on purpose.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/thread_pool.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {

// The tables of analyses that the trees and the landing page show.
std::span<const std::string_view> DerivedTables();

// Writes the tree of one log into `folder`, which exists and is empty. `of_many`: it is one rank of
// several.
Status WriteTree(const Model& model, TreePlan& plan, const TreeOptions& options, bool of_many,
                 ThreadPool& pool, const std::string& folder);

// What lies above the trees of several ranks (rank_<N>/): landing page, events of all ranks, and
// what only the comparison of ranks tells. `plans` are in order of rank and of one attempt.
// `written` gets the names of the JSON files that were written.
Status WriteLanding(const Model& model, std::span<const TreePlan> plans, const TreeOptions& options,
                    ThreadPool& pool, const std::string& folder, std::vector<std::string>& written);

}  // namespace debrief::outputs::tlparse_tree
