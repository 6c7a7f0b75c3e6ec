#include "accel/ingest/trouble.h"

#include <fmt/format.h>

#include <algorithm>

namespace debrief::accel {

void Trouble::Add(std::string_view what, int64_t offset, int64_t count) {
  auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                           [&](const Kind& each) { return each.what == what; });
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {std::string(what), offset, 0});
  kind->count += count;
}

void Trouble::Append(const Trouble& other) {
  for (const Kind& kind : other.kinds_) Add(kind.what, kind.offset, kind.count);
}

bool Trouble::StopsReference() const {
  return std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& kind) {
    return kind.what != kNoName && kind.what != kNoTime && kind.what != kNoDurationNumber;
  });
}

void Trouble::Tell(std::string_view file, Console& console) const {
  for (const Kind& kind : kinds_) {
    const std::string place =
        kind.offset < 0 ? "" : fmt::format(" (the first at byte {})", kind.offset);
    console.Error(fmt::format("{}: {} event{} left out, which {}{}", file, kind.count,
                              kind.count == 1 ? "" : "s", kind.what, place));
  }
}

}  // namespace debrief::accel
