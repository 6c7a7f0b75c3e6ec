#include "compat/tlparse/pages/frame_texts.h"

#include <fmt/format.h>

#include "base/text/escape.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// "dump_file/eval_with_key_3.html" for a file named "<eval_with_key>.3"; else empty.
std::string DumpOf(std::string_view file) {
  constexpr std::string_view kMark = "<eval_with_key>.";
  const size_t at = file.find(kMark);
  if (at == file.npos) return {};
  file.remove_prefix(at + kMark.size());
  const std::string_view digits = file.substr(0, file.find_first_not_of("0123456789"));
  return digits.empty() ? std::string() : fmt::format("dump_file/eval_with_key_{}.html", digits);
}

}  // namespace

// The address that the user gave, with the path and the line of the frame in it. The address is the
// user's, the path is escaped.
void FrameTexts::AppendSourceLink(std::string_view file, int32_t line) {
  text_ += "<a href=\"";
  for (std::string_view rest = source_link_; !rest.empty();) {
    if (rest.starts_with("{path}")) {
      AppendPath(file, text_);
      rest.remove_prefix(6);
    } else if (rest.starts_with("{line}")) {
      fmt::format_to(std::back_inserter(text_), "{}", line);
      rest.remove_prefix(6);
    } else {
      AppendHtml(text_, rest.substr(0, 1));
      rest.remove_prefix(1);
    }
  }
  text_ += "\">";
}

FrameTexts::Place FrameTexts::Make(const Frame& frame) {
  Place place = {.begin = text_.size(), .link = std::string::npos, .end = 0};
  std::string_view file = pools_.Text(frame.file);
  if (file.empty()) file = "(unknown)";
  const std::string dump = DumpOf(file);
  const bool linked = dumps_.contains(dump);
  const bool has_source = dump.empty() && !source_link_.empty() && frame.file != StringId::kNone;
  if (linked) {
    text_ += "<a href=\"";
    place.link = text_.size();
    fmt::format_to(std::back_inserter(text_), "{}#L{}\">", dump, frame.line);
  } else if (has_source) {
    AppendSourceLink(ShortPath(file), frame.line);
  }
  AppendHtml(text_, ShortPath(file));
  fmt::format_to(std::back_inserter(text_), ":{}", frame.line);
  if (linked || has_source) text_ += "</a>";
  text_ += " in ";
  AppendHtml(text_, pools_.Text(frame.function));
  if (dump.empty() && !pools_.Text(frame.text).empty()) {
    text_ += "<i>";
    AppendHtml(text_, pools_.Text(frame.text));
    text_ += "</i>";
  }
  place.end = text_.size();
  return place;
}

void FrameTexts::Add(std::span<const FrameId> frames) {
  for (FrameId frame : frames) {
    auto [found, is_new] = places_.try_emplace(frame);
    if (is_new) found->second = Make(pools_.GetFrame(frame));
  }
}

void FrameTexts::AppendFrame(FrameId frame, std::string_view root, std::string& out) const {
  auto found = places_.find(frame);
  if (found == places_.end()) return;
  const Place& place = found->second;
  if (place.link == std::string::npos) {
    out.append(text_, place.begin, place.end - place.begin);
    return;
  }
  out.append(text_, place.begin, place.link - place.begin);
  out += root;
  out.append(text_, place.link, place.end - place.link);
}

void FrameTexts::AppendStack(std::span<const FrameId> frames, std::string_view root,
                             std::string& out) const {
  out += "<ol class=\"stack\">\n";
  for (size_t i = frames.size(); i-- > 0;) {
    out += "<li>";
    AppendFrame(frames[i], root, out);
    out += "</li>\n";
  }
  out += "</ol>\n";
}

void FrameTexts::AppendFolded(std::string_view caption, std::span<const FrameId> frames,
                              std::string_view root, std::string& out) const {
  if (frames.empty()) return;
  fmt::format_to(std::back_inserter(out), "<details><summary>{} ({} {})</summary>", caption,
                 frames.size(), frames.size() == 1 ? "frame" : "frames");
  AppendStack(frames, root, out);
  out += "</details>";
}

}  // namespace debrief::outputs::tlparse_tree
