#include "diff/compile_names.h"

#include <fmt/format.h>

#include <iterator>

#include "tables/compilation.h"

namespace debrief::diff {

FunctionNames::FunctionNames(const Side& side) : side_(side) {
  const auto& table = side.model.tables.Get<CompilationTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    rows_[{table.input[row], table.compile_id[row]}] = row;
    if (!side.HasRow(table, row)) continue;
    lines_[{std::string(side.Text(table.function[row])),
            std::string(FileName(side.Text(table.file[row])))}]
        .insert(table.line[row]);
  }
}

std::string FunctionNames::Of(StringId function, StringId file, int32_t line) const {
  if (!side_.compile_id.empty()) return "";
  const std::pair key(std::string(side_.Text(function)), std::string(FileName(side_.Text(file))));
  std::string name = fmt::format("{} ({})", key.first, key.second);
  auto lines = lines_.find(key);
  if (lines == lines_.end()) return name;
  auto place = std::distance(lines->second.begin(), lines->second.lower_bound(line)) + 1;
  return place == 1 ? name : fmt::format("{} #{}", name, place);
}

std::string FunctionNames::OfCompilation(int32_t input, StringId compile_id) const {
  if (!side_.compile_id.empty()) return "";
  auto row = rows_.find({input, compile_id});
  if (row == rows_.end()) return fmt::format("compilation {}", side_.Text(compile_id));
  const auto& table = side_.model.tables.Get<CompilationTable>();
  return Of(table.function[row->second], table.file[row->second], table.line[row->second]);
}

}  // namespace debrief::diff
