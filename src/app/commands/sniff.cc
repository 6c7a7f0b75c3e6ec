// A hidden command for tests: which importers claim a file? More than one is a bug of a sniffer.
#include <fmt/format.h>

#include <thread>

#include "app/commands/commands.h"
#include "app/terminal.h"
#include "inputs/discovery/find_inputs.h"

namespace debrief {

int RunSniff(const std::vector<std::string>& files) {
  ThreadPool pool(1);
  SpillBudget budget;
  NoProgress progress;
  FindOptions options{.paths = files, .now_ns = SystemClock().NowNs(), .all_claims = true};
  StdoutSink sink;
  for (const FoundInput& input : FindInputs(options, pool, budget, progress)) {
    std::string claims;
    for (const Importer* importer : input.claims)
      claims += fmt::format("{}{}", claims.empty() ? "" : ",", importer->info.name);
    sink.Write(fmt::format("{}\t{}\n", input.path, claims));
  }
  return 0;
}

}  // namespace debrief
