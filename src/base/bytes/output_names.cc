#include "base/bytes/output_names.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace debrief {

namespace {

constexpr std::string_view kMiddle = ".debrief-";
constexpr size_t kDigits = 16;
constexpr size_t kLongestName = 200;  // with what is added below the 255 bytes of file systems

std::string_view Shortened(std::string_view name) { return name.substr(0, kLongestName); }

// The system's random numbers. Should there be none, names are still different; a file or folder is
// only ever made where nothing is.
uint64_t RandomNumber() {
  static std::atomic<uint64_t> count = 0;
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return (static_cast<uint64_t>(::getpid()) << 32) + ++count;
}

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

std::string UnfinishedPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  return fmt::format("{}.{}{}{:016x}", path.substr(0, begin), Shortened(path.substr(begin)),
                     kMiddle, RandomNumber());
}

bool IsUnfinishedName(std::string_view name, std::string_view of) {
  if (name.size() <= kMiddle.size() + kDigits || name.front() != '.') return false;
  const std::string_view digits = name.substr(name.size() - kDigits);
  const std::string_view front = name.substr(1, name.size() - kDigits - 1);
  if (!front.ends_with(kMiddle) || !std::all_of(digits.begin(), digits.end(), IsHexDigit))
    return false;
  return of.empty() || front.substr(0, front.size() - kMiddle.size()) == Shortened(of);
}

}  // namespace debrief
