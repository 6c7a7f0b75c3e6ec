// Tables that are read together, so that those who read them need not list them all:
//
//   using ViewTables = TableGroup<TimelineTable, TimelineSliceTable, ...>;
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace debrief {

template <typename... Tables>
struct TableGroup {
  static constexpr auto Names() {
    std::array<std::string_view, (Part<Tables>::Names().size() + ... + 0)> names;
    size_t at = 0;
    auto add = [&](const auto& part) {
      for (std::string_view name : part) names[at++] = name;
    };
    (add(Part<Tables>::Names()), ...);
    return names;
  }

 private:
  template <typename Table>
  struct Part {
    static constexpr auto Names() { return std::array<std::string_view, 1>{Table::kName}; }
  };
  template <typename... Inner>
  struct Part<TableGroup<Inner...>> : TableGroup<Inner...> {};
};

}  // namespace debrief
