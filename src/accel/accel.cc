#include "accel/accel.h"

#include <fmt/format.h>

#include "accel/export/write_trace.h"
#include "accel/ingest/ingest.h"
#include "accel/pipeline.h"
#include "accel/stages/cycles.h"
#include "base/bytes/growing_file.h"
#include "base/bytes/source.h"

namespace debrief::accel {

namespace {

std::vector<std::string_view> Identifiers() {
  std::vector<std::string_view> names;
  for (const Pass& pass : AllPasses()) names.push_back(pass.identifier);
  return names;
}

// A file of that name, else one that is built in.
Result<Profile> LoadProfile(const std::string& name) {
  auto source = OpenFileSource(name);
  if (!source.ok()) return Profile::BuiltIn(name, Identifiers());
  ASSIGN_OR_RETURN(ByteView bytes, source.value()->View(0, source.value()->size()));
  return Profile::Parse(bytes.text(), Identifiers());
}

std::string ProfileName(const Options& options) {
  if (options.verify) return "verification.json";
  if (!options.profile.empty()) return options.profile;
  return options.tb ? "torch_minimal.json" : "default.json";
}

Status WriteSideFiles(const Run& run) {
  for (const SideFile& file : run.side_files) TRY(WriteFileAtomically(file.path, file.text));
  return {};
}

void TellMissingLog(Run& run) {
  if (run.options.counters.rcu_util && run.options.compiler_info.empty())
    run.console.Warning(
        "rcu_util counter requested but no compiler log/inductor spyre directory path provided. "
        "No utilization will be plotted.");
}

void ChooseFrequency(const EventList& events, Run& run, Options& options) {
  const auto mhz = EstimateSocFrequency(events, run);
  if (mhz) {
    options.soc_mhz = *mhz;
    run.console.Info(fmt::format("FREQ: --freq auto is {:.3f} MHz", *mhz));
  } else {
    run.console.Warning(fmt::format(
        "FREQ: --freq auto: too few cycle stamps to estimate it; {} MHz is used", options.soc_mhz));
  }
}

// Without a good event there is nothing to write, except for the reference, which then writes empty
// files unless something stopped it.
bool HasResult(const Ingested& ingested, const Options& options) {
  if (!ingested.events.empty()) return true;
  return options.compat && ingested.files_read > 0 && !ingested.has_fatal_trouble;
}

Result<size_t> WriteMain(const Ingested& ingested, Run& run) {
  const std::string path = TracePath(run.options);
  if (run.options.format == Format::kPddf) return WritePddf(path, ingested.events, run);
  return WriteTrace(path, ingested.events, ingested.metadata, run);
}

Result<size_t> WriteAll(const Ingested& ingested, Run& run) {
  size_t exported = 0;
  if (run.options.save_to_file) {
    ASSIGN_OR_RETURN(exported, WriteMain(ingested, run));
  }
  if (run.options.tb) TRY(WriteWorkers(ingested.events, ingested.metadata, run));
  TRY(WriteSideFiles(run));
  return exported;
}

}  // namespace

std::string TracePath(const Options& options) {
  if (!options.trace_path.empty()) return options.trace_path;
  std::string path = options.output;
  if (!options.tb || !path.ends_with(".json") || path.ends_with(".pt.trace.json")) return path;
  path.resize(path.size() - 5);
  return path + ".pt.trace.json";
}

Result<Outcome> Process(Options options, Console& console, ThreadPool& threads,
                        const std::string& temporary_folder) {
  options.profile = ProfileName(options);
  Run run(options, console, threads);
  TellMissingLog(run);
  ASSIGN_OR_RETURN(Profile profile, LoadProfile(options.profile));
  ASSIGN_OR_RETURN(Ingested ingested, Ingest(run, temporary_folder));
  Outcome outcome;
  outcome.ingested = ingested.events.size();
  if (!HasResult(ingested, options)) return outcome;
  if (options.compat && options.format == Format::kProtobuf) {
    console.Error(
        "Unrecognized export format. Available options: json or pddf (and unsupported: proto)");
    outcome.wrote_trace = true;
    return outcome;
  }
  if (options.freq_is_auto) ChooseFrequency(ingested.events, run, options);
  TRY(RunPasses(ingested.events, profile, run));
  ASSIGN_OR_RETURN(outcome.exported, WriteAll(ingested, run));
  outcome.wrote_trace = true;
  console.Info(fmt::format("Exported events:  {}", outcome.exported));
  return outcome;
}

}  // namespace debrief::accel
