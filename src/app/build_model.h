// Paths in, model out: find, assign, import, analyse. What `debrief PATH...` and the drop-ins
// share.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/commands.h"
#include "base/bytes/spill.h"
#include "inputs/found_input.h"
#include "inputs/import.h"
#include "inputs/shards/shard.h"
#include "model/model.h"

namespace debrief {

struct BuildOptions {
  std::vector<std::string> paths;
  std::string output_folder;  // never an input
  std::string report = {};    // the report that will be written, for commands in next steps
  // Called with everything that was found, before jobs are assigned; may drop inputs and set ranks.
  std::function<void(std::vector<FoundInput>&)> select;
  // Derived tables that are wanted: only the analyses they need run. None: all analyses run.
  std::optional<std::span<const std::string_view>> derived_tables = std::nullopt;
  // Instead of reading: what was read elsewhere. `paths` are then those of the shards.
  shards::ShardSet* shard_set = nullptr;
  bool ops_alone = false;  // see ImportOptions
  // Called for every input once its job and rank are known; one that is not wanted is not read.
  std::function<bool(const FoundInput&)> is_wanted = nullptr;
  // Links to files outside of the paths are not followed.
  bool stays_inside = false;
  // Arguments of slices that have no column are read as well (table timeline_args).
  bool keeps_args = false;
};

// Finds the inputs and assigns job, attempt and rank; fills the tables of that.
std::vector<FoundInput> FindAndAssign(const BuildOptions& options, const GlobalOptions& global,
                                      int64_t now_ns, SpillBudget& budget, Model& model);

// Spilled inputs live in `budget`, which must outlive the model.
void BuildModel(const BuildOptions& options, const GlobalOptions& global, SpillBudget& budget,
                Model& model);

// How inputs are read, as the environment of tests says.
ImportOptions ImportOptionsFromEnvironment(int64_t now_ns);

// Threads to use: --jobs, or one a core.
int ThreadCount(const GlobalOptions& global);

// Where spilled inputs may lie.
std::string TemporaryFolder();

// Why there is nothing to report about: no file at all, all of them empty, none that can be opened.
// OK when there is something.
Status CheckInputs(const std::vector<std::string>& paths, const Model& model);

// 3 when --fail-on was given and a finding is that severe, else 0.
int ExitCodeOf(const Model& model, const std::optional<Severity>& fail_on);

}  // namespace debrief
