// remove_ids_from_name (-O async): the number of a request in a name goes to `reqID`.
//
//   test_123_tset   ->   test tset, reqID 123       the reference
//                   ->   test_123_tset, reqID 123   without --compat: names stay as they are
#include <charconv>

#include "accel/passes/passes.h"
#include "base/text/strings.h"

namespace debrief::accel {

namespace {

struct Found {
  size_t begin = 0, end = 0;  // `_123_` in the name
  int64_t id = 0;
};

std::optional<Found> FindId(std::string_view name) {
  for (size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    size_t end = at + 1;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == at + 1 || end >= name.size()) continue;
    if (name[end] != '_' && name[end] != ' ' && name[end] != '-') continue;
    Found found{at, end + 1, 0};
    const auto parsed = std::from_chars(name.data() + at + 1, name.data() + end, found.id);
    if (parsed.ec == std::errc()) return found;
  }
  return std::nullopt;
}

std::string Without(std::string_view name, const Found& found) {
  const std::string_view part = name.substr(found.begin, found.end - found.begin);
  std::string out;
  while (true) {
    const size_t at = name.find(part);
    out += name.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += ' ';
    name.remove_prefix(at + part.size());
  }
}

}  // namespace

void RemoveIdsFromName(EventList& events, Run& run) {
  for (Event& event : events) {
    const std::string_view name = run.Text(event.name);
    if (event.phase != 'X' || name.find("Recv_") != std::string_view::npos) continue;
    const auto found = FindId(name);
    if (!found) continue;
    run.args.Set(event, key::kReqId, Value::Integer(found->id));
    if (run.options.compat) event.name = run.Intern(Without(name, *found));
  }
}

}  // namespace debrief::accel
