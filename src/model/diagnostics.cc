#include "model/diagnostics.h"

namespace debrief {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "info";
}

Diagnostic& Diagnostics::Find(const DiagnosticKind& kind, int32_t input) {
  // Backwards: trouble comes in runs, and a run of thousands of inputs adds the newest last.
  for (auto it = all_.rbegin(); it != all_.rend() && it->input == input; ++it) {
    if (it->kind == &kind) return *it;
  }
  all_.push_back({&kind, input, 0, {}});
  return all_.back();
}

void Diagnostics::Add(const DiagnosticKind& kind, int32_t input, Occurrence occurrence) {
  Diagnostic& diagnostic = Find(kind, input);
  ++diagnostic.count;
  if (diagnostic.first.size() < kKept) diagnostic.first.push_back(std::move(occurrence));
}

void Diagnostics::AddMany(const DiagnosticKind& kind, int32_t input, int64_t count) {
  Find(kind, input).count += count;
}

void Diagnostics::Append(const Diagnostics& part) {
  for (const Diagnostic& theirs : part.all_) {
    Diagnostic& ours = Find(*theirs.kind, theirs.input);
    ours.count += theirs.count;
    for (const Occurrence& occurrence : theirs.first) {
      if (ours.first.size() < kKept) ours.first.push_back(occurrence);
    }
  }
}

void Diagnostics::ShiftLines(int64_t lines) {
  for (Diagnostic& diagnostic : all_) {
    for (Occurrence& occurrence : diagnostic.first) {
      if (occurrence.line >= 0) occurrence.line += lines;
    }
  }
}

}  // namespace debrief
