#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json/writer.h"
#include "base/text/escape.h"
#include "base/text/safe_name.h"
#include "base/text/units.h"
#include "outputs/terminal/profile_diff/profile_diff.h"

namespace debrief::outputs::profile_diff {

namespace {

constexpr size_t kNarrowestName = 32;

std::string Signed(int64_t ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "-") + DurationText(std::abs(ns));
}

std::string PercentOf(const Values& values) {
  if (values.a_ns <= 0) return "";
  return fmt::format("{:+.1f} %", 100 * static_cast<double>(values.difference()) /
                                      static_cast<double>(values.a_ns));
}

std::string_view Mark(const Values& values) {
  if (values.difference() == 0) return "";
  switch (values.significance) {
    case Significance::kSignificant:
      return "significant";
    case Significance::kWithinNoise:
      return "within noise";
    case Significance::kUnknown:
      break;
  }
  return "";
}

std::string_view UnitName(Unit unit) { return unit == Unit::kStep ? "step" : "timeline"; }

std::string PerSample(int64_t count, int64_t samples) {
  if (samples == 0) return "0";
  return fmt::format("{:.4g}", static_cast<double>(count) / static_cast<double>(samples));
}

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Begin and end of a long name: those of templates begin alike.
std::string Cut(const std::string& text, size_t width) {
  constexpr std::string_view kGap = "...";
  if (text.size() <= width) return text;
  const size_t kept = width > kGap.size() ? width - kGap.size() : 0;
  size_t head = kept / 2, tail = text.size() - (kept - head);
  while (head > 0 && ContinuesCharacter(text[head])) --head;
  while (tail < text.size() && ContinuesCharacter(text[tail])) ++tail;
  return text.substr(0, head) + std::string(kGap) + text.substr(tail);
}

// What work is for, whether exposed or not.
std::string_view WorkName(TimePart part) {
  static constexpr std::string_view kNames[kParts] = {"compute", "communication", "memcpy", "idle"};
  return kNames[static_cast<size_t>(part)];
}

// "B takes 46.7 ms longer a step than A: 77.5 ms -> 124 ms (+60.3 %)", and what A and B are.
void WriteHead(const ProfileDiff& diff, const DiffTextOptions& options, std::string& out) {
  const int64_t difference = diff.total.difference();
  const std::string_view unit = UnitName(diff.unit);
  if (difference == 0) {
    out += fmt::format("B takes as long a {} as A: {}\n", unit, DurationText(diff.total.a_ns));
  } else {
    out += fmt::format("B takes {} {} a {} than A: {} -> {} ({})\n",
                       DurationText(std::abs(difference)), difference > 0 ? "longer" : "less", unit,
                       DurationText(diff.total.a_ns), DurationText(diff.total.b_ns),
                       PercentOf(diff.total));
  }
  out += fmt::format("  A: {}\n  B: {}\n", Printable(options.name_a), Printable(options.name_b));
  out += fmt::format("  means of {} and {} {}s, host and devices together", diff.samples_a,
                     diff.samples_b, unit);
  if (diff.total.noise_ns == kNone64) {
    out += "; too few to tell a difference from chance\n";
  } else {
    out += fmt::format("; differences up to {} may be chance\n", DurationText(diff.total.noise_ns));
  }
}

void WriteLine(std::string_view name, const Values& values, std::string& out) {
  std::string line = fmt::format("  {:<24}{:>10} {:>10} {:>11} {:>10}  {}", name,
                                 DurationText(values.a_ns), DurationText(values.b_ns),
                                 Signed(values.difference()), PercentOf(values), Mark(values));
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

void WriteParts(const ProfileDiff& diff, std::string& out) {
  out += fmt::format("\n  {:<24}{:>10} {:>10} {:>11}\n", "where the time is", "A", "B", "B - A");
  for (const PartDiff& part : diff.parts) WriteLine(PartName(part.part), part.time, out);
  WriteLine("sum", diff.total, out);
}

void WriteNames(std::string_view title, const ProfileDiff& diff, const std::vector<NameDiff>& names,
                const DiffTextOptions& options, std::string& out) {
  if (names.empty()) return;
  out += fmt::format("\n  {:>11} {:>11} {:>11} {:>15}  {:<14} {:<12}  {:<13}  {}\n", "B - A",
                     "by launches", "by duration", "launches", "", "", "", title);
  const size_t shown = std::min(options.rows, names.size());
  for (size_t i = 0; i < shown; ++i) {
    const NameDiff& name = names[i];
    const std::string line = fmt::format(
        "  {:>11} {:>11} {:>11} {:>15}  {:<14} {:<12}  {:<13}  ", Signed(name.time.difference()),
        Signed(name.count_effect_ns), Signed(name.duration_effect_ns),
        PerSample(name.count_a, diff.samples_a) + " -> " + PerSample(name.count_b, diff.samples_b),
        name.verdict, Mark(name.time), WorkName(name.part));
    const size_t left = options.width > line.size() ? options.width - line.size() : 0;
    out += line + Cut(Printable(name.name), std::max(left, kNarrowestName)) + "\n";
  }
  if (shown < names.size()) {
    int64_t rest = 0;
    for (size_t i = shown; i < names.size(); ++i) rest += names[i].time.difference();
    out += fmt::format("  {:>11} {} more\n", Signed(rest), names.size() - shown);
  }
}

void WriteOverlaps(const ProfileDiff& diff, std::string& out) {
  for (const PartDiff& part : diff.overlaps) {
    if (part.time.a_ns == 0 && part.time.b_ns == 0) continue;
    out += fmt::format("  {:>11} {}: what ran beside something else (A {}, B {})\n",
                       Signed(part.time.difference()), PartName(part.part), Signed(part.time.a_ns),
                       Signed(part.time.b_ns));
  }
}

class CsvWriter {
 public:
  void Line(std::string_view level, std::string_view part, std::string_view name,
            const Values& values, const NameDiff* counts = nullptr) {
    out_ += fmt::format("{},{},", level, part);
    AppendCsv(out_, name);
    const std::string noise = values.noise_ns == kNone64 ? "" : fmt::to_string(values.noise_ns);
    out_ += fmt::format(",{},{},{},{},{}", values.a_ns, values.b_ns, values.difference(), noise,
                        SignificanceName(values.significance));
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

void WriteValues(const Values& values, JsonWriter& json) {
  json.Field("a_ns", values.a_ns)
      .Field("b_ns", values.b_ns)
      .Field("difference_ns", values.difference())
      .Field("noise_ns", values.noise_ns)
      .Field("significance", SignificanceName(values.significance));
}

void WriteParts(std::string_view key, const std::vector<PartDiff>& parts, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const PartDiff& part : parts) {
    json.BeginObject().Field("part", PartName(part.part));
    WriteValues(part.time, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteNames(std::string_view key, const std::vector<NameDiff>& names, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const NameDiff& name : names) {
    json.BeginObject().Field("part", PartName(name.part)).Field("name", name.name);
    WriteValues(name.time, json);
    json.Field("count_a", name.count_a)
        .Field("count_b", name.count_b)
        .Field("count_effect_ns", name.count_effect_ns)
        .Field("duration_effect_ns", name.duration_effect_ns)
        .Field("verdict", name.verdict)
        .EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string DiffText(const ProfileDiff& diff, const DiffTextOptions& options) {
  std::string out;
  WriteHead(diff, options, out);
  WriteParts(diff, out);
  WriteNames("kernel, copy or fill", diff, diff.kernels, options, out);
  WriteOverlaps(diff, out);
  WriteNames("op", diff, diff.ops, options, out);
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
  json.BeginObject()
      .Field("a", options.name_a)
      .Field("b", options.name_b)
      .Field("unit", UnitName(diff.unit))
      .Field("samples_a", diff.samples_a)
      .Field("samples_b", diff.samples_b)
      .Key("total")
      .BeginObject();
  WriteValues(diff.total, json);
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
