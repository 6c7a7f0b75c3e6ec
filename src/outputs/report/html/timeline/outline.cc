#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/json/writer.h"
#include "outputs/incident/incident.h"
#include "outputs/job_verdicts.h"
#include "outputs/report/html/timeline/island.h"
#include "outputs/report/html/timeline/maker.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::html {

namespace {

// Processes without a number come last.
int32_t Late(int32_t number) {
  return number == kNone32 ? std::numeric_limits<int32_t>::max() : number;
}

auto OrderOf(const TimelineProcess& process) {
  const Identity& who = process.who;
  return std::tuple(Late(who.job), Late(who.attempt), Late(who.rank), process.place, who.input);
}

class Titles {
 public:
  explicit Titles(const Model& model) : model_(model), jobs_(model.tables.Get<JobTable>()) {}

  // "rank 3 - GPU 0", "big_job rank 3, attempt 1 - GPU 0", "trace.json - GPU 0"; a middle dot.
  std::string Of(const TimelineProcess& process) const {
    const Identity& who = process.who;
    std::string text = who.rank == kNone32 ? FileName(who.input) : fmt::format("rank {}", who.rank);
    const size_t job = JobRow(who.job);
    if (job < jobs_.size()) {
      if (jobs_.size() > 1) text = fmt::format("{} {}", model_.pools.Text(jobs_.name[job]), text);
      if (jobs_.attempts[job] > 1 && who.attempt != kNone32)
        text += fmt::format(", attempt {}", who.attempt);
    }
    text += " \u00b7 " + process.what;
    return process.own_clock ? text + ", own clock" : text;
  }

  std::string FileName(int32_t input) const {
    const auto& inputs = model_.tables.Get<InputTable>();
    const auto row = static_cast<size_t>(input);
    if (input < 0 || row >= inputs.size()) return fmt::format("input {}", input);
    const std::string_view path = model_.pools.Text(inputs.path[row]);
    return std::string(path.substr(path.find_last_of("/!") + 1));
  }

 private:
  size_t JobRow(int32_t job) const {
    return static_cast<size_t>(std::find(jobs_.job.begin(), jobs_.job.end(), job) -
                               jobs_.job.begin());
  }

  const Model& model_;
  const JobTable& jobs_;
};

// Two dumps or profiles of one rank are told apart by their files.
std::vector<std::string> MakeTitles(const Model& model,
                                    const std::vector<TimelineProcess>& processes) {
  const Titles titles(model);
  std::vector<std::string> all;
  std::map<std::string, size_t> count;
  for (const TimelineProcess& one : processes) ++count[all.emplace_back(titles.Of(one))];
  for (size_t i = 0; i < all.size(); ++i)
    if (count[all[i]] > 1) all[i] += fmt::format(" ({})", titles.FileName(processes[i].who.input));
  return all;
}

void WriteProcess(const TimelineProcess& process, std::string_view title, JsonWriter& json) {
  size_t slices = 0;
  for (const TimelineLane& lane : process.lanes) slices += lane.slices;
  json.BeginObject().Field("id", process.id).Field("title", CutText(title));
  json.Field("job", process.who.job).Field("attempt", process.who.attempt);
  json.Field("rank", process.who.rank).Field("source", process.source);
  json.Field("island", process.island).Field("slices", slices);
  json.Key("shift").BeginObject().Field("offset", process.shift.offset);
  json.Field("drift", process.shift.drift).Field("middle", process.shift.middle).EndObject();
  json.Objects("lanes", process.lanes, [&](const TimelineLane& lane) {
    json.Field("id", lane.id).Field("name", CutText(lane.name)).Field("kind", lane.kind);
    json.Field("depths", lane.depths).Field("slices", lane.slices);
  });
  json.EndObject();
}

// Where a reader wants to look first: the stretch of the incident picture, of a slow job its steps.
void WriteMoments(const Model& model, int64_t base, JsonWriter& json) {
  json.Key("moments").BeginArray();
  for (const JobVerdict& verdict : JobVerdicts(model)) {
    if (verdict.findings.empty()) continue;
    const incident::Incident incident =
        incident::MakeIncident(model, model.findings[verdict.findings.front()]);
    if (incident.empty() || incident.zero == kNone64) continue;
    if (incident.is_slow && (base == 0 || incident.from < base)) continue;  // of a clock of its own
    json.BeginObject().Field("job", verdict.job).Field("from", incident.from - base);
    json.Field("to", incident.to - base).Field("isSlow", incident.is_slow).EndObject();
  }
  json.EndArray();
}

}  // namespace

int64_t TimelineShift::Apply(int64_t time) const {
  const double more = drift * static_cast<double>(time - middle);
  return time + offset + (std::abs(more) < 1e15 ? std::llround(more) : 0);
}

std::string OutlineJson(const Model& model, TimelineOutline& outline) {
  std::vector<TimelineProcess>& all = outline.processes;
  std::stable_sort(all.begin(), all.end(), [](const TimelineProcess& a, const TimelineProcess& b) {
    return OrderOf(a) < OrderOf(b);
  });
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const TimelineProcess& one : all) {
    if (one.first > one.last) continue;
    first = std::min(first, one.shift.Apply(one.first));
    last = std::max(last, one.shift.Apply(one.last));
  }
  if (first > last) first = last = 0;
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field("base", outline.base).Field("first", first).Field("last", last);
  json.Field("slices", outline.slices).Field("leftOut", outline.left_out);
  WriteMoments(model, outline.base, json);
  json.Key("processes").BeginArray();
  const std::vector<std::string> titles = MakeTitles(model, all);
  for (size_t i = 0; i < all.size(); ++i) WriteProcess(all[i], titles[i], json);
  json.EndArray().EndObject();
  return out;
}

}  // namespace debrief::outputs::html
