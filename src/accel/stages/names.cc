// Names of requests, threads and jobs.
#include <fmt/format.h>

#include <charconv>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/text/strings.h"

namespace debrief::accel {

// remove_ids_from_name (-O async): the number of a request in a name goes to `reqID`.
//
//   test_123_tset   ->   test tset, reqID 123       the reference
//                   ->   test_123_tset, reqID 123   without --compat: names stay as they are

namespace {

struct RequestId {
  size_t begin = 0, end = 0;  // `_123_` in the name
  int64_t id = 0;
};

std::optional<RequestId> FindId(std::string_view name) {
  for (size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    size_t end = at + 1;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == at + 1 || end >= name.size()) continue;
    if (name[end] != '_' && name[end] != ' ' && name[end] != '-') continue;
    RequestId found{at, end + 1, 0};
    const auto parsed = std::from_chars(name.data() + at + 1, name.data() + end, found.id);
    if (parsed.ec == std::errc()) return found;
  }
  return std::nullopt;
}

std::string WithoutId(std::string_view name, const RequestId& found) {
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
    if (run.options.compat) event.name = run.Intern(WithoutId(name, *found));
  }
}

// map_tid_to_range: threads of Flex, 64-bit hashes, become 1000, 1100, 1200 ... in the order of
// their first slice.

void MapTidToRange(EventList& events, Run& run) {
  ByValue<int64_t> tids;
  for (Event& event : events) {
    if (event.phase != 'X' || event.tid.IsNull() || run.DialectOf(event) != Dialect::kFlex)
      continue;
    int64_t& tid = tids[event.tid];
    if (tid == 0) tid = 900 + 100 * static_cast<int64_t>(tids.size());
    event.tid = Value::Integer(tid);
  }
}

// recombine_cpu_events: slices of the host of a Flex trace are one thread, 1000; "AIU Roundtrip"
// keeps its own.

void RecombineCpuEvents(EventList& events, Run& run) {
  for (Event& event : events) {
    if (event.phase != 'X' || run.DialectOf(event) != Dialect::kFlex) continue;
    if (IsDeviceEvent(event, run) || event.name == key::kAiuRoundtrip) continue;
    event.tid = Value::Integer(1000);
  }
}

// cycle_count_conversion_cleanup: the times of all stamps go, and the name of a job tells it from
// others of the same name: "job_1.json(17)".

void CycleCountConversionCleanup(EventList& events, Run& run) {
  for (Stamps& stamps : run.stamps) stamps.has_all = false;
  run.jobs_are_named = true;
  std::vector<StringId> names;
  for (const Job& job : run.jobs) {
    names.push_back(run.Intern(fmt::format("{}({})", job.base_name, job.number)));
  }
  for (Event& event : events) {
    Arg* name = event.job < names.size() ? event.Find(key::kJobName) : nullptr;
    if (name != nullptr) name->Set(Value::Text(names[event.job]));
  }
}

}  // namespace debrief::accel
