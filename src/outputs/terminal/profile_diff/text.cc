#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/json/writer.h"
#include "base/text/columns.h"
#include "base/text/escape.h"
#include "base/text/safe_name.h"
#include "base/text/units.h"
#include "outputs/terminal/profile_diff/profile_diff.h"

namespace debrief::outputs::profile_diff {

namespace {

constexpr size_t kNarrowestName = 32;
constexpr size_t kFiguresBefore = 96;  // columns that the figures before a name take

std::string PercentOf(const Change& change) { return ChangePercentText(change.a, change.b); }

std::string Mark(const Change& change) {
  if (change.difference() == 0 || change.noise == kNone64) return "";
  return change.is_real ? "significant" : "within noise";
}

std::string_view UnitName(Unit unit) { return unit == Unit::kStep ? "step" : "timeline"; }

// What work is for, whether exposed or not.
std::string_view WorkName(TimePart part) {
  static constexpr std::string_view kNames[kParts] = {"compute", "communication", "memcpy", "idle"};
  return kNames[static_cast<size_t>(part)];
}

// "B takes 46.7 ms longer per step than A: 77.5 ms -> 124 ms (+60 %)", and what A and B are.
void WriteHead(const ProfileDiff& diff, const DiffTextOptions& options, std::string& out) {
  const int64_t difference = diff.total.difference();
  const std::string_view unit = UnitName(diff.unit);
  if (difference == 0) {
    out += fmt::format("B takes as long per {} as A: {}\n", unit, DurationText(diff.total.a));
  } else {
    out +=
        fmt::format("B takes {} {} per {} than A: {} -> {} ({})\n",
                    DurationText(std::abs(difference)), difference > 0 ? "longer" : "less", unit,
                    DurationText(diff.total.a), DurationText(diff.total.b), PercentOf(diff.total));
  }
  out += fmt::format("  A: {}\n  B: {}\n", Printable(options.name_a), Printable(options.name_b));
  out += fmt::format("  means of {} and {} {}s, host and devices together", diff.steps_a,
                     diff.steps_b, unit);
  if (diff.left_out_a + diff.left_out_b > 0)
    out +=
        fmt::format("; {} and {} unusually long ones left out", diff.left_out_a, diff.left_out_b);
  if (diff.total.noise == kNone64) {
    out += "; too few to tell a difference from chance\n";
  } else {
    out += fmt::format("; differences up to {} may be chance\n", DurationText(diff.total.noise));
  }
}

void WriteParts(const ProfileDiff& diff, std::string& out) {
  constexpr auto kRight = TextTable::kRight;
  TextTable table(
      {{"where the time is"}, {"A", kRight}, {"B", kRight}, {"B - A", kRight}, {"", kRight}, {""}});
  auto add = [&](std::string_view name, const Change& change) {
    table.Add({std::string(name), DurationText(change.a), DurationText(change.b),
               SignedDurationText(change.difference()), PercentOf(change), Mark(change)});
  };
  for (const PartDiff& part : diff.parts) add(PartName(part.part), part.time);
  add("sum", diff.total);
  out += "\n" + table.Text({.indent = 2});
}

// `overlaps`: of the parts that the names do not add up to.
void WriteNames(std::string_view title, const ProfileDiff& diff, const std::vector<NameDiff>& names,
                const std::vector<PartDiff>& overlaps, const DiffTextOptions& options,
                std::string& out) {
  if (names.empty()) return;
  constexpr auto kRight = TextTable::kRight;
  const size_t width =
      std::max(kNarrowestName, options.width > kFiguresBefore ? options.width - kFiguresBefore : 0);
  TextTable table({{"B - A", kRight},
                   {"by launches", kRight},
                   {"by duration", kRight},
                   {"launches", kRight},
                   {""},
                   {""},
                   {""},
                   {std::string(title)}});
  const size_t shown = std::min(options.rows, names.size());
  for (size_t i = 0; i < shown; ++i) {
    const NameDiff& name = names[i];
    table.Add(
        {SignedDurationText(name.time.difference()), SignedDurationText(name.count_effect_ns),
         SignedDurationText(name.duration_effect_ns),
         PerSample(name.count_a, diff.samples_a) + " -> " + PerSample(name.count_b, diff.samples_b),
         std::string(name.verdict), Mark(name.time), std::string(WorkName(name.part)),
         CutMiddle(name.name, width)});
  }
  auto add_rest = [&](int64_t difference, std::string text) {
    table.Add({SignedDurationText(difference), "", "", "", "", "", "", std::move(text)});
  };
  int64_t rest = 0;
  for (size_t i = shown; i < names.size(); ++i) rest += names[i].time.difference();
  if (shown < names.size()) add_rest(rest, fmt::format("{} more", names.size() - shown));
  for (const PartDiff& part : overlaps) {
    if (part.time.a == 0 && part.time.b == 0) continue;
    add_rest(part.time.difference(),
             fmt::format("{}: what ran beside something else (A {}, B {})", PartName(part.part),
                         SignedDurationText(part.time.a), SignedDurationText(part.time.b)));
  }
  out += "\n" + table.Text({.indent = 2});
}

class CsvWriter {
 public:
  void Line(std::string_view level, std::string_view part, std::string_view name,
            const Change& change, const NameDiff* counts = nullptr) {
    out_ += fmt::format("{},{},", level, part);
    AppendCsv(out_, name);
    const std::string noise = change.noise == kNone64 ? "" : fmt::to_string(change.noise);
    out_ += fmt::format(",{},{},{},{},{}", change.a, change.b, change.difference(), noise,
                        SignificanceName(change));
    out_ += counts == nullptr
                ? std::string(",,,,,")
                : fmt::format(",{},{},{},{},{}", counts->count_a, counts->count_b,
                              counts->count_effect_ns, counts->duration_effect_ns, counts->verdict);
    out_ += '\n';
  }

  void Names(std::string_view level, const std::vector<NameDiff>& names) {
    for (const NameDiff& name : names)
      Line(level, PartName(name.part), name.name, name.time, &name);
  }

  std::string Take() { return std::move(out_); }

 private:
  std::string out_ =
      "level,part,name,a_ns,b_ns,difference_ns,noise_ns,significance,count_a,count_b,"
      "count_effect_ns,duration_effect_ns,verdict\n";
};

void WriteChange(const Change& change, JsonWriter& json) {
  json.Field("a_ns", change.a).Field("b_ns", change.b);
  json.Field("difference_ns", change.difference()).Field("noise_ns", change.noise);
  json.Field("significance", SignificanceName(change));
}

void WriteParts(std::string_view key, const std::vector<PartDiff>& parts, JsonWriter& json) {
  json.Objects(key, parts, [&](const PartDiff& part) {
    json.Field("part", PartName(part.part));
    WriteChange(part.time, json);
  });
}

void WriteNames(std::string_view key, const std::vector<NameDiff>& names, JsonWriter& json) {
  json.Objects(key, names, [&](const NameDiff& name) {
    json.Field("part", PartName(name.part)).Field("name", name.name);
    WriteChange(name.time, json);
    json.Field("count_a", name.count_a).Field("count_b", name.count_b);
    json.Field("count_effect_ns", name.count_effect_ns);
    json.Field("duration_effect_ns", name.duration_effect_ns).Field("verdict", name.verdict);
  });
}

}  // namespace

std::string PerSample(int64_t count, int64_t samples) {
  if (samples == 0) return "0";
  return fmt::format("{:.4g}", static_cast<double>(count) / static_cast<double>(samples));
}

std::string DiffText(const ProfileDiff& diff, const DiffTextOptions& options) {
  std::string out;
  WriteHead(diff, options, out);
  WriteParts(diff, out);
  WriteNames("kernel, copy or fill", diff, diff.kernels, diff.overlaps, options, out);
  WriteNames("op", diff, diff.ops, {}, options, out);
  return out;
}

std::string DiffCsv(const ProfileDiff& diff) {
  CsvWriter csv;
  csv.Line("total", "", UnitName(diff.unit), diff.total);
  for (const PartDiff& part : diff.parts) csv.Line("part", PartName(part.part), "", part.time);
  csv.Names("kernel", diff.kernels);
  for (const PartDiff& part : diff.overlaps)
    csv.Line("overlap", PartName(part.part), "", part.time);
  csv.Names("op", diff.ops);
  return csv.Take();
}

std::string DiffJson(const ProfileDiff& diff, const DiffTextOptions& options) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("a", options.name_a).Field("b", options.name_b);
  json.Field("unit", UnitName(diff.unit)).Field("samples_a", diff.samples_a);
  json.Field("samples_b", diff.samples_b).Key("total").BeginObject();
  WriteChange(diff.total, json);
  json.EndObject();
  WriteParts("parts", diff.parts, json);
  WriteNames("kernels", diff.kernels, json);
  WriteParts("overlaps", diff.overlaps, json);
  WriteNames("ops", diff.ops, json);
  json.EndObject();
  out += '\n';
  return out;
}

}  // namespace debrief::outputs::profile_diff
