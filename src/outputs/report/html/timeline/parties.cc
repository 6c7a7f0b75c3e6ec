#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "base/text/strings.h"
#include "outputs/report/html/timeline/island.h"
#include "outputs/report/html/timeline/profile_parts.h"
#include "tables/timeline_process.h"
#include "tables/timeline_track.h"

namespace debrief::outputs::html {

namespace {

using timeline::TimelineView;

// Tids that are numbers in their order, before those that are not.
int64_t NumberOf(std::string_view text) { return ParseNumber<int64_t>(text).value_or(INT64_MAX); }

class PartyFinder {
 public:
  PartyFinder(const TimelineView& view, const std::function<bool(size_t)>& has_counters)
      : view_(view),
        has_counters_(has_counters),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        processes_(view.model.tables.Get<TimelineProcessTable>()),
        process_rows_(timeline::RowsOf(processes_, view.who.input)) {}

  std::vector<Party> Find() {
    std::map<int32_t, Party> parties;
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row)
      if (tracks_.slices[row] > 0 || has_counters_(row))
        parties[tracks_.process[row]].tracks.push_back(row);
    for (auto& [number, party] : parties) Add(number, std::move(party));
    ChooseMain();
    return std::move(found_);
  }

 private:
  void Add(int32_t number, Party&& party) {
    party.number = number;
    Describe(party);
    auto other = found_.end();
    if (party.place == ProcessPlace::kProfiler) {
      other = std::find_if(found_.begin(), found_.end(),
                           [](const Party& one) { return one.place == ProcessPlace::kProfiler; });
    }
    std::sort(party.tracks.begin(), party.tracks.end(),
              [&](size_t a, size_t b) { return IsBefore(a, b); });
    if (other == found_.end()) {
      found_.push_back(std::move(party));
    } else {
      other->tracks.insert(other->tracks.end(), party.tracks.begin(), party.tracks.end());
    }
  }

  void Describe(Party& party) const {
    const std::string name = TextOf(processes_.name, party.number);
    const std::string labels = TextOf(processes_.labels, party.number);
    const std::string process = "process " + TextOf(processes_.pid, party.number);
    if (IsOfProfiler(party)) {
      party.place = ProcessPlace::kProfiler;
      party.what = "profiler";
    } else if (HasStream(party)) {
      party.place = ProcessPlace::kDevice;
      party.what = !labels.empty() ? labels : !name.empty() ? name : process;
    } else {
      party.place = labels == "CPU" ? ProcessPlace::kHost : ProcessPlace::kOther;
      party.what = !name.empty() ? name : process;
      if (party.place == ProcessPlace::kHost) party.what += " (host)";
    }
  }

  bool HasStream(const Party& party) const {
    return std::any_of(party.tracks.begin(), party.tracks.end(),
                       [&](size_t row) { return tracks_.kind[row] == view_.kinds.stream; });
  }

  bool IsOfProfiler(const Party& party) const {
    return std::all_of(party.tracks.begin(), party.tracks.end(), [&](size_t row) {
      if (has_counters_(row)) return false;
      const auto kinds = view_.kind.subspan(static_cast<size_t>(tracks_.first_slice[row]),
                                            static_cast<size_t>(tracks_.slices[row]));
      return std::all_of(kinds.begin(), kinds.end(), [&](StringId kind) {
        return kind == view_.kinds.span || kind == view_.kinds.instant ||
               kind == view_.kinds.overhead;
      });
    });
  }

  std::string TextOf(const std::vector<StringId>& column, int32_t process) const {
    const size_t row = process_rows_.begin + static_cast<size_t>(process);
    if (process < 0 || row >= process_rows_.end) return "";
    return std::string(Trimmed(CutText(view_.model.pools.Text(column[row])), " "));
  }

  // The main thread first (its number is that of its process), then as the file sorts them; the
  // ranges that a device shows for annotations above their stream.
  bool IsBefore(size_t a, size_t b) const {
    const auto key = [&](size_t row) {
      const std::string_view tid = view_.model.pools.Text(tracks_.tid[row]);
      const int32_t sort_index = tracks_.sort_index[row];
      return std::tuple(tid != TextOf(processes_.pid, tracks_.process[row]), sort_index == kNone32,
                        sort_index, NumberOf(tid),
                        tracks_.kind[row] != view_.kinds.stream_annotation, row);
    };
    return key(a) < key(b);
  }

  // The host with most slices.
  void ChooseMain() {
    const auto rank = [&](const Party& party) {
      int64_t slices = 0;
      for (size_t row : party.tracks) slices += tracks_.slices[row];
      return std::tuple(party.place == ProcessPlace::kHost, party.place == ProcessPlace::kOther,
                        slices);
    };
    const auto main =
        std::max_element(found_.begin(), found_.end(),
                         [&](const Party& a, const Party& b) { return rank(a) < rank(b); });
    if (main != found_.end()) main->is_main = true;
  }

  const TimelineView& view_;
  const std::function<bool(size_t)>& has_counters_;
  const TimelineTrackTable& tracks_;
  const TimelineProcessTable& processes_;
  timeline::RowRange process_rows_;
  std::vector<Party> found_;
};

}  // namespace

std::vector<Party> PartiesOf(const TimelineView& view,
                             const std::function<bool(size_t track)>& has_counters) {
  return PartyFinder(view, has_counters).Find();
}

std::string TrackName(const TimelineView& view, size_t track) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  const auto text = [&](const std::vector<StringId>& column) {
    return Trimmed(CutText(view.model.pools.Text(column[track])), " ");
  };
  const std::string_view name = text(tracks.name);
  const std::string_view tid = text(tracks.tid);
  const StringId kind = tracks.kind[track];
  if (kind == view.kinds.stream_annotation)
    return fmt::format("{} annotations", name.empty() ? tid : name);
  if (!name.empty()) return std::string(name);
  if (NumberOf(tid) == INT64_MAX) return std::string(tid.empty() ? "track" : tid);
  return fmt::format("{} {}", kind == view.kinds.stream ? "stream" : "thread", tid);
}

}  // namespace debrief::outputs::html
