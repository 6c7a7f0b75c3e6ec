#include "model/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text/utf8.h"

namespace debrief {

namespace {

// Of what is equally serious: what a whole run loses comes first, a single step or the mere size of
// something last.
int LossOrder(std::string_view rule) {
  if (rule.starts_with("cost.")) return 0;
  return rule == "profile.slow_step" || rule == "memory.peak" ? 2 : 1;
}

// Smaller is more important.
auto Importance(const Finding& finding) {
  return std::make_tuple(static_cast<int>(finding.role), -static_cast<int>(finding.severity),
                         LossOrder(finding.rule), -finding.confidence, finding.job, finding.attempt,
                         std::string_view(finding.rule), std::string_view(finding.headline));
}

// Positions in order of importance, but nothing before what explains it. A circle ends where it was
// entered.
class Ordering {
 public:
  explicit Ordering(const std::vector<Finding>& findings)
      : explained_by_(findings.size()), placed_(findings.size()) {
    std::vector<size_t> wanted(findings.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(), [&](size_t a, size_t b) {
      return Importance(findings[a]) < Importance(findings[b]);
    });
    for (size_t cause : wanted) {
      for (size_t explained : findings[cause].explains) explained_by_[explained].push_back(cause);
    }
    for (size_t position : wanted) Place(position);
  }

  const std::vector<size_t>& order() const { return order_; }

 private:
  void Place(size_t position) {
    if (placed_[position]) return;
    placed_[position] = true;
    for (size_t cause : explained_by_[position]) Place(cause);
    order_.push_back(position);
  }

  std::vector<std::vector<size_t>> explained_by_;
  std::vector<bool> placed_;
  std::vector<size_t> order_;
};

constexpr size_t kLongestText = 2000;  // bytes

// Keeps three quarters of the bound from the beginning and one from the end, whole characters.
void CutMiddle(std::string& text) {
  if (text.size() <= kLongestText) return;
  const size_t head = CutBytes(text, kLongestText * 3 / 4).size();
  size_t tail = text.size() - kLongestText / 4;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  text.replace(head, tail - head, fmt::format("... ({} bytes) ...", tail - head));
}

}  // namespace

void BoundTexts(Finding& finding) {
  for (std::string* text : {&finding.headline, &finding.op, &finding.why, &finding.next_step})
    CutMiddle(*text);
  for (GroupRef& group : finding.groups) {
    CutMiddle(group.name);
    CutMiddle(group.desc);
  }
  for (std::string& id : finding.compile_ids) CutMiddle(id);
  for (SourceLine& line : finding.source) CutMiddle(line.file);
  for (Evidence& evidence : finding.evidence) CutMiddle(evidence.text);
}

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kCause:
      return "cause";
    case Role::kConsequence:
      return "consequence";
    case Role::kObservation:
      return "observation";
  }
  return "observation";
}

void OrderFindings(std::vector<Finding>& findings) {
  Ordering ordering(findings);
  const std::vector<size_t>& order = ordering.order();
  std::vector<size_t> place(findings.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;

  std::vector<Finding> sorted;
  sorted.reserve(findings.size());
  for (size_t from : order) {
    Finding& finding = sorted.emplace_back(std::move(findings[from]));
    for (size_t& explained : finding.explains) explained = place[explained];
    std::sort(finding.explains.begin(), finding.explains.end());
    finding.id = fmt::format("f{}", sorted.size());
  }
  findings = std::move(sorted);
}

}  // namespace debrief
