#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analyses/compile/rank_compare/rank_compare.h"
#include "analyses/compile/rows.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "tables/compile_entry.h"
#include "tables/compile_first_difference.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_span.h"
#include "torch/code_words.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

// Ranks meet in the first collective after compiling, so the others wait for the slowest. In the
// recorded jobs whose ranks compile the same, caches that some ranks hit first included, the
// slowest takes up to 1.25 times the median: half more is beyond that. Ten seconds is a choice, not
// a measurement: less is not worth a warning.
constexpr double kSlowFactor = 1.5;
constexpr double kSlowSeconds = 10;

size_t SpanOf(const Difference& difference) {
  return difference.span_b != kNoRow ? difference.span_b : difference.span_a;
}

constexpr double kWorthTelling = 0.1;  // seconds of a compilation

std::string InWords(const UnitKey& unit) {
  const std::string nth =
      unit.nth == 0 ? "" : fmt::format(" again (compilation {} of it)", unit.nth + 1);
  return CodeInWords(unit.function, unit.file, unit.line) + nth;
}

// All that says the same of the same ranks, in the order in which it happened.
struct Verdict {
  Kind kind;
  std::vector<int32_t> ranks;
  std::vector<const Difference*> differences;
};

std::vector<Verdict> GatherVerdicts(const Model& model,
                                    const std::vector<Difference>& differences) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  std::map<std::pair<Kind, const UnitKey*>, std::vector<const Difference*>> by_unit;
  for (const Difference& one : differences) by_unit[{one.kind, one.unit}].push_back(&one);
  std::map<std::pair<Kind, std::vector<int32_t>>, std::vector<const Difference*>> by_ranks;
  for (const auto& [key, of_unit] : by_unit) {
    std::vector<int32_t> ranks;
    for (const Difference* one : of_unit) ranks.push_back(one->rank_b);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    auto& all = by_ranks[{key.first, ranks}];
    all.insert(all.end(), of_unit.begin(), of_unit.end());
  }
  std::vector<Verdict> verdicts;
  for (auto& [key, all] : by_ranks) {
    std::sort(all.begin(), all.end(), [&](const Difference* a, const Difference* b) {
      return std::tuple(spans.start_ns[SpanOf(*a)], a->rank_b, a->graph_b) <
             std::tuple(spans.start_ns[SpanOf(*b)], b->rank_b, b->graph_b);
    });
    verdicts.push_back({key.first, key.second, std::move(all)});
  }
  return verdicts;
}

std::string Headline(const Model& model, const Job& job, const Verdict& verdict) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  const Difference& first = *verdict.differences.front();
  const bool one = verdict.ranks.size() == 1;
  const std::string unit = InWords(*first.unit);
  const std::string_view noun = first.unit->function.empty() ? "" : "function ";
  std::set<const UnitKey*> units;
  for (const Difference* difference : verdict.differences) units.insert(difference->unit);
  const size_t more = units.size() - 1;
  const std::string rest = more == 0 ? "" : fmt::format(", and {} more", more);
  const double seconds = spans.seconds[SpanOf(first)];
  const std::string took = std::isfinite(seconds) && seconds >= kWorthTelling
                               ? " for " + DurationInWords(std::llround(seconds * 1e9))
                               : "";
  std::string what;
  if (verdict.kind == Kind::kExtra)
    what = fmt::format("alone {} {}{}{}{}", one ? "compiles" : "compile", noun, unit, took, rest);
  if (verdict.kind == Kind::kMissing)
    what = fmt::format("{} not compile {}{}{}, which all other ranks do", one ? "does" : "do", noun,
                       unit, rest);
  if (verdict.kind == Kind::kGraph)
    what = fmt::format("{} another graph for {}{}{} than the other ranks",
                       one ? "compiles" : "compile", noun, unit, rest);
  std::string text = fmt::format("{} {}", RanksAsSubject(verdict.ranks), what);
  if (job.ranks.size() == 2) text += "; with two ranks, either may be right";
  return text;
}

// A rank whose log ends before the others begin did not decide otherwise: it had ended.
bool EndedBefore(const Model& model, const Job& job, const Verdict& verdict) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  if (verdict.kind != Kind::kMissing) return false;
  return std::all_of(
      verdict.differences.begin(), verdict.differences.end(), [&](const Difference* one) {
        auto last = job.last_ns.find(one->rank_b);
        return last != job.last_ns.end() && last->second < spans.start_ns[one->span_a];
      });
}

std::vector<int64_t> RowsOf(const Job& job, const Verdict& verdict, const Part& part) {
  const auto& firsts = part.tables.Get<CompileFirstDifferenceTable>();
  std::vector<int64_t> rows;
  for (size_t i = 0; i < firsts.size(); ++i) {
    const bool ours = firsts.job[i] == job.job && firsts.attempt[i] == job.attempt;
    if (ours && std::binary_search(verdict.ranks.begin(), verdict.ranks.end(), firsts.rank_b[i]))
      rows.push_back(static_cast<int64_t>(i));
  }
  return rows;
}

void AddEvidence(const Model& model, const Job& job, const Verdict& verdict, const Part& part,
                 Finding& finding) {
  constexpr size_t kMostUnits = 8;
  const auto& spans = model.tables.Get<CompileSpanTable>();
  std::set<const UnitKey*> told;
  for (const Difference* one : verdict.differences) {
    if (told.size() >= kMostUnits) break;
    if (!told.insert(one->unit).second) continue;
    const size_t span = SpanOf(*one);
    finding.compile_ids.emplace_back(model.pools.Text(spans.compile_id[span]));
    finding.source.push_back({spans.rank[span], std::string(one->unit->file), one->unit->line});
  }
  const Difference& first = *verdict.differences.front();
  finding.evidence.push_back(
      {.text = first.text.empty() ? fmt::format("compile id {} on rank {}",
                                                model.pools.Text(spans.compile_id[SpanOf(first)]),
                                                spans.rank[SpanOf(first)])
                                  : fmt::format("rank {} there, rank {} here: {}", first.rank_a,
                                                first.rank_b, first.text),
       .table = "compile_first_difference",
       .rows = RowsOf(job, verdict, part)});
}

// A rank that compiles what no other does takes longer for that reason.
void Explain(std::vector<Finding>& findings, Finding& slow) {
  for (Finding& finding : findings) {
    if (finding.rule != "compile.rank_differs" || finding.role != Role::kCause) continue;
    if (finding.job != slow.job || finding.attempt != slow.attempt || finding.ranks != slow.ranks)
      continue;
    finding.explains.push_back(findings.size());
    slow.role = Role::kConsequence;
  }
}

}  // namespace

void AddFirstDifferences(const Model& model, const Job& job,
                         const std::vector<Difference>& differences, Part& part) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const auto& spans = model.tables.Get<CompileSpanTable>();
  std::map<int32_t, const Difference*> first;
  auto when = [&](const Difference& one) {
    return std::pair(spans.start_ns[SpanOf(one)],
                     one.kind == Kind::kGraph ? entries.entry[one.graph_b] : 0);
  };
  for (const Difference& one : differences) {
    const Difference*& earliest = first[one.rank_b];
    if (earliest == nullptr || when(one) < when(*earliest)) earliest = &one;
  }
  for (const auto& [rank, one] : first) {
    CompileFirstDifferenceRow row;
    row.job = job.job;
    row.attempt = job.attempt;
    row.rank_a = one->rank_a;
    row.rank_b = rank;
    row.kind = part.pools.Intern(KindName(one->kind));
    row.compile_id = part.pools.Intern(model.pools.Text(spans.compile_id[SpanOf(*one)]));
    if (one->kind == Kind::kGraph) {
      row.entry_a = entries.entry[one->graph_a];
      row.entry_b = entries.entry[one->graph_b];
      const StringId name = entries.name[one->graph_b];
      row.name = part.pools.Intern(
          model.pools.Text(name == StringId::kNone ? entries.kind[one->graph_b] : name));
    } else {
      if (one->span_a != kNoRow) row.entry_a = spans.entry[one->span_a];
      if (one->span_b != kNoRow) row.entry_b = spans.entry[one->span_b];
      row.name = part.pools.Intern(one->unit->function);
    }
    const std::string text = one->text.empty() ? InWords(*one->unit) : one->text;
    row.difference = part.pools.Intern(text);
    part.tables.Edit<CompileFirstDifferenceTable>().Add(row);
  }
}

void AddDifferenceFindings(const Model& model, const Job& job,
                           const std::vector<Difference>& differences, const Part& part,
                           std::vector<Finding>& findings) {
  for (const Verdict& verdict : GatherVerdicts(model, differences)) {
    const bool two = job.ranks.size() == 2;
    const bool ended = EndedBefore(model, job, verdict);
    const bool weak = two || ended || (verdict.kind == Kind::kGraph && verdict.ranks.size() > 1);
    Finding finding = NewFinding("compile.rank_differs", job.job, job.attempt,
                                 weak ? Severity::kInfo : Severity::kWarning,
                                 weak ? Role::kObservation : Role::kCause);
    finding.ranks = two ? job.ranks : verdict.ranks;
    finding.headline = Headline(model, job, verdict);
    finding.confidence = weak ? 0.4 : verdict.kind == Kind::kGraph ? 0.7 : 0.9;
    finding.why = ended ? "the log of the rank ends before the others compile it"
                  : two ? "two ranks only: either may be the odd one"
                        : fmt::format(
                              "the other {} agree with each other; compared by function, not by "
                              "compile id",
                              Plural(job.ranks.size() - verdict.ranks.size(), "rank"));
    finding.next_step =
        "Look for a branch on the rank, or an input that only this rank sees, before this "
        "function: "
        "debrief query OUT \"FROM compile_rank_only\"";
    AddEvidence(model, job, verdict, part, finding);
    findings.push_back(std::move(finding));
  }
}

void AddSlowFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& times = part.tables.Get<CompileRankTimeTable>();
  std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> attempts;
  for (size_t i = 0; i < times.size(); ++i) attempts[{times.job[i], times.attempt[i]}].push_back(i);
  for (auto& [who, rows] : attempts) {
    std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      return std::pair(times.seconds[a], times.rank[a]) <
             std::pair(times.seconds[b], times.rank[b]);
    });
    const double median = times.seconds[rows[(rows.size() - 1) / 2]];
    const size_t slowest = rows.back();
    const double more = times.seconds[slowest] - median;
    if (more < kSlowSeconds || times.seconds[slowest] < kSlowFactor * median) continue;
    Finding finding = NewFinding("compile.rank_slow", who.first, who.second, Severity::kWarning);
    finding.ranks = {times.rank[slowest]};
    finding.headline = fmt::format(
        "Rank {} compiles for {}, the median rank for {}; the others wait for it",
        times.rank[slowest], DurationInWords(std::llround(times.seconds[slowest] * 1e9)),
        DurationInWords(std::llround(median * 1e9)));
    finding.evidence.push_back(
        {.text = fmt::format("it compiled alone for {}", SecondsText(times.alone_s[slowest])),
         .table = "compile_rank_time",
         .rows = {static_cast<int64_t>(slowest)}});
    finding.confidence = 0.8;
    finding.why =
        "time in the compiler by its own events; that others wait is true of ranks that "
        "meet in a collective afterwards";
    finding.next_step =
        "See what it compiles: debrief query OUT \"FROM compile_span ORDER BY seconds DESC\"";
    Explain(findings, finding);
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::compile_rank_compare
