// Pickles as Python's protocol 4 writes them: every string and container goes into the memo.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::testing {

inline std::string Text(std::string_view text) {
  std::string bytes = "\x8c";
  bytes += static_cast<char>(text.size());
  return bytes.append(text) + '\x94';
}

inline std::string Int(int64_t value) {
  std::string bytes = "\x8a\x08........";
  std::memcpy(bytes.data() + 2, &value, 8);
  return bytes;
}

inline std::string List(const std::vector<std::string>& items) {
  std::string bytes = "]\x94";
  if (items.size() == 1) return bytes + items[0] + 'a';
  constexpr size_t kBatch = 1000;
  for (size_t begin = 0; begin < items.size(); begin += kBatch) {
    bytes += '(';
    for (size_t i = begin; i < std::min(items.size(), begin + kBatch); ++i) bytes += items[i];
    bytes += 'e';
  }
  return bytes;
}

inline std::string Dict(const std::vector<std::pair<std::string_view, std::string>>& items) {
  std::string bytes = "}\x94(";
  for (const auto& [key, value] : items) bytes += Text(key) + value;
  return bytes + 'u';
}

inline std::string Pair(const std::string& first, const std::string& second) {
  return first + second + "\x86\x94";
}

inline std::string Protocol4(const std::string& value) { return "\x80\x04" + value + '.'; }

}  // namespace debrief::testing
