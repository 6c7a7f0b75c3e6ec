#include "analyses/verdict/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "model/rotated_inputs.h"
#include "tables/comm_dump.h"
#include "tables/compile_log.h"
#include "tables/text_event.h"
#include "tables/timeline.h"

namespace debrief::analyses::verdict {

namespace {

constexpr double kShareOfSecond = 0.6;
constexpr double kSurest = 0.99;

template <typename Table>
bool HasRows(const Board& board) {
  const auto& table = board.model().tables.Get<Table>();
  for (size_t i : board.OwnRows(table)) {
    if (table.rank[i] != kNone32) return true;
  }
  return false;
}

}  // namespace

std::vector<size_t> RowsOf(const Finding& finding, std::string_view table) {
  std::vector<size_t> rows;
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.table == table)
      rows.insert(rows.end(), evidence.rows.begin(), evidence.rows.end());
  }
  return rows;
}

double Agree(double confidence, double other) {
  double both = 1 - (1 - confidence) * (1 - kShareOfSecond * other);
  return std::min(both, std::max(kSurest, confidence));
}

bool ContainsAll(const std::vector<int32_t>& ranks, const std::vector<int32_t>& some) {
  return std::includes(ranks.begin(), ranks.end(), some.begin(), some.end());
}

AllAttempts::AllAttempts(const Model& model, const std::vector<Finding>& findings) : model_(model) {
  for (size_t i = 0; i < findings.size(); ++i)
    findings_[{findings[i].job, findings[i].attempt}].push_back(i);
}

const std::map<int32_t, int32_t>& AllAttempts::NewestParts() {
  if (!newest_parts_) newest_parts_ = debrief::NewestParts(model_);
  return *newest_parts_;
}

Board::Board(const Model& model, std::vector<Finding>& findings, int32_t job, int32_t attempt)
    : Board(model, findings, job, attempt, std::make_shared<AllAttempts>(model, findings)) {}

Board::Board(const Model& model, std::vector<Finding>& findings, int32_t job, int32_t attempt,
             std::shared_ptr<AllAttempts> all)
    : model_(model),
      findings_(findings),
      job_(job),
      attempt_(attempt),
      all_(std::move(all)),
      own_(all_->FindingsOf(job, attempt)) {
  data_.dumps = HasRows<CommDumpTable>(*this);
  data_.text = HasRows<TextEventTable>(*this);
  data_.compile_logs = HasRows<CompileLogTable>(*this);
  data_.profiles = HasRows<TimelineTable>(*this);
}

std::vector<size_t> Board::Find(std::string_view rule) const {
  std::vector<size_t> found;
  for (size_t i : own_) {
    const Finding& finding = findings_[i];
    const bool named = rule.empty() || rule == finding.rule ||
                       (rule.ends_with('.') && finding.rule.starts_with(rule));
    if (named) found.push_back(i);
  }
  return found;
}

std::vector<size_t> Board::FindCauses(std::string_view rule) const {
  std::vector<size_t> found = Find(rule);
  std::erase_if(found, [&](size_t i) { return findings_[i].role != Role::kCause; });
  return found;
}

std::vector<size_t> Board::RankedCauses() const {
  std::vector<size_t> causes = FindCauses();
  auto weight = [&](size_t i) {
    const Finding& finding = findings_[i];
    return std::tuple(-static_cast<int>(finding.severity), -finding.confidence,
                      std::string_view(finding.rule), std::string_view(finding.headline));
  };
  std::stable_sort(causes.begin(), causes.end(),
                   [&](size_t a, size_t b) { return weight(a) < weight(b); });
  return causes;
}

size_t Board::Add(Finding finding) {
  finding.job = job_;
  finding.attempt = attempt_;
  own_.push_back(findings_.size());
  findings_.push_back(std::move(finding));
  return own_.back();
}

// Findings are few and chains short; what was seen is not asked again.
bool Board::Reaches(size_t from, size_t to) const {
  std::vector<size_t> open = {from};
  std::set<size_t> seen;
  while (!open.empty()) {
    size_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    if (!seen.insert(at).second) continue;
    const std::vector<size_t>& next = findings_[at].explains;
    open.insert(open.end(), next.begin(), next.end());
  }
  return false;
}

bool Board::Fold(size_t cause, size_t effect) {
  if (Reaches(effect, cause)) return false;
  std::vector<size_t>& explains = findings_[cause].explains;
  if (std::find(explains.begin(), explains.end(), effect) == explains.end())
    explains.push_back(effect);
  findings_[effect].role = Role::kConsequence;
  return true;
}

void Board::Lower(size_t position, std::string_view why) {
  Finding& finding = findings_[position];
  finding.role = Role::kObservation;
  finding.why += fmt::format("{}{}", finding.why.empty() ? "" : "; ", why);
}

void Board::Support(size_t position, double confidence, std::string_view because) {
  Finding& finding = findings_[position];
  finding.confidence = Agree(finding.confidence, confidence);
  finding.why += fmt::format("{}{}", finding.why.empty() ? "" : "; ", because);
}

}  // namespace debrief::analyses::verdict
