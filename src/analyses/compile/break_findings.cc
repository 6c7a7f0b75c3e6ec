#include "analyses/compile/break_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/compile/break_text.h"
#include "analyses/compile/rows.h"
#include "base/text/columns.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "model/headline.h"
#include "tables/compile_break.h"
#include "tables/compile_failure.h"
#include "torch/code_words.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::compile_breaks {

namespace {

constexpr size_t kMostShown = 16;
constexpr size_t kReasonWidth = 40;  // of a headline

std::string Place(const Pools& pools, StringId file, int32_t line) {
  return CodeInWords("", pools.Text(file), line);
}

// The reason as a headline has it: PyTorch 2.6 puts a class before it and the types of its own
// variables behind it ("Unsupported: builtin: print [<class 'torch._dynamo...'>] False").
std::string_view PlainReason(std::string_view reason) {
  TakePrefix(reason, "Unsupported: ");
  return Trimmed(reason.substr(0, reason.find(" [<class '")));
}

// One distinct break over all ranks of an attempt.
struct DistinctBreak {
  std::vector<int64_t> rows;
  int64_t count = 0;
  double seconds = 0;  // of the rank that lost most
};

using BreakKey = std::tuple<StringId, StringId, int32_t>;  // reason, file, line

class BreakReporter {
 public:
  explicit BreakReporter(const Part& part)
      : pools_(part.pools), rows_(part.tables.Get<CompileBreakTable>()) {}

  // `others`: further breaks ended a compilation, and are told as its failure.
  Finding Report(const std::vector<size_t>& rows, bool others) const {
    std::vector<DistinctBreak> told = Distinct(rows);
    const size_t first = static_cast<size_t>(told[0].rows[0]);
    Finding finding = NewFinding("compile.graph_breaks", rows_.job[first], rows_.attempt[first],
                                 Severity::kWarning, Role::kCause);
    finding.headline =
        fmt::format("{} in compiled code{} {}: {}",
                    Plural(told.size(), others ? "more graph break" : "graph break"),
                    told.size() == 1           ? " at"
                    : told.front().seconds > 0 ? "; the costliest at"
                                               : "; the first at",
                    Place(pools_, rows_.user_file[first], rows_.user_line[first]),
                    ShortText(PlainReason(pools_.Text(rows_.reason[first])), kReasonWidth));
    for (size_t i = 0; i < std::min(told.size(), kMostShown); ++i) AddEvidence(told[i], finding);
    for (size_t row : rows) AddRank(finding.ranks, rows_.rank[row]);
    finding.why = "the compiler logged each of them";
    finding.next_step = NextStep(first);
    return finding;
  }

 private:
  // Costliest first.
  std::vector<DistinctBreak> Distinct(const std::vector<size_t>& rows) const {
    std::map<BreakKey, size_t> places;
    std::vector<DistinctBreak> told;
    for (size_t row : rows) {
      auto [found, is_new] = places.try_emplace(
          BreakKey(rows_.reason[row], rows_.user_file[row], rows_.user_line[row]), told.size());
      if (is_new) told.emplace_back();
      DistinctBreak& to = told[found->second];
      to.rows.push_back(static_cast<int64_t>(row));
      to.count += rows_.count[row];
      to.seconds = std::max(to.seconds, rows_.wasted_s[row] + rows_.resume_s[row]);
    }
    std::sort(told.begin(), told.end(), [](const DistinctBreak& a, const DistinctBreak& b) {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.rows[0] < b.rows[0];
    });
    return told;
  }

  void AddEvidence(const DistinctBreak& told, Finding& finding) const {
    const size_t row = static_cast<size_t>(told.rows[0]);
    finding.evidence.push_back(
        {fmt::format("{} in {} at {}: {} ({}{})", pools_.Text(rows_.kind[row]),
                     pools_.Text(rows_.functions[row]),
                     Place(pools_, rows_.user_file[row], rows_.user_line[row]),
                     pools_.Text(rows_.reason[row]),
                     told.count == 1 ? "once" : fmt::format("{} times", told.count),
                     told.seconds > 0 ? ", " + SecondsText(told.seconds) : ""),
         "compile_break", told.rows});
    finding.compile_ids.emplace_back(pools_.Text(rows_.first_compile_id[row]));
    finding.source.push_back(
        {rows_.rank[row], std::string(pools_.Text(rows_.user_file[row])), rows_.user_line[row]});
  }

  // The compiler's first hint, else to look at the line.
  std::string NextStep(size_t row) const {
    const std::string_view hints = pools_.Text(rows_.hints[row]);
    if (!hints.empty()) return std::string(FirstLine(hints));
    return fmt::format("Look at {}; torch.compile(..., fullgraph=True) stops at each graph break.",
                       Place(pools_, rows_.user_file[row], rows_.user_line[row]));
  }

  const Pools& pools_;
  const CompileBreakTable& rows_;
};

// RuntimeError('a and b must have ...') of "got RuntimeError('a and b must have ...')", which
// stands in the explanation where the compiler ran an op without data: "RuntimeError: a and b must
// ...".
std::string WhatTheOpRaised(std::string_view explanation) {
  constexpr std::string_view kGot = ": got ";
  const size_t at = explanation.rfind(kGot);
  if (at == std::string_view::npos) return {};
  explanation.remove_prefix(at + kGot.size());
  const size_t open = explanation.find('(');
  if (open == std::string_view::npos || open + 3 > explanation.size()) return {};
  const std::string_view name = explanation.substr(0, open);
  const char quote = explanation[open + 1];
  const size_t end = explanation.rfind(quote);
  if (name.find(' ') != std::string_view::npos || (quote != '\'' && quote != '"')) return {};
  if (end <= open + 1) return {};
  return ShortText(fmt::format("{}: {}", name, explanation.substr(open + 2, end - open - 2)));
}

bool IsException(std::string_view name) {
  return name.find(' ') == std::string_view::npos &&
         (name.ends_with("Error") || name.ends_with("Exception"));
}

// "LoweringException: RuntimeError: no tile fits" wraps "RuntimeError: no tile fits".
std::string_view WithoutWrappers(std::string_view reason) {
  for (size_t colon = reason.find(": "); colon != std::string_view::npos;
       colon = reason.find(": ")) {
    const std::string_view inner = reason.substr(colon + 2);
    const size_t end = inner.find(": ");
    if (end == std::string_view::npos || !IsException(reason.substr(0, colon)) ||
        !IsException(inner.substr(0, end)))
      break;
    reason = inner;
  }
  return reason;
}

// What is the matter with an op is told behind the call: "Failed running call_function mm(...):".
std::string_view BehindTheCall(std::string_view text, std::string_view reason) {
  const std::string_view call = TakeLine(text);
  return call.starts_with("Failed running ") && call.ends_with(':') ? FirstLine(text) : reason;
}

// What is violated, of "Constraints violated (L['x'].size()[0])! For more ...", which are lines of
// a list: "You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant
// (8). If you're using mark_dynamic, ..."
std::string_view FirstConstraint(std::string_view text) {
  constexpr std::string_view kItem = "\n  - ";
  const size_t at = text.find(kItem);
  if (!text.starts_with("Constraints violated") || at == std::string_view::npos) return {};
  return FirstLine(text.substr(at + kItem.size()));
}

// "x.size()[0] is marked dynamic, but the code makes it 8"; others in their own words.
std::string ConstraintInWords(std::string_view constraint) {
  constexpr std::string_view kMarked = "You marked ";
  constexpr std::string_view kMade = " as dynamic but your code specialized it to be a constant (";
  const size_t made = constraint.find(kMade);
  if (!constraint.starts_with(kMarked) || made == std::string_view::npos)
    return std::string(constraint.substr(0, constraint.find(". ")));
  std::string_view source = constraint.substr(kMarked.size(), made - kMarked.size());
  const std::string_view value = constraint.substr(made + kMade.size());
  std::string name(source);
  if (const size_t close = source.find("']");
      TakePrefix(source, "L['") && close != std::string_view::npos)
    name = fmt::format("{}{}", source.substr(0, close - 3), source.substr(close - 1));
  return fmt::format("{} is marked dynamic, but the code makes it {}", name,
                     value.substr(0, value.find(')')));
}

// What the C++ compiler said first, of "CppCompileError: C++ compile error\n\nCommand:\n...
// Output:\nx.cpp:1:10: fatal error: torch/cpu.h: No such file or directory"; empty when it did not.
std::string_view SaidByCompiler(std::string_view text) {
  constexpr std::string_view kOutput = "\nOutput:\n", kError = "error: ";
  const size_t output = text.find(kOutput);
  if (output == std::string_view::npos) return {};
  const size_t at = text.find(kError, output);
  if (at == std::string_view::npos) return {};
  const std::string_view said = FirstLine(text.substr(at + kError.size()));
  const size_t folder = said.substr(0, said.find(' ')).rfind('/');  // of a header
  return said.substr(folder + 1);                                   // npos + 1 is 0
}

// Exceptions of the compiler wrap another, which is what happened: "AttributeError: ..." of
// InternalTorchDynamoError, "RuntimeError: ..." of "backend='inductor' raised: RuntimeError: ...".
// What is not supported is said by its reason alone.
std::string WhatWasRaised(std::string_view type, std::string_view reason, std::string_view text) {
  if (const std::string_view constraint = FirstConstraint(text); !constraint.empty())
    return ConstraintInWords(constraint);
  if (const std::string_view said = SaidByCompiler(text); !said.empty())
    return fmt::format("C++ error: {}", said);
  constexpr std::string_view kRaised = " raised: ";
  if (const size_t at = reason.find(kRaised); at != std::string_view::npos)
    reason.remove_prefix(at + kRaised.size());
  reason = BehindTheCall(text, WithoutWrappers(reason));
  const size_t colon = reason.find(": ");
  // Inductor wraps whatever was raised, also what is not called an error ("InvalidCxxCompiler").
  const std::string_view name = reason.substr(0, std::min(colon, reason.size()));
  const bool is_class = type == "InductorError" && !name.empty() && IsUpper(name[0]) &&
                        name.find(' ') == std::string_view::npos;
  const bool wraps = colon != std::string_view::npos && (IsException(name) || is_class);
  if (wraps || type == "Unsupported") return ShortText(PlainReason(reason));
  if (std::string op = WhatTheOpRaised(ParseBreakText(text).explanation); !op.empty()) return op;
  return reason.empty() ? std::string(type) : ShortText(fmt::format("{}: {}", type, reason));
}

// A function, and where it is unless the line that failed follows.
std::string WhatFailed(const Pools& pools, const CompileFailureTable& rows, size_t row,
                       bool has_line) {
  const std::string_view function = pools.Text(rows.function[row]);
  if (has_line && !function.empty()) return std::string(function);
  return CodeInWords(function, pools.Text(rows.file[row]), rows.line[row]);
}

Finding Failure(const Pools& pools, const CompileFailureTable& rows, size_t row) {
  const bool falls_back = rows.falls_back[row] != 0;
  Finding finding = NewFinding("compile.failed", rows.job[row], rows.attempt[row],
                               falls_back ? Severity::kWarning : Severity::kError, Role::kCause);
  // PyTorch may name a line of its own: where the function is says more.
  const bool has_line =
      rows.user_file[row] != StringId::kNone && rows.user_line[row] != kNone32 &&
      (IsUserFile(pools.Text(rows.user_file[row])) || !IsUserFile(pools.Text(rows.file[row])));
  finding.headline =
      fmt::format("Compiling {} failed{}: ", WhatFailed(pools, rows, row, has_line),
                  has_line ? " at " + Place(pools, rows.user_file[row], rows.user_line[row]) : "");
  finding.headline += ShortText(
      WhatWasRaised(pools.Text(rows.fail_type[row]), pools.Text(rows.reason[row]),
                    pools.Text(rows.text[row])),
      std::max(kReasonWidth,
               kLongestHeadline - std::min(TextWidth(finding.headline), kLongestHeadline)));
  finding.compile_ids = {std::string(pools.Text(rows.compile_id[row]))};
  finding.source.push_back(
      has_line
          ? SourceLine{rows.rank[row], std::string(pools.Text(rows.user_file[row])),
                       rows.user_line[row]}
          : SourceLine{rows.rank[row], std::string(pools.Text(rows.file[row])), rows.line[row]});
  finding.evidence.push_back(
      {fmt::format("{}: {}", pools.Text(rows.fail_type[row]), pools.Text(rows.reason[row])),
       "compile_failure",
       {}});
  finding.confidence = falls_back ? 0.9 : 0.8;
  finding.why = falls_back ? "it was logged and not raised: the function runs uncompiled"
                           : "no graph break was logged for it, so the exception was raised; the "
                             "program may have caught it";
  const BreakText said = ParseBreakText(pools.Text(rows.text[row]));
  finding.next_step = fmt::format(
      "Read all of it: debrief query OUT \"SELECT text FROM compile_failure WHERE compile_id = "
      "'{}'\"",
      finding.compile_ids[0]);
  if (!said.hints.empty()) finding.next_step = FirstLine(said.hints[0]);
  const std::string_view constraint = FirstConstraint(pools.Text(rows.text[row]));
  if (const size_t advice = constraint.find(". "); advice != std::string_view::npos)
    finding.next_step = constraint.substr(advice + 2);
  return finding;
}

void AddBreaks(const Part& part, std::vector<Finding>& findings) {
  const auto& rows = part.tables.Get<CompileBreakTable>();
  std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> attempts;
  std::set<std::pair<int32_t, int32_t>> with_failures;
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::pair who(rows.job[row], rows.attempt[row]);
    if (part.pools.Text(rows.kind[row]) == "failure")
      with_failures.insert(who);
    else
      attempts[who].push_back(row);
  }
  const BreakReporter reporter(part);
  for (const auto& [who, of_attempt] : attempts)
    findings.push_back(reporter.Report(of_attempt, with_failures.contains(who)));
}

void AddFailures(const Part& part, std::vector<Finding>& findings) {
  const auto& rows = part.tables.Get<CompileFailureTable>();
  using Key = std::tuple<int32_t, int32_t, StringId, StringId, int32_t, StringId, StringId>;
  std::map<Key, size_t> told;
  for (size_t row = 0; row < rows.size(); ++row) {
    // compile.recompile_limit says so, with what changed.
    if (StaysAtRecompileLimit(part.pools.Text(rows.fail_type[row]),
                              part.pools.Text(rows.reason[row])))
      continue;
    const Key key(rows.job[row], rows.attempt[row], rows.function[row], rows.file[row],
                  rows.line[row], rows.fail_type[row], rows.reason[row]);
    auto found = told.find(key);
    if (found == told.end()) {
      if (told.size() == kMostShown) continue;  // the table has them all
      found = told.emplace(key, findings.size()).first;
      findings.push_back(Failure(part.pools, rows, row));
    }
    Finding& finding = findings[found->second];
    AddRank(finding.ranks, rows.rank[row]);
    if (finding.evidence[0].rows.size() < kMostShown)
      finding.evidence[0].rows.push_back(static_cast<int64_t>(row));
  }
}

}  // namespace

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  AddBreaks(part, findings);
  AddFailures(part, findings);
}

}  // namespace debrief::analyses::compile_breaks
