#include "outputs/terminal/flight_text/flight_text.h"

#include "outputs/terminal/flight_text/analyzer.h"
#include "outputs/terminal/flight_text/match_database.h"
#include "outputs/terminal/flight_text/tables.h"

namespace debrief::outputs::flight_text {

namespace {

LoadOptions LoadOptionsOf(const FlightTextOptions& options, std::pair<int32_t, int32_t> attempt) {
  return {.job = attempt.first,
          .attempt = attempt.second,
          .strict = options.strict,
          .align = true,
          .transform_ft = options.transform_ft,
          .group_world_size = options.group_world_size,
          .rank_order = options.rank_order};
}

Status WriteOne(const Model& model, const FlightTextOptions& options, const Dumps& dumps,
                const Log& log) {
  log.Debug(options.load_note);
  log.Debug("built groups, memberships");
  if (!options.allow_incomplete_ranks) TRY(CheckNoneMissing(dumps));
  ASSIGN_OR_RETURN(Database db, Analyze(model, dumps, options.mismatch_cap, log));
  log.Debug("built collectives, nccl_calls");
  if (log.verbose()) WriteDatabaseTables(model, dumps, db, log);
  return {};
}

Status Write(const Model& model, const OutputContext& context) {
  return WriteCompat(model, {.strict = true}, *context.text);
}

}  // namespace

Status WriteEntries(const Model& model, const FlightTextOptions& options, TextSink& sink) {
  Log log(sink, options.verbose);
  for (auto attempt : AttemptsWithDumps(model)) {
    ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, LoadOptionsOf(options, attempt)));
    log.Debug(options.load_note);
    log.Debug("built groups, memberships");
    TRY(WriteEntryTable(model, options, dumps, log));
  }
  return {};
}

Status WriteCompat(const Model& model, const FlightTextOptions& options, TextSink& sink) {
  Log log(sink, options.verbose);
  for (auto attempt : AttemptsWithDumps(model)) {
    ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, LoadOptionsOf(options, attempt)));
    TRY(WriteOne(model, options, dumps, log));
  }
  return {};
}

Status WriteTables(const Model& model, const FlightTextOptions& options, TextSink& sink) {
  Log log(sink, /*verbose=*/true);
  for (auto attempt : AttemptsWithDumps(model)) {
    LoadOptions load = LoadOptionsOf(options, attempt);
    load.align = !HasMatches(model);
    ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, load));
    ASSIGN_OR_RETURN(Database db, FindDatabase(model, dumps, options, /*compat=*/false));
    WriteDatabaseTables(model, dumps, db, log);
  }
  return {};
}

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "flight_text",
               .sentence =
                   "Flight Recorder dumps as PyTorch's analyzer (torchfrtrace) reports them",
               .file = ""},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::flight_text
