#include "app/hooks/post_run.h"

#include <filesystem>
#include <system_error>

#include "app/hooks/config.h"
#include "app/hooks/program.h"
#include "outputs/run_json.h"

namespace debrief {

namespace {

WaitingHook& Prepared() {
  static WaitingHook hook;
  return hook;
}

}  // namespace

Status PreparePostRun(const std::string* command, const std::string& output) {
  std::string line;
  if (command != nullptr) {
    line = *command;
  } else {
    ASSIGN_OR_RETURN(HookConfig config, ReadHookConfig());
    line = config.post_run;
  }
  if (line.empty()) return {};
  std::error_code error;
  std::string folder = std::filesystem::absolute(output, error).string();
  return Prepared().Prepare(line, {{"out", error ? output : folder}});
}

Status PostRun(const Model& model) {
  return Prepared().is_prepared() ? Prepared().Run(RunJson(model, 1)) : Status();
}

}  // namespace debrief
