// Findings as Markdown, to paste into a ticket. Whatever comes from inputs is escaped
// (base/text/escape.h): a name in a trace cannot become a heading, a link, HTML or a mention of
// somebody.
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace debrief {

// Text of an input inside of a line.
std::string Markdown(std::string_view text);

// "**error:** headline" as a heading of `level`.
void AppendHeadline(std::string& out, const Finding& finding, int level);

// Whom it blames: ranks, groups, operation, compilations, lines; a list.
void AppendBlame(std::string& out, const Finding& finding);

// "high", "medium" or "low", for people who do not want to weigh a number. The report has the same
// bounds (web/src/run/findings.tsx).
std::string_view ConfidenceWord(double confidence);

// "Confidence medium (80 %): why".
void AppendConfidence(std::string& out, const Finding& finding);

// The sentences of its evidence as a list.
void AppendEvidence(std::string& out, const Finding& finding);

// "**Next step:** ...".
void AppendNextStep(std::string& out, const Finding& finding);

// Something that is folded until somebody opens it.
void AppendFolded(std::string& out, std::string_view summary, std::string_view markdown);

// A block of code, in a fence that its text cannot close.
void AppendCodeBlock(std::string& out, std::string_view language, std::string_view code);

}  // namespace debrief
