// Paths in, model out: find, assign, import, analyse. What `debrief PATH...` and the drop-ins
// share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "app/commands/commands.h"
#include "base/spill.h"
#include "inputs/found_input.h"
#include "model/model.h"

namespace debrief {

struct BuildOptions {
  std::vector<std::string> paths;
  std::string output_folder;  // never an input
  // Called with everything that was found, before jobs are assigned; may drop inputs and set ranks.
  std::function<void(std::vector<FoundInput>&)> select;
  // Called for every input once its job and rank are known; one that is not wanted is not read.
  std::function<bool(const FoundInput&)> is_wanted;
  // All when it is not given.
  std::optional<std::vector<const Analysis*>> analyses;
};

// Spilled inputs live in `budget`, which must outlive the model.
void BuildModel(const BuildOptions& options, const GlobalOptions& global, SpillBudget& budget,
                Model& model);

// Threads to use: --jobs, or one a core.
int ThreadCount(const GlobalOptions& global);

// Where spilled inputs may lie.
std::string TemporaryFolder();

// Whether at least one path exists (or is stdin).
bool AnyPathExists(const std::vector<std::string>& paths);

// 3 when --fail-on was given and a finding is that severe, else 0.
int ExitCodeOf(const Model& model, const std::optional<Severity>& fail_on);

}  // namespace debrief
