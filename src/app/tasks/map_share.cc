#include "app/tasks/map_share.h"

#include <utility>

#include "app/build_model.h"
#include "app/terminal.h"

namespace debrief {

Status MapShare(const ShareToMap& what, const GlobalOptions& global) {
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  const int64_t now_ns = SystemClock().NowNs();
  std::string found;
  Model model;  // what jobs there are; reduce finds that out again
  const BuildOptions build{
      .paths = what.paths,
      .output_folder = what.output_folder,
      .select = [&](std::vector<FoundInput>& inputs) { found = shards::FoundBytes(inputs); }};
  std::vector<FoundInput> inputs = FindAndAssign(build, global, now_ns, budget, model);
  ThreadPool pool(ThreadCount(global));
  return shards::WriteShard(what.shard, found, inputs, what.share,
                            ImportOptionsFromEnvironment(now_ns), pool, budget);
}

}  // namespace debrief
