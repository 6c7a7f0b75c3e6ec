// debrief accel: traces of AIU/Flex and of the torch profiler, cleaned and with counters, with the
// options, files and lines of acelyzer. docs/accel.md
//
// Every line of the console is `time LEVEL text` on stdout, as people's scripts know it.
#include "accel/accel.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "accel/ingest/input_list.h"
#include "app/build_model.h"
#include "app/commands/commands.h"
#include "app/folders/output_guard.h"
#include "app/terminal.h"
#include "app/workshop.h"
#include "base/threads/thread_pool.h"

namespace debrief {

namespace {

constexpr const char* kLevels[] = {"ERROR", "WARNING", "INFO", "DEBUG", "TRACE"};

class AccelConsole final : public accel::Console {
 public:
  AccelConsole(accel::Level level, bool quiet)
      : level_(quiet ? std::min(level, accel::Level::kWarning) : level),
        has_colour_(WantsColour()) {}

  void Line(accel::Level level, std::string_view text) override {
    if (level > level_) return;
    const int64_t ns = SystemClock().NowNs();
    const char* colour = !has_colour_                      ? ""
                         : level == accel::Level::kError   ? "\033[91m"
                         : level == accel::Level::kWarning ? "\033[93m"
                                                           : "";
    sink_.Write(fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06} {}{:>8}{} {}\n",
                            fmt::localtime(static_cast<std::time_t>(ns / 1'000'000'000)),
                            ns / 1000 % 1'000'000, colour, kLevels[static_cast<int>(level)],
                            *colour == 0 ? "" : "\033[0m", text));
  }

 private:
  accel::Level level_;
  bool has_colour_;
  StdoutSink sink_;
};

// The trace goes through the timeline model, as `debrief convert` would do it.
int WriteProtobuf(accel::Options options, accel::Console& console, ThreadPool& threads,
                  const GlobalOptions& global) {
  Workshop workshop;
  if (Status status = workshop.Open(options.output); !status.ok()) return Fail(status);
  options.trace_path = workshop.File("trace.json");
  const auto done = accel::Process(options, console, threads, TemporaryFolder());
  if (!done.ok()) PrintError(done.status());
  if (!done.ok() || !done.value().wrote_trace) return 1;
  ConvertOptions convert;
  convert.paths = {options.trace_path};
  convert.to = "perfetto";
  convert.output = options.output;
  return RunConvert(convert, global);
}

// Traces of Perfetto are read as `debrief convert --to chrome` writes them.
class PerfettoTraces {
 public:
  // `beside`: the output, next to which files may lie while the command runs.
  PerfettoTraces(std::string beside, const GlobalOptions& global)
      : beside_(std::move(beside)), global_(global) {}

  // A file with the same trace in JSON; none when the file is no trace of Perfetto.
  Result<std::optional<std::string>> ToJson(const std::string& path) {
    if (files_ == 0) TRY(workshop_.Open(beside_));
    const ConvertOptions options = {.paths = {path},
                                    .to = "chrome",
                                    .output = workshop_.File(fmt::format("{}.json", ++files_)),
                                    .ranks = {},
                                    .frames = {},
                                    .kind = "perfetto",
                                    .is_step = true};
    const Status status = Convert(options, global_);
    if (status.code() == Code::kNotFound) return std::optional<std::string>();
    TRY(Status(status));
    return std::optional<std::string>(options.output);
  }

 private:
  std::string beside_;
  const GlobalOptions& global_;
  Workshop workshop_;
  int files_ = 0;
};

// The names of all outputs begin with that of the main one. It is kept as it was given, since it
// stands in the trace; each file looks again whether it would replace an input (GrowingFile).
Status CheckPlace(accel::Options& options) {
  const accel::InputList inputs = accel::FindFiles(options.input, options.compat);
  TRY(GuardFile(options.output, inputs.files).status());
  if (IsWrittenThrough(options.output)) {  // a device has nothing beside it
    options.stats = options.tb = options.intermediate = false;
  }
  return {};
}

}  // namespace

int RunAccel(const accel::Arguments& arguments, const std::string& command_line,
             const GlobalOptions& global) {
  auto options = accel::MakeOptions(arguments);
  if (!options.ok()) return Fail(options.status());
  options->command_line = command_line;
  if (Status status = CheckPlace(options.value()); !status.ok()) return Fail(status);
  AccelConsole console(options->level, global.quiet);
  ThreadPool threads(ThreadCount(global));
  PerfettoTraces perfetto(
      IsWrittenThrough(options->output) ? TemporaryFolder() + "/debrief" : options->output, global);
  if (!options->compat)
    options->to_json = [&](const std::string& path) { return perfetto.ToJson(path); };
  if (options->format == accel::Format::kProtobuf && !options->compat)
    return WriteProtobuf(options.value(), console, threads, global);
  const auto done = accel::Process(std::move(options).value(), console, threads, TemporaryFolder());
  if (!done.ok()) {
    console.Error(done.status().ToString());
    return 1;
  }
  if (!done->wrote_trace) console.Error("no good event in the inputs; nothing was written");
  return done->wrote_trace ? 0 : 1;
}

}  // namespace debrief
