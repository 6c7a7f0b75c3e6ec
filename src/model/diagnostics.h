// What was wrong in the inputs and did not stop us: named, counted, placed, with a remedy.
//
// A kind of trouble is declared once, as a constant beside the code that meets it:
//
//   constexpr DiagnosticKind kBadLine = {"torch_trace.bad_line", Severity::kWarning,
//       "a line has no log prefix and was left out", "Look at the line: another program may write
//       there."};
//   diagnostics.Add(kBadLine, {.line = 17}, "prefix ends in 'x'");
//
// The first few occurrences of a kind in an input are kept with their place; the rest are counted,
// so a log with a million bad lines costs as much as one with five.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "base/status.h"

namespace debrief {

enum class Severity : uint8_t { kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);

struct DiagnosticKind {
  std::string_view name;     // "<importer or station>.<what>"
  Severity severity;         // kError: data was lost
  std::string_view meaning;  // one sentence, without the place
  std::string_view remedy;   // what the user can do, imperative
};

// One occurrence: where, and in what words beyond the kind's meaning.
struct Occurrence {
  int64_t offset = -1;
  int64_t line = -1;
  std::string detail;
};

// All occurrences of one kind in one input.
struct Diagnostic {
  const DiagnosticKind* kind = nullptr;
  int32_t input = kNone32;
  int64_t count = 0;
  std::vector<Occurrence> first;  // at most kKept, in the order they were met
};

class Diagnostics {
 public:
  static constexpr size_t kKept = 5;

  // `kind` must outlive the run: a constant of the plug-in.
  void Add(const DiagnosticKind& kind, int32_t input, Occurrence occurrence = {});

  // As many of one kind as `count`, where they cannot be told apart.
  void AddMany(const DiagnosticKind& kind, int32_t input, int64_t count);

  // Appends what a part of the same run met, in order. Places of parts are absolute already.
  void Append(const Diagnostics& part);

  // Adds `lines` to every place: a part knows its lines only from its own beginning.
  void ShiftLines(int64_t lines);

  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  Diagnostic& Find(const DiagnosticKind& kind, int32_t input);

  std::vector<Diagnostic> all_;  // few: one per kind and input
};

}  // namespace debrief
