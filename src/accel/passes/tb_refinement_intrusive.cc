// tb_refinement_intrusive: TensorBoard groups by name, so slices of a device lose their numbers.
//
// The reference cuts digits out of names and keeps the name in args.orig_name. Without --compat
// names stay what they are, and the one to group by stands in args.group_name.
//
// Cost: linear; every distinct name is looked at once.
#include <charconv>
#include <unordered_map>

#include "accel/categories.h"
#include "accel/passes/helpers.h"
#include "accel/passes/names.h"
#include "accel/passes/passes.h"
#include "accel/passes/process_names.h"

namespace debrief::accel {
namespace {

constexpr int64_t kFirstCollectiveTid = 10'000;

// "coll<n>", which collective_slices.h gives.
void NumberTrack(Event& event, const Run& run) {
  if (event.tid.kind != ValueKind::kText) return;
  const std::string_view tid = run.Text(event.tid.text);
  if (!tid.starts_with("coll")) return;
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(tid.data() + 4, tid.data() + tid.size(), rank);
  if (error == std::errc() && end == tid.data() + tid.size()) {
    event.tid = Value::Integer(kFirstCollectiveTid + rank);
  }
}

class Renamer {
 public:
  explicit Renamer(Run& run) : run_(run), group_name_(run.Intern("group_name")) {}

  void Rename(Event& event) {
    const StringId short_name = ShortName(event.name);
    if (short_name == event.name) return;
    if (run_.options.compat) {
      run_.args.Set(event, key::kOrigName, Value::Text(event.name));
      event.name = short_name;
    } else {
      run_.args.Set(event, group_name_, Value::Text(short_name));
    }
  }

 private:
  StringId ShortName(StringId name) {
    const auto [at, is_new] = names_.try_emplace(name, name);
    if (is_new) {
      const std::string_view text = run_.Text(name);
      at->second = run_.Intern(run_.options.compat ? WithoutDigits(text) : WithPlaceholders(text));
    }
    return at->second;
  }

  Run& run_;
  StringId group_name_;
  std::unordered_map<StringId, StringId> names_;
};

}  // namespace

void TbRefinementIntrusive(EventList& events, Run& run) {
  Renamer renamer(run);
  for (Event& event : events) {
    if (event.phase != 'X') continue;
    const bool device = IsDeviceEvent(event, run);
    if (device || !run.options.compat) NumberTrack(event, run);
    if (device && !run.options.keep_names) renamer.Rename(event);
  }
  if (!run.options.compat) return;
  const EventList names = NamesOfProcesses(events, run);
  events.insert(events.end(), names.begin(), names.end());
}

}  // namespace debrief::accel
