// debrief bundle JOB -o job.tar.zst: what a colleague or a bug report needs, without secrets.
#include "app/bundle/bundle.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "app/build_model.h"
#include "app/bundle/manifest.h"
#include "app/bundle/system_text.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/interrupts.h"
#include "app/terminal.h"
#include "base/tar/tar_writer.h"
#include "inputs/discovery/find_inputs.h"

namespace debrief {

namespace {

bundle::Choice ChoiceOf(const BundleOptions& options) {
  constexpr uint64_t kMegabyte = 1 << 20;
  bundle::Choice choice;
  choice.redacts = !options.no_redact;
  for (const std::string& what : options.hide) {
    choice.hides.shapes |= what == "shapes";
    choice.hides.files |= what == "files";
  }
  choice.documents = options.documents;
  choice.kinds = options.kinds;
  choice.limits = {options.max_file_mb * kMegabyte, options.max_total_mb * kMegabyte};
  return choice;
}

// Who makes the bundle, and where.
void LearnMaker(redact::Names& names) {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) == 0) names.AddHost(host.data(), true);
  for (const char* variable : {"USER", "LOGNAME"}) names.AddUser(Environment(variable));
}

Status AddText(const std::string& name, const std::string& text, TarWriter& tar) {
  TRY(tar.BeginFile("debrief_bundle/" + name, text.size()));
  return tar.Append(text);
}

Status WriteBundle(const BundleOptions& options, const GlobalOptions& global) {
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  ThreadPool pool(ThreadCount(global));
  auto progress = MakeProgress(global.quiet || global.json);
  std::vector<FoundInput> inputs = FindInputs({.paths = options.paths,
                                               .output_folder = "",
                                               .stdin_fd = STDIN_FILENO,
                                               .now_ns = SystemClock().NowNs()},
                                              pool, budget, *progress);
  const bundle::Choice choice = ChoiceOf(options);
  bundle::Bundler bundler(choice, options.paths, budget);
  // Nobody else may read it, also not while it is written.
  umask(S_IRWXG | S_IRWXO);
  ASSIGN_OR_RETURN(TarWriter tar, TarWriter::Create(options.output));
  const std::string system = options.no_system ? "" : bundle::SystemText();
  LearnMaker(bundler.names());
  progress->Begin("look for names", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    bundler.Learn(inputs[i]);
    progress->Step(i + 1);
  }
  bundler.Settle();
  progress->Begin("write", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(bundler.Add(inputs[i], tar));
    progress->Step(i + 1);
  }
  progress->End();
  if (bundler.contents().members.empty())
    return Status(Code::kNotFound, "nothing in it is of a kind that debrief reads")
        .At({.file = options.paths.front()})
        .Remedy("See what it reads: debrief list inputs");
  if (!options.no_system) TRY(AddText("SYSTEM.md", bundler.Redacted(system), tar));
  TRY(AddText("REDACTED.md", ManifestText(bundler.contents(), choice), tar));
  TRY(AddText("manifest.json", ManifestJson(bundler.contents(), choice), tar));
  TRY(tar.Finish());
  StdoutSink().Write(global.json ? ManifestJson(bundler.contents(), choice)
                                 : Summary(bundler.contents(), choice, options.output));
  return {};
}

}  // namespace

int RunBundle(const BundleOptions& options, const GlobalOptions& global) {
  std::signal(SIGPIPE, SIG_IGN);
  RemoveOutputsOnInterrupt();
  Status status = CheckPaths(options.paths);
  if (status.ok()) status = WriteBundle(options, global);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace debrief
