// What of all this the user should be told.
//
// One recompilation is normal: the first compilation takes shapes as constants, the second makes
// what changed a symbol. PyTorch gives up on a frame at 8 compiled versions
// (torch._dynamo.config.recompile_limit). So:
//   compile.recompile_storm   4 recompilations of one frame or more: half of that limit
//   compile.recompile_limit   8 versions exactly, or an exception that names the limit; more than 8
//                             mean that somebody raised the limit, which is a storm again
//   compile.unfinished        begun and never ended; an error when the log ends inside of it
//   compile.failed            torch.export stopped inside of a program; others are told by their
//                             metrics (break_findings.cc)
// Ranks that tell the same are one finding.
#include "analyses/compile/recompile_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/compile/break_text.h"
#include "base/text/columns.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "model/headline.h"
#include "tables/compilation.h"
#include "torch/code_words.h"

namespace debrief::analyses::compile_recompiles {

namespace {

constexpr int32_t kStorm = 4;
constexpr int32_t kLimit = 8;
constexpr size_t kMostRows = 16;

// One code object over all ranks of a job.
struct Facts {
  int32_t job, attempt;
  StringId function, file;
  int32_t line;
  int32_t most = 0;      // recompilations of one frame
  bool hit = false;      // an exception names the limit
  bool raised = false;   // and was raised, as fullgraph=True wants it
  int32_t limit = 0;     // that it names
  size_t main = kNoRow;  // of compile_recompile
  double seconds = 0;
  std::vector<int32_t> ranks;
  std::vector<int64_t> rows;  // of compilation
  std::vector<std::string> ids;
};

// 8 of "torch._dynamo hit config.recompile_limit (8)", else 0.
int32_t LimitIn(std::string_view text) {
  constexpr std::string_view kKey = "_limit (";
  const size_t at = text.find(kKey);
  return at == std::string_view::npos ? 0
                                      : LeadingNumber(text.substr(at + kKey.size()), int32_t{0});
}

// Of "FailOnRecompileLimitHit" (before 2.6 "FailOnCacheLimitHit"): PyTorch was told to raise.
bool RaisesAtLimit(std::string_view type) { return type.starts_with("FailOn"); }

class Reporter {
 public:
  Reporter(const Part& part, std::vector<Finding>& findings)
      : pools_(part.pools),
        rows_(part.tables.Get<CompilationTable>()),
        recompiles_(part.tables.Get<CompileRecompileTable>()),
        findings_(findings) {}

  void Gather(const std::vector<MainChange>& changes) {
    std::map<std::tuple<int32_t, int32_t, StringId, StringId, int32_t>, size_t> places;
    for (size_t i = 0; i < rows_.size(); ++i) {
      auto [found, is_new] =
          places.try_emplace(std::tuple(rows_.job[i], rows_.attempt[i], rows_.file[i],
                                        rows_.function[i], rows_.line[i]),
                             facts_.size());
      if (is_new)
        facts_.push_back({.job = rows_.job[i],
                          .attempt = rows_.attempt[i],
                          .function = rows_.function[i],
                          .file = rows_.file[i],
                          .line = rows_.line[i]});
      Add(i, changes[i], facts_[found->second]);
    }
  }

  void ReportRecompiles() {
    for (const Facts& facts : facts_) {
      if (facts.hit || facts.most + 1 == kLimit) {
        ReportLimit(facts);
      } else if (facts.most >= kStorm) {
        ReportStorm(facts);
      }
    }
  }

  void ReportStopped() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const bool is_told = rows_.fail_type[i] != StringId::kNone;
      if (is_told || rows_.fail_file[i] == StringId::kNone) continue;
      if (pools_.Text(rows_.outcome[i]) == "failed") findings_.push_back(Stopped(i));
    }
  }

  void ReportUnfinished() {
    std::map<std::tuple<int32_t, int32_t, StringId, StringId, int32_t, bool>, size_t> told;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (pools_.Text(rows_.outcome[i]) != "unfinished") continue;
      auto [found, is_new] =
          told.try_emplace(std::tuple(rows_.job[i], rows_.attempt[i], rows_.file[i],
                                      rows_.function[i], rows_.line[i], rows_.is_last[i] != 0),
                           findings_.size());
      if (is_new) findings_.push_back(Unfinished(i));
      Finding& finding = findings_[found->second];
      AddRank(finding.ranks, rows_.rank[i]);
      AddSource(rows_.rank[i], i, finding);
      if (finding.evidence[0].rows.size() < kMostRows)
        finding.evidence[0].rows.push_back(static_cast<int64_t>(i));
    }
  }

 private:
  void Add(size_t row, const MainChange& change, Facts& to) {
    AddRank(to.ranks, rows_.rank[row]);
    to.most = std::max(to.most, rows_.number[row]);
    const std::string_view type = pools_.Text(rows_.fail_type[row]);
    to.hit |= NamesRecompileLimit(pools_.Text(rows_.fail_reason[row])) ||
              Contains(type, "RecompileLimit") || Contains(type, "CacheLimit");
    to.raised |= RaisesAtLimit(type);
    to.limit = std::max(to.limit, LimitIn(pools_.Text(rows_.fail_reason[row])));
    if (change.row != kNoRow) to.main = change.row;
    if (rows_.number[row] == 0) return;
    if (rows_.seconds[row] > 0) to.seconds += rows_.seconds[row];
    if (to.rows.size() < kMostRows) {
      to.rows.push_back(static_cast<int64_t>(row));
      to.ids.emplace_back(pools_.Text(rows_.compile_id[row]));
    }
  }

  std::string Code(StringId function, StringId file, int32_t line) const {
    return CodeInWords(pools_.Text(function), pools_.Text(file), line);
  }

  Finding About(const Facts& facts) const {
    Finding finding;
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    finding.job = facts.job;
    finding.attempt = facts.attempt;
    finding.ranks = facts.ranks;
    finding.compile_ids = facts.ids;
    finding.source.push_back({facts.ranks.size() == 1 ? facts.ranks[0] : kNone32,
                              std::string(pools_.Text(facts.file)), facts.line});
    finding.evidence.push_back(
        {facts.seconds > 0
             ? fmt::format("its compilations after the first took {}", SecondsText(facts.seconds))
             : "its compilations after the first; the log has no times of them",
         "compilation", facts.rows});
    if (facts.main == kNoRow) {
      finding.next_step = "Run with TORCH_LOGS=recompiles to see which guards fail.";
      return finding;
    }
    finding.evidence.push_back({std::string(pools_.Text(recompiles_.change[facts.main])),
                                "compile_recompile",
                                {static_cast<int64_t>(facts.main)}});
    finding.next_step = pools_.Text(recompiles_.next_step[facts.main]);
    return finding;
  }

  // "; last: type of k was int, now float"
  std::string LastChange(const Facts& facts) const {
    if (facts.main == kNoRow) return {};
    return fmt::format("; last time {}", pools_.Text(recompiles_.change[facts.main]));
  }

  void ReportStorm(const Facts& facts) {
    Finding finding = About(facts);
    finding.rule = "compile.recompile_storm";
    const std::string rest = fmt::format(" was compiled {} x{}", facts.most + 1, LastChange(facts));
    finding.headline = Code(facts.function, facts.file, facts.line) + rest;
    // What changed is the point: the place, which is told below, gives way to it.
    if (TextWidth(finding.headline) > kLongestHeadline && facts.function != StringId::kNone)
      finding.headline = std::string(pools_.Text(facts.function)) + rest;
    finding.confidence = 0.9;
    finding.why = fmt::format(
        "counted in one frame; {} recompilations are half of what PyTorch allows before it gives "
        "up",
        kStorm);
    findings_.push_back(std::move(finding));
  }

  void ReportLimit(const Facts& facts) {
    Finding finding = About(facts);
    finding.rule = "compile.recompile_limit";
    const int32_t limit = facts.hit ? facts.limit : kLimit - 1;
    finding.headline = fmt::format(
        "{} reached the limit of {}recompilations: {}{}",
        Code(facts.function, facts.file, facts.line), limit > 0 ? fmt::format("{} ", limit) : "",
        facts.raised ? "PyTorch raised an exception" : "new inputs run uncompiled",
        LastChange(facts));
    finding.confidence = facts.hit ? 1 : 0.7;
    finding.why = facts.hit ? "the exception names the limit"
                            : "8 versions are as many as PyTorch keeps by default";
    findings_.push_back(std::move(finding));
  }

  Finding Stopped(size_t row) const {
    Finding finding = NewFinding("compile.failed", rows_.job[row], rows_.attempt[row],
                                 Severity::kError, Role::kCause);
    const std::string place = Code(StringId::kNone, rows_.fail_file[row], rows_.fail_line[row]);
    finding.headline =
        fmt::format("Tracing {} stopped at {}",
                    Code(rows_.function[row], rows_.file[row], rows_.line[row]), place);
    AddRank(finding.ranks, rows_.rank[row]);
    finding.compile_ids = {std::string(pools_.Text(rows_.compile_id[row]))};
    finding.source.push_back(
        {rows_.rank[row], std::string(pools_.Text(rows_.fail_file[row])), rows_.fail_line[row]});
    finding.evidence.push_back({"the graph as far as it was traced ends at this line",
                                "compilation",
                                {static_cast<int64_t>(row)}});
    finding.confidence = 0.8;
    finding.why = "an exception ended it; the program may have caught it";
    finding.next_step = fmt::format("Look at {} and at the exception in the output.", place);
    return finding;
  }

  Finding Unfinished(size_t row) const {
    const bool is_last = rows_.is_last[row] != 0;
    Finding finding = NewFinding("compile.unfinished", rows_.job[row], rows_.attempt[row],
                                 is_last ? Severity::kError : Severity::kWarning, Role::kCause);
    const bool is_backward = rows_.ops[row] != kNone64;  // the frame itself has its metrics
    const std::string_view id = pools_.Text(rows_.compile_id[row]);
    const std::string what = is_backward   ? "The backward graph of"
                             : id == "-/-" ? "Compiling"
                                           : fmt::format("Compilation {} of", id);
    finding.headline =
        fmt::format("{} {} began{} and never ended{}", what,
                    Code(rows_.function[row], rows_.file[row], rows_.line[row]),
                    is_backward ? " to compile" : "", is_last ? ": the log ends inside of it" : "");
    finding.compile_ids = {std::string(pools_.Text(rows_.compile_id[row]))};
    finding.evidence.push_back({is_backward ? "phases of the compiler that began and did not end"
                                            : "begun, and no metrics of its graph",
                                "compilation",
                                {}});
    finding.confidence = is_last ? 0.8 : 0.6;
    finding.why = is_last ? "nothing follows it in the log; a log that was cut looks the same"
                          : "the metrics of its graph are missing; the process went on";
    const std::string_view where = "the output of this rank for the exception or the kill";
    finding.next_step = id == "-/-" ? fmt::format("Look at {}.", where)
                                    : fmt::format("Look at what {} compiles, and at {}.",
                                                  pools_.Text(rows_.function[row]), where);
    return finding;
  }

  void AddSource(int32_t rank, size_t row, Finding& finding) const {
    if (finding.source.size() >= kMostRows || rows_.file[row] == StringId::kNone) return;
    finding.source.push_back({rank, std::string(pools_.Text(rows_.file[row])), rows_.line[row]});
  }

  const Pools& pools_;
  const CompilationTable& rows_;
  const CompileRecompileTable& recompiles_;
  std::vector<Finding>& findings_;
  std::vector<Facts> facts_;
};

}  // namespace

size_t MainRow(const CompileRecompileTable& rows, const Pools& pools, size_t first) {
  auto key = [&](size_t row) {
    return std::tuple(rows.kind[row], rows.source[row], rows.dimension[row]);
  };
  // What is understood counts before what is not: threads that compile at once leave "Unexpected
  // recompilation" beside the guard that failed.
  std::map<std::tuple<StringId, StringId, int32_t>, size_t> votes;
  for (size_t row = first; row < rows.size(); ++row) ++votes[key(row)];
  auto weight = [&](size_t row) {
    return std::pair(pools.Text(rows.kind[row]) != "other", votes[key(row)]);
  };
  size_t main = first;
  for (size_t row = first + 1; row < rows.size(); ++row) {
    if (weight(row) > weight(main)) main = row;
  }
  return main;
}

void AddFindings(const std::vector<MainChange>& changes, AnalysisResult& result) {
  Reporter reporter(result.part, result.findings);
  reporter.Gather(changes);
  reporter.ReportRecompiles();
  reporter.ReportStopped();
  reporter.ReportUnfinished();
}

}  // namespace debrief::analyses::compile_recompiles
