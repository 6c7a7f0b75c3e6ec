// The drawing. Colours are attributes, so that a page with a strict policy shows them; elements
// have classes, so that a page may give them colours of its own (web/src/run/incident.css). What an
// activity is, is told by its colour, by a pattern where it matters, by words on the bar where they
// fit, and by a title that browsers show on hovering.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/text/columns.h"
#include "base/text/escape.h"
#include "base/text/rank_list.h"
#include "base/text/safe_name.h"
#include "base/text/units.h"
#include "outputs/incident/gather.h"

namespace debrief::incident {

namespace {

struct Look {
  std::string_view name;  // class of its elements
  std::string_view fill;
  std::string_view ink;  // of words on it
  std::string_view words;
};

constexpr std::array<Look, static_cast<size_t>(Activity::kCount)> kLooks = {{
    {"unknown", "none", "currentColor", "not known"},
    {"steps", "#a9c1dd", "#10243c", "running steps"},
    {"computing", "#3f74c4", "#ffffff", "computing, not in a collective"},
    {"collective", "#5fb39a", "#06241b", "in a collective"},
    {"waiting", "#f0ad4e", "#2b1a00", "waiting in a collective"},
    {"timed-out", "#e9cfa4", "#2b1a00", "after the timeout"},
    {"compiling", "#7d56c2", "#ffffff", "compiling"},
    {"loading", "#b0487a", "#ffffff", "loading data"},
    {"saving", "#96562c", "#ffffff", "saving"},
    {"copying", "#8f9bb0", "#10151f", "copies"},
    {"idle", "#d5d9e0", "#1c2530", "GPU idle"},
    {"ended", "#5d6470", "#ffffff", "ended"},
}};

const Look& LookOf(Activity activity) { return kLooks[static_cast<size_t>(activity)]; }

constexpr std::array<std::string_view, 5> kMarkWords = {"watchdog timeout", "error", "exit",
                                                        "restart", "step"};

constexpr double kWidth = 960, kLeastLeft = 90, kRight = 14, kTop = 40;  // 90: "0 = 02:42:25"
constexpr double kRowHeight = 24, kBarHeight = 17, kCharacter = 6.1;
constexpr double kWideCharacter = 6.9;  // of a legend: in no font may one entry touch the next

// Control characters are not allowed in XML, and marks that turn text around would mislead.
std::string Escaped(std::string_view text) {
  std::string out;
  AppendHtml(out, Printable(text));
  return out;
}

// A step of the axis that is 1, 2 or 5 times a power of ten, for at most `most` of them.
int64_t TickOf(int64_t length, int most) {
  const double least = static_cast<double>(length) / most;
  double tick = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (tick * factor >= least) return static_cast<int64_t>(tick * factor);
  }
  return static_cast<int64_t>(tick * 10);
}

// "+2.5 s", "-200 ms", "0".
std::string TickText(int64_t time, bool is_signed) {
  if (time == 0) return "0";
  const auto size = static_cast<double>(std::abs(time));
  const std::string text = size >= 120e9 ? fmt::format("{:g} min", size / 60e9)
                           : size >= 1e9 ? fmt::format("{:g} s", size / 1e9)
                           : size >= 1e6 ? fmt::format("{:g} ms", size / 1e6)
                                         : fmt::format("{:g} us", size / 1e3);
  return time < 0 ? "-" + text : is_signed ? "+" + text : text;
}

class SvgWriter {
 public:
  SvgWriter(const Incident& incident, bool is_file) : incident_(incident), is_file_(is_file) {
    bottom_ = kTop + kRowHeight * static_cast<double>(incident.rows.size());
    for (const Row& row : incident.rows)
      left_ = std::max(left_,
                       std::ceil(24 + kWideCharacter * static_cast<double>(RowLabel(row).size())));
  }

  std::string Write() {
    std::string body;
    std::swap(body, out_);
    WriteRows();
    if (HasAxis()) WriteAxis();
    WriteMoment();
    WriteLegend();
    WriteNotes();
    std::swap(body, out_);
    WriteHead();
    out_ += body;
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  bool HasAxis() const { return incident_.zero != kNone64; }

  double X(int64_t time) const {
    const double share = static_cast<double>(time - incident_.from) /
                         static_cast<double>(std::max(incident_.to - incident_.from, int64_t{1}));
    return left_ + std::clamp(share, 0.0, 1.0) * (kWidth - left_ - kRight);
  }

  std::string Id(std::string_view name) const {
    return fmt::format("incident-{}-{}", incident_.job == kNone32 ? 0 : incident_.job, name);
  }

  void WriteHead() {
    out_ += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"incident\" viewBox=\"0 0 {0} {1:.0f}\" "
        "width=\"{0}\" height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"{2} {3}\" "
        "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"currentColor\">\n",
        kWidth, bottom_, Id("title"), Id("desc"));
    out_ += fmt::format("<title id=\"{}\">{}</title>\n<desc id=\"{}\">{}</desc>\n", Id("title"),
                        Escaped(incident_.title), Id("desc"), Escaped(IncidentInWords(incident_)));
    if (is_file_)
      out_ +=
          "<style>svg{color:#1f2328;background:#ffffff}@media(prefers-color-scheme:dark){svg{color:"
          "#e6edf3;background:#0d1117}}</style>\n";
    out_ += fmt::format(
        "<defs><pattern id=\"{}\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"3\" height=\"7\" fill=\"#ffffff\" "
        "fill-opacity=\"0.33\"/></pattern><pattern id=\"{}\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\"><rect width=\"1\" "
        "height=\"6\" fill=\"currentColor\" fill-opacity=\"0.3\"/></pattern></defs>\n",
        Id("stripes"), Id("hatch"));
    out_ += fmt::format("<text x=\"0\" y=\"14\" font-weight=\"600\">{}</text>\n",
                        Escaped(incident_.title));
  }

  // ---- rows

  void WriteRows() {
    double y = kTop;
    for (const Row& row : incident_.rows) {
      out_ += fmt::format("<g class=\"row{}\"><title>{}</title>\n", row.is_blamed ? " blamed" : "",
                          Escaped(RanksAsSubject(row.ranks)));
      WriteLabel(row, y);
      for (const Span& span : row.spans) WriteSpan(span, y);
      for (const Mark& mark : row.marks) WriteMark(mark, y);
      out_ += "</g>\n";
      y += kRowHeight;
    }
  }

  void WriteLabel(const Row& row, double y) {
    if (row.is_blamed)
      out_ += fmt::format(
          "<path d=\"M0 {:.0f}l7 4.5l-7 4.5z\" class=\"blame\" fill=\"#d1242f\"/>\n", y + 4);
    out_ += fmt::format("<text x=\"12\" y=\"{:.0f}\"{}>{}</text>\n", y + 13,
                        row.is_blamed ? " font-weight=\"700\"" : "", Escaped(RowLabel(row)));
  }

  void WriteBar(double x, double y, double width, Activity activity) {
    const Look& look = LookOf(activity);
    // In steps of a profile communication has the colour that it has in the other views of
    // profiles.
    const bool is_exposed = incident_.is_slow && activity == Activity::kCollective;
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" class=\"{}\" fill=\"{}\"/>",
        x, y, width, kBarHeight, look.name, is_exposed ? "#e0912a" : look.fill);
    if (activity != Activity::kWaiting && activity != Activity::kUnknown) return;
    const bool is_unknown = activity == Activity::kUnknown;
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" "
        "fill=\"url(#{})\"{}/>",
        x, y, width, kBarHeight, Id(is_unknown ? "hatch" : "stripes"),
        is_unknown ? " stroke=\"currentColor\" stroke-opacity=\"0.35\"" : "");
  }

  void WriteSpan(const Span& span, double y) {
    const double x = X(span.from), width = std::max(X(span.to) - x, 0.8);
    const Look& look = LookOf(span.activity);
    out_ +=
        fmt::format("<g><title>{}: {}{}</title>", ActivityWords(span.activity, incident_.is_slow),
                    Escaped(span.words), HasAxis() ? ", " + DurationText(span.to - span.from) : "");
    WriteBar(x, y, width, span.activity);
    const auto room = static_cast<size_t>(std::max(0.0, (width - 8) / kCharacter));
    // Cut words are worse than none, but the name of an exception is worth its beginning.
    if (room >= 6 && (span.words.size() <= room || room >= 24))
      out_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.0f}\" font-size=\"11\" class=\"on-{}\" "
          "fill=\"{}\">{}</text>",
          x + (HasMarkAt(span.activity) ? 8 : 4), y + 12.5, look.name, look.ink,
          Escaped(CutEnd(span.words, room)));
    out_ += "</g>\n";
  }

  // These begin where a timeout or an exit is marked.
  static bool HasMarkAt(Activity activity) {
    return activity == Activity::kTimedOut || activity == Activity::kEnded;
  }

  void WriteMark(const Mark& mark, double y) {
    const double x = X(mark.at);
    out_ += fmt::format("<g class=\"mark\"><title>{}{}</title>", Escaped(mark.words),
                        HasAxis() ? " at " + TimeOfDay(mark.at) : "");
    DrawMark(mark.kind, x, y);
    out_ += "</g>\n";
  }

  // Forms that differ without colour: a clock hand, a cross, a square, a triangle, a line.
  void DrawMark(MarkKind kind, double x, double y) {
    const double middle = y + kBarHeight / 2;
    const auto draw = [&](std::string_view path, std::string_view paint) {
      out_ += fmt::format("<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\" {}/>", x, middle,
                          path, paint);
    };
    constexpr std::string_view kRed = "fill=\"#d1242f\" stroke=\"#ffffff\"";
    switch (kind) {
      case MarkKind::kTimeout:
        return draw("M-6 -8h12l-6 8l6 8h-12l6 -8z", kRed);
      case MarkKind::kError:
        return draw("M-5 -5L5 5M-5 5L5 -5", "fill=\"none\" stroke=\"#d1242f\" stroke-width=\"3\"");
      case MarkKind::kExit:
        return draw("M-5 -5h10v10h-10z", "fill=\"#1f2328\" stroke=\"#ffffff\"");
      case MarkKind::kRestart:
        return draw("M-5 -7l10 7l-10 7z", "fill=\"#1a7f37\" stroke=\"#ffffff\"");
      case MarkKind::kStep:
        return draw("M0 -8.5v17", "stroke=\"currentColor\" stroke-width=\"1.5\"");
    }
  }

  // ---- around the rows

  void WriteAxis() {
    const int64_t tick = TickOf(incident_.to - incident_.from, 8);
    const int64_t first = (incident_.from - incident_.zero) / tick * tick;
    for (int64_t at = first; at <= incident_.to - incident_.zero; at += tick) {
      if (at < incident_.from - incident_.zero) continue;
      const double x = X(incident_.zero + at);
      if (x > kWidth - 30) continue;  // its words would be cut
      out_ += fmt::format(
          "<path d=\"M{0:.1f} {1:.0f}v4\" stroke=\"currentColor\"/><text x=\"{0:.1f}\" "
          "y=\"{2:.0f}\" "
          "font-size=\"11\" text-anchor=\"middle\">{3}</text>\n",
          x, bottom_, bottom_ + 16, TickText(at, !incident_.is_slow));
    }
    out_ += fmt::format("<path d=\"M{} {:.0f}H{}\" stroke=\"currentColor\"/>\n", left_, bottom_,
                        kWidth - kRight);
    out_ += fmt::format("<text x=\"0\" y=\"{:.0f}\" font-size=\"11\">0 = {}</text>\n", bottom_ + 16,
                        TimeOfDay(incident_.zero));
    bottom_ += 24;
  }

  void WriteMoment() {
    if (incident_.moment.empty() || !HasAxis()) return;
    const double x = X(incident_.zero);
    const bool is_right = x > kWidth * 0.6;
    out_ += fmt::format(
        "<g class=\"moment\"><path d=\"M{0:.1f} {1}V{2:.0f}\" stroke=\"#d1242f\" "
        "stroke-width=\"1.5\" "
        "stroke-dasharray=\"4 3\"/><text x=\"{3:.1f}\" y=\"{4}\" font-size=\"11\" "
        "text-anchor=\"{5}\">{6}</text></g>\n",
        x, kTop - 8, bottom_ - 24, is_right ? x - 5 : x + 5, kTop - 6, is_right ? "end" : "start",
        Escaped(incident_.moment));
  }

  void WriteLegend() {
    bottom_ += 8;
    double x = left_;
    const auto place = [&](std::string_view words) {
      const double width = 30 + kWideCharacter * static_cast<double>(words.size()) + 14;
      if (x > left_ && x + width > kWidth) {
        x = left_;
        bottom_ += 20;
      }
      const double at = x;
      x += width;
      return at;
    };
    std::set<Activity> activities;
    std::set<MarkKind> marks;
    for (const Row& row : incident_.rows) {
      for (const Span& span : row.spans) activities.insert(span.activity);
      for (const Mark& mark : row.marks) marks.insert(mark.kind);
    }
    out_ += "<g class=\"legend\" font-size=\"11\">";
    for (Activity activity : activities) {
      const std::string_view words = ActivityWords(activity, incident_.is_slow);
      const double at = place(words);
      WriteBar(at, bottom_ - 3, 22, activity);
      out_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", at + 28, bottom_ + 10, words);
    }
    for (MarkKind kind : marks) {
      const std::string_view words = kMarkWords[static_cast<size_t>(kind)];
      const double at = place(words);
      DrawMark(kind, at + 11, bottom_ - 3);
      out_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", at + 28, bottom_ + 10, words);
    }
    out_ += "</g>\n";
    bottom_ += 22;
  }

  void WriteNotes() {
    for (const std::string& note : incident_.notes) {
      out_ += fmt::format("<text x=\"{}\" y=\"{:.0f}\" font-size=\"11\" class=\"note\">{}</text>\n",
                          left_, bottom_ + 10, Escaped(note));
      bottom_ += 18;
    }
    bottom_ += 4;
  }

  const Incident& incident_;
  bool is_file_;
  double bottom_;             // of what is drawn
  double left_ = kLeastLeft;  // where bars begin: behind the longest label
  std::string out_;
};

}  // namespace

std::string_view ActivityWords(Activity activity, bool is_slow) {
  if (is_slow && activity == Activity::kCollective) return "exposed communication";
  if (is_slow && activity == Activity::kComputing) return "computing";
  return LookOf(activity).words;
}

std::string IncidentSvg(const Incident& incident, bool is_file) {
  return incident.empty() ? "" : SvgWriter(incident, is_file).Write();
}

}  // namespace debrief::incident
