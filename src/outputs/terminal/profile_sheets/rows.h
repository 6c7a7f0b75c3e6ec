// The rows of a table that a sheet shows, in its order.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

std::optional<size_t> FindColumn(const Table& table, std::string_view name);

struct SelectedRows {
  std::vector<size_t> rows;
  bool other_definition = false;  // the wanted one does not define this; rows are debrief's
};
SelectedRows SelectRows(const Model& model, const Table& table, const Sheet& sheet,
                        const SheetOptions& options);

}  // namespace debrief::outputs::profile_sheets
