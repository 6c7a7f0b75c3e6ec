// What does NCCL RAS tell about a job that hangs? Processes that are dead or do not answer, errors
// of communicators, ranks that have launched fewer operations than the others.
//
// Counts are of operations launched: a busy job shows small differences at any moment, so one
// answer is weak and two that tell the same are strong.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/text/process_ranks.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/process_exit.h"
#include "tables/process_identity.h"
#include "tables/ras_rank.h"
#include "tables/stack_dump.h"
#include "torch/collective_names.h"

namespace debrief::analyses::text_ras {

namespace {

constexpr auto kNeeds = kTableNames<RasRankTable>;
constexpr auto kUses = kTableNames<ProcessExitTable, ProcessIdentityTable, StackDumpTable>;
constexpr int64_t kSmallGap = 2;  // a moment's difference of a job that runs

// The rows of one answer.
using Answer = std::vector<size_t>;

struct Answers {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::vector<Answer> answers;  // oldest first
};

std::vector<Answers> CollectAnswers(const Model& model) {
  const auto& table = model.tables.Get<RasRankTable>();
  using Order = std::tuple<int64_t, int32_t, int32_t>;  // time, input, number in it
  std::map<std::pair<int32_t, int32_t>, std::map<Order, Answer>> all;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.job[i] == kNone32) continue;
    Order order{table.time_ns[i], table.input[i], table.snapshot[i]};
    all[{table.job[i], table.attempt[i]}][order].push_back(i);
  }
  std::vector<Answers> result;
  for (auto& [key, ordered] : all) {
    Answers& answers = result.emplace_back(Answers{key.first, key.second, {}});
    for (auto& [order, rows] : ordered) answers.answers.push_back(std::move(rows));
  }
  return result;
}

// Ranks of one communicator that have launched the same number of one operation.
struct Level {
  int32_t ranks = 0;
  std::vector<size_t> named;  // rows
  std::vector<size_t> rows;
};
using Levels = std::map<int64_t, Level>;                                         // by count
using Counts = std::map<std::pair<std::string_view, std::string_view>, Levels>;  // comm and op

class Judging {
 public:
  Judging(const Model& model, const ProcessRanks& processes, const Answers& answers,
          std::vector<Finding>& findings)
      : model_(model),
        table_(model.tables.Get<RasRankTable>()),
        processes_(processes),
        answers_(answers),
        findings_(findings) {}

  void Judge() {
    AddProcesses("dead");
    AddProcesses("missing");
    AddErrors();
    AddBehind();
    AddLeft();
  }

 private:
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }
  bool IsState(size_t row, std::string_view state) const {
    return Text(table_.state[row]) == state;
  }
  bool IsNamed(size_t row) const {
    return table_.comm_rank[row] != kNone32 || table_.pid[row] != kNone64;
  }

  int32_t RankOf(size_t row) const {
    if (table_.rank[row] != kNone32) return table_.rank[row];
    return processes_.RankOf(answers_.job, answers_.attempt, table_.pid[row]);
  }

  std::vector<int32_t> RanksOf(const std::vector<size_t>& rows) const {
    std::set<int32_t> ranks;
    for (size_t row : rows) ranks.insert(RankOf(row));
    ranks.erase(kNone32);
    return {ranks.begin(), ranks.end()};
  }

  // "Rank 2", or what else names it.
  std::string Subject(const std::vector<size_t>& rows) const {
    std::vector<int32_t> ranks = RanksOf(rows);
    if (!ranks.empty()) return RanksAsSubject(ranks);
    size_t row = rows.front();
    if (table_.pid[row] != kNone64) {
      return fmt::format("Process {} on {}", table_.pid[row], Text(table_.host[row]));
    }
    return fmt::format("Rank {} of communicator {}", table_.comm_rank[row], Text(table_.comm[row]));
  }

  std::string RowInWords(size_t row) const {
    std::string text = fmt::format("NCCL RAS: {}", Text(table_.state[row]));
    if (table_.count[row] != kNone64)
      text = fmt::format("NCCL RAS: {} launched {}", timeline::PublicOp(Text(table_.op[row])),
                         table_.count[row]);
    if (table_.ranks[row] > 1) text += fmt::format(" by {} ranks", table_.ranks[row]);
    if (table_.comm_rank[row] != kNone32) text += fmt::format(" by rank {}", table_.comm_rank[row]);
    if (table_.comm[row] != StringId::kNone)
      text += fmt::format(" of communicator {}", Text(table_.comm[row]));
    if (table_.text[row] != StringId::kNone) text += fmt::format(", {}", Text(table_.text[row]));
    if (table_.pid[row] != kNone64)
      text += fmt::format(" (process {} on {})", table_.pid[row], Text(table_.host[row]));
    return text;
  }

  Finding NewFinding(std::string_view rule, Severity severity, const std::vector<size_t>& rows) {
    Finding finding;
    finding.rule = rule;
    finding.severity = severity;
    finding.role = Role::kCause;
    finding.job = answers_.job;
    finding.attempt = answers_.attempt;
    finding.ranks = RanksOf(rows);
    AddEvidence(rows, finding);
    return finding;
  }

  void AddEvidence(const std::vector<size_t>& rows, Finding& finding) const {
    constexpr size_t kMostTold = 6;
    for (size_t n = 0; n < rows.size() && n < kMostTold; ++n) {
      finding.evidence.push_back(
          {RowInWords(rows[n]), "ras_rank", {static_cast<int64_t>(rows[n])}});
    }
  }

  void AddProcesses(std::string_view state) {
    std::vector<size_t> named;
    int32_t counted = 0;
    for (size_t row : answers_.answers.back()) {
      if (!IsState(row, state)) continue;
      if (IsNamed(row)) named.push_back(row);
      counted = std::max(counted, table_.ranks[row]);
    }
    bool dead = state == "dead";
    std::string_view does = dead ? "is dead: NCCL RAS cannot reach it" : "does not answer NCCL RAS";
    if (named.empty() && counted <= 0) return;
    Finding finding =
        NewFinding(dead ? "text_ras.dead" : "text_ras.no_answer", Severity::kError, named);
    bool one = finding.ranks.size() == 1 || (finding.ranks.empty() && named.size() == 1);
    if (!one) does = dead ? "are dead: NCCL RAS cannot reach them" : "do not answer NCCL RAS";
    finding.headline =
        named.empty()
            ? fmt::format("{} of the job {}", Plural(static_cast<size_t>(counted), "rank"), does)
            : fmt::format("{} {}", Subject(named), does);
    finding.confidence = dead ? 0.85 : 0.7;
    finding.why = "NCCL RAS reports it";
    finding.next_step = "Look at that process and its host: output, exit code, kernel log.";
    findings_.push_back(std::move(finding));
  }

  void AddErrors() {
    std::vector<size_t> own;
    for (size_t row : answers_.answers.back()) {
      bool remote = Text(table_.text[row]) == "Remote process error";
      if (IsState(row, "error") && IsNamed(row) && !remote) own.push_back(row);
    }
    if (own.empty()) return;
    Finding finding = NewFinding("text_ras.error", Severity::kError, own);
    finding.headline =
        fmt::format("{} reports to NCCL RAS: {}", Subject(own), Text(table_.text[own.front()]));
    finding.confidence = 0.8;
    finding.why = "errors about other processes are left out; this one is its own";
    finding.next_step = "Look at the output of that rank, and at the kernel log of its machine.";
    findings_.push_back(std::move(finding));
  }

  Counts CountsOf(const Answer& answer) const {
    Counts counts;
    for (size_t row : answer) {
      if (!IsState(row, "counted") || table_.count[row] == kNone64) continue;
      Level& level = counts[{Text(table_.comm[row]), Text(table_.op[row])}][table_.count[row]];
      level.rows.push_back(row);
      if (IsNamed(row)) level.named.push_back(row);
      level.ranks =
          std::max({level.ranks, table_.ranks[row], static_cast<int32_t>(level.named.size())});
    }
    return counts;
  }

  struct Outlier {
    int64_t count = 0, most_count = 0;
    const Level* level = nullptr;
    const Level* most = nullptr;
    std::string_view op;
    bool stuck = false;

    int64_t gap() const { return most_count - count; }
  };

  // The few that have launched fewest; nothing where there is no majority.
  static std::optional<Outlier> FindOutlier(std::string_view op, const Levels& levels) {
    Outlier found;
    found.op = op;
    for (const auto& [count, level] : levels) {
      if (found.most == nullptr || level.ranks > found.most->ranks) {
        found.most = &level;
        found.most_count = count;
      }
    }
    const auto& [lowest, level] = *levels.begin();
    const auto& [highest, top] = *levels.rbegin();
    bool behind = lowest < found.most_count;
    found.count = behind ? lowest : highest;
    found.level = behind ? &level : &top;
    bool usable =
        levels.size() > 1 && found.level->ranks < found.most->ranks && !found.level->named.empty();
    return usable ? std::optional(found) : std::nullopt;
  }

  void AddBehind() {
    Counts now = CountsOf(answers_.answers.back());
    Counts before;
    if (answers_.answers.size() > 1)
      before = CountsOf(answers_.answers[answers_.answers.size() - 2]);
    std::optional<Outlier> worst;
    for (const auto& [key, levels] : now) {
      std::optional<Outlier> outlier = FindOutlier(key.second, levels);
      if (!outlier) continue;
      auto earlier = before.find(key);
      outlier->stuck = earlier != before.end() && earlier->second.contains(outlier->count) &&
                       earlier->second.contains(outlier->most_count);
      if (!outlier->stuck && std::abs(outlier->gap()) <= kSmallGap) continue;
      auto weight = [](const Outlier& each) {
        return std::tuple(each.stuck, each.gap() > 0, each.most->ranks, std::abs(each.gap()));
      };
      if (!worst || weight(*outlier) > weight(*worst)) worst = outlier;
    }
    if (worst) AddOutlier(*worst);
  }

  void AddOutlier(const Outlier& outlier) {
    Finding finding =
        NewFinding("text_ras.behind", outlier.stuck ? Severity::kError : Severity::kWarning,
                   outlier.level->named);
    AddEvidence({outlier.most->rows.front()}, finding);
    finding.headline = fmt::format(
        "{} {} launched {} {} operations, {} {}", Subject(outlier.level->named),
        outlier.level->named.size() == 1 ? "has" : "have", outlier.count,
        timeline::PublicOp(outlier.op),
        Plural(static_cast<size_t>(outlier.most->ranks), "other rank"), outlier.most_count);
    finding.confidence = outlier.stuck ? 0.85 : 0.5;
    if (outlier.gap() < 0) finding.confidence -= 0.1;
    finding.why = outlier.stuck ? "two answers of NCCL RAS have the same counts: nothing moved"
                                : "one answer of NCCL RAS; a job that runs shows differences for a "
                                  "moment, a second answer would settle it";
    finding.next_step = "See where that rank is: its stack, its output.";
    findings_.push_back(std::move(finding));
  }

  // Who no longer is in a communicator in which the others run.
  void AddLeft() {
    std::map<std::string_view, std::pair<int32_t, std::vector<size_t>>> comms;
    for (size_t row : answers_.answers.back()) {
      if (!IsState(row, "status")) continue;
      auto& [running, left] = comms[Text(table_.comm[row])];
      std::string_view status = Text(table_.text[row]);
      if (status == "RUNNING")
        running += IsNamed(row) && table_.ranks[row] == 1 ? 1 : table_.ranks[row];
      if ((status == "NOCOMM" || status == "FINALIZE") && IsNamed(row)) left.push_back(row);
    }
    for (const auto& [comm, sides] : comms) {
      const auto& [running, left] = sides;
      if (left.empty() || static_cast<int32_t>(left.size()) >= running) continue;
      Finding finding = NewFinding("text_ras.left", Severity::kWarning, left);
      finding.headline = fmt::format("{} {} left a communicator in which {} still run",
                                     Subject(left), left.size() == 1 ? "has" : "have",
                                     Plural(static_cast<size_t>(running), "rank"));
      finding.confidence = 0.55;
      finding.why =
          "one answer of NCCL RAS; ranks leave a moment apart when a job ends as it should";
      finding.next_step = "Look at how that rank ended its program.";
      findings_.push_back(std::move(finding));
      return;
    }
  }

  const Model& model_;
  const RasRankTable& table_;
  const ProcessRanks& processes_;
  const Answers& answers_;
  std::vector<Finding>& findings_;
};

Status Run(const Model& model, AnalysisResult& result) {
  ProcessRanks processes(model);
  for (const Answers& answers : CollectAnswers(model))
    Judging(model, processes, answers, result.findings).Judge();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_ras",
               .sentence = "Whom does NCCL RAS report as dead, silent or behind the others?",
               .example = "Rank 2 has launched 32 all_reduce operations, 7 other ranks 35",
               .needs = kNeeds,
               .makes = {},
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_ras
