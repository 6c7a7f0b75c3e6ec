#include "outputs/finding_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/escape.h"
#include "base/text/rank_list.h"

namespace debrief {

namespace {

constexpr size_t kMostEvidence = 12;

std::string CodeSpan(std::string_view text) {
  std::string out;
  AppendMarkdownCode(out, text);
  return out;
}

std::string GroupText(const GroupRef& group) {
  const std::string& name = group.desc.empty() ? group.name : group.desc;
  return fmt::format("{} [{}]", CodeSpan(name), FoldNumbers(group.ranks));
}

std::string LineText(const SourceLine& line) {
  std::string text = CodeSpan(fmt::format("{}:{}", line.file, line.line));
  return line.rank == kNone32 ? text : fmt::format("{} (rank {})", text, line.rank);
}

template <typename List, typename ToText>
void AppendList(std::string& out, std::string_view label, const List& list, ToText to_text) {
  if (list.empty()) return;
  out += fmt::format("- **{}:** ", label);
  bool first = true;
  for (const auto& each : list) {
    out += fmt::format("{}{}", first ? "" : ", ", to_text(each));
    first = false;
  }
  out += "\n";
}

}  // namespace

std::string Markdown(std::string_view text) {
  std::string out;
  AppendMarkdown(out, text);
  return out;
}

void AppendHeadline(std::string& out, const Finding& finding, int level) {
  out += fmt::format("{} {}: {}\n\n", std::string(static_cast<size_t>(level), '#'),
                     SeverityName(finding.severity), Markdown(finding.headline));
}

void AppendBlame(std::string& out, const Finding& finding) {
  size_t before = out.size();
  if (!finding.ranks.empty()) out += fmt::format("- **Ranks:** {}\n", FoldNumbers(finding.ranks));
  AppendList(out, "Groups", finding.groups, GroupText);
  if (!finding.op.empty()) {
    out += fmt::format("- **Operation:** {}{}\n", CodeSpan(finding.op),
                       finding.seq == kNone64 ? "" : fmt::format(", sequence {}", finding.seq));
  }
  AppendList(out, "Compilations", finding.compile_ids,
             [](const std::string& id) { return CodeSpan(id); });
  AppendList(out, "Lines", finding.source, LineText);
  if (out.size() > before) out += "\n";
}

std::string_view ConfidenceWord(double confidence) {
  if (confidence >= 0.85) return "high";
  return confidence >= 0.6 ? "medium" : "low";
}

void AppendConfidence(std::string& out, const Finding& finding) {
  if (std::isnan(finding.confidence)) return;
  out += fmt::format("Confidence {} ({:.0f} %){}\n\n", ConfidenceWord(finding.confidence),
                     100 * finding.confidence,
                     finding.why.empty() ? "" : ": " + Markdown(finding.why));
}

void AppendEvidence(std::string& out, const Finding& finding) {
  if (finding.evidence.empty()) return;
  out += "**Evidence**\n\n";
  size_t shown = std::min(kMostEvidence, finding.evidence.size());
  for (size_t i = 0; i < shown; ++i)
    out += fmt::format("- {}\n", Markdown(finding.evidence[i].text));
  if (shown < finding.evidence.size())
    out += fmt::format("- and {} more\n", finding.evidence.size() - shown);
  out += "\n";
}

void AppendNextStep(std::string& out, const Finding& finding) {
  if (finding.next_step.empty()) return;
  out += fmt::format("**Next step:** {}\n\n", Markdown(finding.next_step));
}

void AppendFolded(std::string& out, std::string_view summary, std::string_view markdown) {
  std::string title;
  AppendHtml(title, summary);
  out += fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n\n", title, markdown);
}

void AppendCodeBlock(std::string& out, std::string_view language, std::string_view code) {
  std::string fence = "```";
  while (code.find(fence) != std::string_view::npos) fence += '`';
  out += fmt::format("{}{}\n{}{}{}\n\n", fence, language, ValidUtf8(code),
                     code.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace debrief
