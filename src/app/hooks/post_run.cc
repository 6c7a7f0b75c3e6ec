#include "app/hooks/post_run.h"

#include <filesystem>
#include <system_error>

#include "app/hooks/config.h"
#include "app/hooks/program.h"
#include "outputs/run_json.h"

namespace debrief {

namespace {

struct PostRunHook {
  WaitingHook program;
  Status trouble;  // of the configuration
};

PostRunHook& Prepared() {
  static PostRunHook hook;
  return hook;
}

}  // namespace

Status PreparePostRun(const std::string* command, const std::string& output) {
  std::string line;
  if (command != nullptr) {
    line = *command;
  } else {
    auto config = ReadHookConfig();
    Prepared().trouble = config.status();
    if (config.ok()) line = config->post_run;
  }
  if (line.empty()) return {};
  std::error_code error;
  std::string folder = std::filesystem::absolute(output, error).string();
  return Prepared().program.Prepare(line, {{"out", error ? output : folder}});
}

Status PostRun(const Model& model) {
  PostRunHook& hook = Prepared();
  if (!hook.trouble.ok() || !hook.program.is_prepared()) return hook.trouble;
  return hook.program.Run(RunJson(model, 1));
}

}  // namespace debrief
