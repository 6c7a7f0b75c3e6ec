#include "outputs/verdict_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "outputs/finding_markdown.h"

namespace debrief {

namespace {

constexpr size_t kMostFolded = 50;
constexpr size_t kSketchWidth = 100;

void AppendFindings(std::string& out, const Model& model, std::string_view summary,
                    const std::vector<size_t>& findings) {
  if (findings.empty()) return;
  std::string list;
  for (size_t i = 0; i < std::min(kMostFolded, findings.size()); ++i) {
    const Finding& finding = model.findings[findings[i]];
    list += fmt::format("- {} ({}): {}\n", finding.id, SeverityName(finding.severity),
                        Markdown(finding.headline));
  }
  if (findings.size() > kMostFolded)
    list += fmt::format("- and {} more, see findings.json\n", findings.size() - kMostFolded);
  AppendFolded(out, fmt::format("{}: {}", summary, findings.size()), list);
}

// The picture, or a sketch where there is none beside the text; what each rank did in words.
void AppendIncident(std::string& out, const incident::Incident& incident, const JobVerdict& verdict,
                    bool has_picture) {
  if (has_picture && !incident.empty()) {
    out += fmt::format("![{}]({})\n\n", Markdown(incident.title), PicturePath(verdict.job));
  } else {
    const std::string sketch = incident::IncidentSketch(incident, kSketchWidth);
    if (!sketch.empty()) AppendCodeBlock(out, "text", sketch);
  }
  if (incident.empty()) return;
  std::string list;
  for (const std::string& row : incident::RowsInWords(incident))
    list += fmt::format("- {}\n", Markdown(row));
  for (const std::string& note : incident.notes) list += fmt::format("- {}\n", Markdown(note));
  AppendFolded(out, incident.title, list);
}

}  // namespace

std::string PicturePath(int32_t job) {
  return fmt::format("report_data/incident_{}.svg", job == kNone32 ? 0 : job);
}

std::string VerdictMarkdown(const Model& model, const JobVerdict& verdict,
                            const MarkdownOptions& options) {
  std::string out;
  const Finding& first = model.findings[verdict.findings.front()];
  AppendHeadline(out, first, options.level);
  AppendBlame(out, first);
  AppendNextStep(out, first);
  AppendConfidence(out, first);
  AppendIncident(out, options.incident ? *options.incident : incident::MakeIncident(model, first),
                 verdict, options.has_picture);
  AppendEvidence(out, first);
  const std::set<size_t> explained(first.explains.begin(), first.explains.end());
  AppendFindings(out, model, "Consequences", first.explains);
  std::vector<size_t> others;
  std::copy_if(verdict.findings.begin() + 1, verdict.findings.end(), std::back_inserter(others),
               [&](size_t position) { return !explained.contains(position); });
  AppendFindings(out, model, "Other findings", others);
  return out;
}

}  // namespace debrief
