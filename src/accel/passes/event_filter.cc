#include "accel/passes/event_filter.h"

#include <fmt/format.h>

namespace debrief::accel {

namespace {

// What Python's patterns have and POSIX has not.
std::string ToPosix(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with("(?:")) {
      out += '(';
      i += 2;
    } else if (rest.starts_with("\\d")) {
      out += "[0-9]";
      ++i;
    } else if (rest.starts_with("\\D")) {
      out += "[^0-9]";
      ++i;
    } else if (rest.size() > 1 && rest[0] == '\\') {
      out += rest.substr(0, 2);
      ++i;
    } else {
      out += rest[0];
    }
  }
  return out;
}

}  // namespace

EventFilter::EventFilter(const std::string& text, Run& run) {
  if (text.empty()) return;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    Add(text.substr(at, comma - at), run);
    at = comma + 1;
  }
  run.console.Info(
      fmt::format("FLTR: Event filtering is active. {} filters enabled: {}", rules_.size(), text));
}

void EventFilter::Add(const std::string& item, Run& run) {
  const size_t colon = item.find(':');
  Rule rule;
  if (colon != std::string::npos && colon > 0 && item.find(':', colon + 1) == std::string::npos) {
    rule.path = item.substr(0, colon);
    rule.in_args = rule.path.starts_with("args.");
    rule.key = run.Intern(rule.in_args ? rule.path.substr(5) : rule.path);
    auto pattern = std::make_unique<regex_t>();
    const std::string posix = ToPosix(item.substr(colon + 1));
    if (regcomp(pattern.get(), posix.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {
      rule.pattern.reset(pattern.release());
      rules_.push_back(std::move(rule));
      return;
    }
  }
  run.console.Warning(fmt::format("FLTR: '{}' is no attribute:pattern; it is skipped", item));
}

std::optional<std::string> EventFilter::TextOf(const Rule& rule, const Event& event,
                                               const Run& run) {
  if (rule.in_args) {
    const Arg* arg = event.Find(rule.key);
    return arg == nullptr ? std::nullopt : std::optional(arg->value().AsText(run.strings));
  }
  if (rule.path == "name") return std::string(run.Text(event.name));
  if (rule.path == "cat" && event.cat != StringId::kNone) return std::string(run.Text(event.cat));
  if (rule.path == "ph") return std::string(1, event.phase);
  if (rule.path == "pid") return event.pid.AsText(run.strings);
  if (rule.path == "tid" && !event.tid.IsNull()) return event.tid.AsText(run.strings);
  if (rule.path == "ts") return Value::Number(event.ts).AsText(run.strings);
  if (rule.path == "dur") return Value::Number(event.dur).AsText(run.strings);
  const Arg* arg = event.Find(rule.key, ArgPlace::kTop);
  return arg == nullptr ? std::nullopt : std::optional(arg->value().AsText(run.strings));
}

bool EventFilter::Matches(const Event& event, const Run& run) const {
  for (const Rule& rule : rules_) {
    const auto text = TextOf(rule, event, run);
    if (text && regexec(rule.pattern.get(), text->c_str(), 0, nullptr, 0) == 0) return true;
  }
  return false;
}

}  // namespace debrief::accel
