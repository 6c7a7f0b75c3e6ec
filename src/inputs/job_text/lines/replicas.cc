#include "inputs/job_text/lines/replicas.h"

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::inputs::job_text {

namespace {

// The number behind `key`; none without one.
int64_t NumberBehindKey(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? kNone64
                                      : LeadingNumber(text.substr(at + key.size()), kNone64);
}

// What the text behind a tag says; empty for what nobody needs.
std::string_view WhatOf(std::string_view text) {
  if (text.starts_with("reconfiguring for quorum_id=")) return "quorum";
  if (text.starts_with("healing required")) return "healing";
  if (text.starts_with("peers need recovery from us")) return "recovering";
  if (text.starts_with("should_commit=True")) return "commit";
  return text.starts_with("should_commit=False") ? "discarded" : "";
}

}  // namespace

std::optional<ReplicaLine> ParseReplica(std::string_view text) {
  constexpr std::string_view kStep = " - step ";
  const size_t step = text.find(kStep);
  const size_t open = step == std::string_view::npos ? step : text.rfind('[', step);
  const size_t close = open == std::string_view::npos ? open : text.find("] ", step);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view who = text.substr(open + 1, step - open - 1);
  const size_t slash = who.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  ReplicaLine line;
  line.text = text.substr(close + 2);
  line.what = WhatOf(line.text);
  const auto rank = ParseNumber<int32_t>(who.substr(slash + 1));
  const size_t digits = step + kStep.size();
  const auto number = ParseNumber<int64_t>(text.substr(digits, close - digits));
  if (line.what.empty() || !rank || !number) return std::nullopt;
  line.group_rank = *rank;
  line.step = *number;
  const std::string_view id = who.substr(0, slash);
  const size_t colon = id.find(':');
  line.replica = id.substr(0, colon);
  if (colon != std::string_view::npos) line.life = id.substr(colon + 1);
  if (line.what == "quorum") line.number = NumberBehindKey(line.text, "quorum_id=");
  if (line.what == "healing") line.number = NumberBehindKey(line.text, "max_step=");
  return line;
}

}  // namespace debrief::inputs::job_text
