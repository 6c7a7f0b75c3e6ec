// The reference's names and ranks.
#include <algorithm>

#include "base/text/strings.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel::reference {

namespace {

bool TakesRank(char phase) {
  return std::string_view("XBEMbei").find(phase) != std::string_view::npos;
}

void RelabelProcess(Event& event, int64_t rank, Run& run) {
  const std::string_view name = run.Text(event.name);
  const auto pid = event.pid.AsInteger(run.strings);
  if (!name.starts_with("process") || !event.pid.IsInteger() || !pid) return;
  if (name.ends_with("sort_index")) {
    run.args.Set(event, key::kSortIndex, Value::Integer(rank * 123000 + (*pid > rank ? 0 : 15)));
  } else if (name.ends_with("_labels")) {
    const Arg* labels = event.Find(key::kLabels);
    std::string text = labels == nullptr ? "" : labels->value().AsText(run.strings);
    if (text.empty() || text.back() < '0' || text.back() > '9') return;
    text.pop_back();
    text += std::to_string(rank);
    run.args.Set(event, key::kLabels, Value::Of(text, run.strings));
  }
}

size_t EndOfDigits(std::string_view name, size_t at) {
  while (at < name.size() && IsDigit(name[at])) ++at;
  return at;
}

}  // namespace

void PlaceTorchEvent(Event& event, int64_t rank, Run& run) {
  if (!TakesRank(event.phase)) return;
  if (event.pid == Value::Integer(0)) event.pid = Value::Integer(rank);
  if (event.phase == 'X' || event.phase == 'B' || event.phase == 'E') {
    run.args.Set(event, key::kRank, Value::Integer(rank));
    if (event.Has(key::kDevice)) run.args.Set(event, key::kDevice, Value::Integer(rank));
  }
  if (event.phase == 'M') RelabelProcess(event, rank, run);
}

std::string WithoutDigits(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const auto* digit = std::find_if(name.begin() + at, name.end(), IsDigit);
    const std::string_view text = name.substr(at, static_cast<size_t>(digit - name.begin()) - at);
    out += text;
    at += text.size();
    const size_t end = EndOfDigits(name, at);
    if (end == at) break;
    if (text.ends_with('V')) out += name.substr(at, end - at);
    if (text.ends_with('_')) out.pop_back();
    at = end;
  }
  return out;
}

}  // namespace debrief::accel::reference
