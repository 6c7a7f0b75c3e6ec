#include "base/status.h"

#include <fmt/format.h>

namespace debrief {

namespace {
const std::string kNoText;
const Place kNoPlace;
}  // namespace

std::string_view CodeName(Code code) {
  static constexpr std::string_view kNames[] = {
      "ok",       "invalid", "truncated",   "not found", "denied", "i/o error",
      "no space", "limit",   "unsupported", "changed",   "usage"};
  return kNames[static_cast<size_t>(code)];
}

std::string ToString(const Place& place) {
  std::string text = place.file;
  if (place.line >= 0) {
    text += fmt::format("{}line {}", text.empty() ? "" : ", ", place.line);
  } else if (place.offset >= 0) {
    text += fmt::format("{}byte {}", text.empty() ? "" : ", ", place.offset);
  }
  return text;
}

Status::Status(Code code, std::string message)
    : rep_(std::make_shared<Rep>(Rep{code, std::move(message), {}, {}})) {}

Status::Rep* Status::Own() {
  if (rep_ && rep_.use_count() > 1) rep_ = std::make_shared<Rep>(*rep_);
  return rep_.get();
}

Status&& Status::At(Place place) && {
  if (Rep* rep = Own()) rep->place = std::move(place);
  return std::move(*this);
}

Status&& Status::Remedy(std::string remedy) && {
  if (Rep* rep = Own()) rep->remedy = std::move(remedy);
  return std::move(*this);
}

const std::string& Status::message() const { return rep_ ? rep_->message : kNoText; }
const std::string& Status::remedy() const { return rep_ ? rep_->remedy : kNoText; }
const Place& Status::place() const { return rep_ ? rep_->place : kNoPlace; }

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text = fmt::format("{}: {}", CodeName(code()), message());
  if (std::string where = debrief::ToString(place()); !where.empty())
    text += fmt::format(" ({})", where);
  if (!remedy().empty()) text += fmt::format(". {}", remedy());
  return text;
}

}  // namespace debrief
