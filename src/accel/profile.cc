#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "accel/pipeline.h"
#include "base/json/cursor.h"
#include "base/text/strings.h"

namespace debrief::accel {

namespace {

struct Entry {
  std::string name;
  int occurrence = 0;  // of `name#2`: 2; 0: not said
  bool on = false;
};

Status Misplaced(const Entry& entry) {
  return Status(Code::kInvalid,
                fmt::format("profile: the stage {} is unknown or misplaced", entry.name))
      .Remedy("List stages in the order of the profile everything.json.");
}

Entry MakeEntry(std::string_view key, bool on) {
  Entry entry{std::string(key), 0, on};
  const size_t hash = key.rfind('#');
  if (hash == std::string_view::npos) return entry;
  if (const auto number = ParseNumber<decltype(entry.occurrence)>(key.substr(hash + 1))) {
    entry.name.resize(hash);
    entry.occurrence = *number;
  }
  return entry;
}

Result<Entry> ReadEntry(JsonValue stage) {
  std::optional<Entry> entry;
  int fields = 0;
  TRY(stage.ForEachField([&](std::string_view key, JsonValue value) {
    ++fields;
    entry = MakeEntry(key, value.Bool().value_or(false));
  }));
  if (fields != 1)
    return Status(Code::kInvalid, "profile: an entry of `stages` must have exactly one key");
  return *std::move(entry);
}

Result<std::vector<Entry>> ReadStages(JsonValue stages) {
  std::vector<Entry> entries;
  TRY(stages.ForEachElement([&](JsonValue stage) -> Status {
    ASSIGN_OR_RETURN(Entry entry, ReadEntry(stage));
    entries.push_back(std::move(entry));
    return {};
  }));
  return entries;
}

// Over one text: walks the master list and the entries.
class Resolver {
 public:
  Resolver(const std::vector<std::string_view>& master, const std::vector<Entry>& entries)
      : master_(master), entries_(entries), on_(master.size(), false) {
    for (std::string_view name : master) ++total_[name];
  }

  Status Run() { return IsPositional() ? Positional() : Sparse(); }
  std::vector<bool> Take() { return std::move(on_); }

 private:
  bool IsRepeated(const Entry& entry) const {
    auto found = total_.find(entry.name);
    return found != total_.end() && found->second > 1;
  }

  bool IsPositional() const {
    std::map<std::string_view, int> listed;
    for (const Entry& entry : entries_) {
      if (IsRepeated(entry)) ++listed[entry.name];
    }
    return std::all_of(listed.begin(), listed.end(),
                       [&](const auto& each) { return each.second == total_.at(each.first); });
  }

  Status Positional() {
    size_t next = 0;
    std::map<std::string_view, int> seen;
    for (size_t i = 0; i < master_.size() && next < entries_.size(); ++i) {
      const Entry& entry = entries_[next];
      const int occurrence = ++seen[master_[i]];
      if (entry.name != master_[i]) continue;
      if (entry.occurrence != 0 && entry.occurrence != occurrence) continue;
      on_[i] = entry.on;
      ++next;
    }
    return next == entries_.size() ? Status() : Misplaced(entries_[next]);
  }

  Status Sparse() {
    size_t cursor = 0;
    for (const Entry& entry : entries_) {
      if (IsRepeated(entry)) {
        if (!SetOccurrences(entry)) return Misplaced(entry);
        continue;
      }
      const auto at =
          std::find(master_.begin() + static_cast<ptrdiff_t>(cursor), master_.end(), entry.name);
      if (at == master_.end() || entry.occurrence > 1) return Misplaced(entry);
      cursor = static_cast<size_t>(at - master_.begin()) + 1;
      on_[cursor - 1] = entry.on;
    }
    return {};
  }

  bool SetOccurrences(const Entry& entry) {
    int occurrence = 0;
    bool found = false;
    for (size_t i = 0; i < master_.size(); ++i) {
      if (master_[i] != entry.name) continue;
      ++occurrence;
      if (entry.occurrence != 0 && entry.occurrence != occurrence) continue;
      on_[i] = entry.on;
      found = true;
    }
    return found;
  }

  const std::vector<std::string_view>& master_;
  const std::vector<Entry>& entries_;
  std::vector<bool> on_;
  std::map<std::string_view, int> total_;
};

// Off in torch_minimal; #1 is the first occurrence.
constexpr std::string_view kOffInTorchMinimal[] = {"drop_timestamp_reversed_events",
                                                   "create_slice_from_BE",
                                                   "frequency_align_collect",
                                                   "frequency_align_apply",
                                                   "pipeline_barrier#1",
                                                   "remove_ids_from_name",
                                                   "map_tid_to_range",
                                                   "cycle_count_to_wallclock",
                                                   "tighten_hts_by_instr_type",
                                                   "tripple_phased_events",
                                                   "mp_sync_tight_v1",
                                                   "mp_ts_calibration_v2",
                                                   "queueing_counter",
                                                   "drop_global_events",
                                                   "recombine_cpu_events",
                                                   "assert_ts_sequence#1",
                                                   "analyze_power_statistics",
                                                   "verify",
                                                   "verify_cleanup"};

std::vector<bool> TorchMinimal(const std::vector<std::string_view>& master) {
  std::vector<bool> on(master.size(), true);
  for (std::string_view name : kOffInTorchMinimal) {
    const std::string_view plain = name.substr(0, name.find('#'));
    const auto at = std::find(master.begin(), master.end(), plain);
    if (at != master.end()) on[static_cast<size_t>(at - master.begin())] = false;
  }
  return on;
}

std::vector<bool> Verification(const std::vector<std::string_view>& master) {
  std::vector<bool> on(master.size(), false);
  for (size_t i = 0; i < master.size(); ++i) on[i] = master[i].starts_with("verify");
  return on;
}

}  // namespace

Result<Profile> Profile::Parse(std::string_view text, const std::vector<std::string_view>& master) {
  Profile profile;
  JsonReader reader;
  TRY(reader.OpenCopy(text));
  bool is_empty = true;
  std::optional<std::vector<Entry>> entries;
  TRY(reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    is_empty = false;
    if (key != "stages") return {};
    ASSIGN_OR_RETURN(entries, ReadStages(value));
    return {};
  }));
  if (is_empty) return BuiltIn("default", master);
  if (!entries) return Status(Code::kInvalid, "profile: no `stages`");
  Resolver resolver(master, *entries);
  TRY(resolver.Run());
  profile.on_ = resolver.Take();
  return profile;
}

Result<Profile> Profile::BuiltIn(std::string_view name,
                                 const std::vector<std::string_view>& master) {
  Profile profile;
  if (name.ends_with(".json")) name.remove_suffix(5);
  if (name == "default" || name == "everything") {
    profile.on_.assign(master.size(), true);
  } else if (name == "torch_minimal") {
    profile.on_ = TorchMinimal(master);
  } else if (name == "verification") {
    profile.on_ = Verification(master);
  } else {
    return Status(Code::kNotFound, fmt::format("no profile {}", name))
        .Remedy("Built in are default, everything, torch_minimal and verification.");
  }
  return profile;
}

}  // namespace debrief::accel
