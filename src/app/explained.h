// One finding with its evidence as rows and SQL: what `debrief explain` shows, in three ways.
#pragma once

#include <string>
#include <vector>

#include "app/evidence.h"
#include "outputs/findings_reader.h"

namespace debrief {

struct Explained {
  const WrittenFindings* run = nullptr;
  const Finding* finding = nullptr;
  std::string folder;                // of the report, as the user named it
  std::vector<EvidenceRows> rows;    // by evidence
  std::vector<std::string> as_json;  // by evidence: the rows as JSON
};

std::string ExplainedText(const Explained& explained, int width);
std::string ExplainedJson(const Explained& explained);
std::string ExplainedMarkdown(const Explained& explained);

}  // namespace debrief
