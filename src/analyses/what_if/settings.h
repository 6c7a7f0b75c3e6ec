// What the user asks to change (`debrief profile what-if --set rank=6 --set link=2`), all at once.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/what_if_set.h"

namespace debrief::analyses::what_if {

struct Setting {
  std::string_view kind, value;

  // Of rank, stage, replica and link; -1 when the value is no number.
  double Number() const {
    double number = -1;
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, number);
    return error == std::errc() && at == end ? number : -1;
  }
  bool Is(std::string_view wanted, size_t number) const {
    return kind == wanted && Number() == static_cast<double>(number);
  }
};

inline std::vector<Setting> SettingsOf(const Model& model) {
  const auto& table = model.tables.Get<WhatIfSetTable>();
  std::vector<Setting> settings;
  for (size_t row = 0; row < table.size(); ++row)
    settings.push_back({model.pools.Text(table.kind[row]), model.pools.Text(table.setting[row])});
  return settings;
}

// "rank=6 link=2"
inline std::string InWords(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& each : settings) {
    if (!text.empty()) text += ' ';
    text.append(each.kind).append("=").append(each.value);
  }
  return text;
}

}  // namespace debrief::analyses::what_if
