#include "accel/side_files/shares.h"

#include <algorithm>
#include <string_view>

#include "accel/python_text.h"
#include "base/bytes/source.h"

namespace debrief::accel {
namespace {

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

struct Columns {
  size_t pid = SIZE_MAX, category = SIZE_MAX, time = SIZE_MAX, calls = SIZE_MAX, ideal = SIZE_MAX;

  void Find(const std::vector<std::string_view>& head) {
    for (size_t i = 0; i < head.size(); ++i) {
      if (head[i] == "Pid") pid = i;
      if (head[i] == "Category") category = i;
      if (head[i] == "Kernel_Time") time = i;
      if (head[i] == "Calls") calls = i;
      if (head[i] == "Ideal_Time") ideal = i;
    }
  }
  bool complete() const { return std::max({pid, category, time, calls, ideal}) != SIZE_MAX; }
};

double NumberAt(const std::vector<std::string_view>& fields, size_t at) {
  return at < fields.size() ? PythonNumber(fields[at]).value_or(0) : 0;
}

void AddRow(const std::vector<std::string_view>& fields, const Columns& columns,
            CategoryShares& shares) {
  if (columns.category >= fields.size() || fields[columns.pid] == "all") return;
  const std::string_view category = fields[columns.category];
  if (category == "Total") return;
  auto at = std::find_if(shares.rows.begin(), shares.rows.end(),
                         [&](const auto& row) { return row.category == category; });
  if (at == shares.rows.end()) at = shares.rows.insert(at, {std::string(category)});
  at->time += NumberAt(fields, columns.time);
  at->calls += NumberAt(fields, columns.calls);
  at->ideal += NumberAt(fields, columns.ideal);
}

void MakeShares(CategoryShares& shares) {
  double time = 0, ideal = 0, calls = 0;
  for (const CategoryShares::Row& row : shares.rows) {
    time += row.time, ideal += row.ideal, calls += row.calls;
  }
  for (CategoryShares::Row& row : shares.rows) {
    row.time = time > 0 ? row.time / time : 0;
    row.ideal = ideal > 0 ? row.ideal / ideal : 0;
    row.calls = calls > 0 ? row.calls / calls : 0;
  }
  std::stable_sort(shares.rows.begin(), shares.rows.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
}

}  // namespace

CategoryShares ParseShares(std::string_view text) {
  CategoryShares shares;
  Columns columns;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> fields = Split(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (columns.complete()) {
      AddRow(fields, columns, shares);
    } else {
      columns.Find(fields);
      if (!columns.complete()) break;
    }
  }
  MakeShares(shares);
  return shares;
}

CategoryShares ReadShares(const std::string& path, Console& console) {
  if (path.empty()) return {};
  CategoryShares shares;
  Result<std::unique_ptr<Source>> source = OpenFileSource(path);
  if (source.ok()) {
    const Result<ByteView> bytes =
        source.value()->View(0, static_cast<size_t>(source.value()->size()));
    if (bytes.ok()) shares = ParseShares(bytes.value().text());
  }
  if (shares.rows.empty()) {
    console.Warning("UTL: " + path +
                    " has no categories. Give --autopilot_data the _categories.csv that a run "
                    "without autopilot wrote.");
  }
  return shares;
}

}  // namespace debrief::accel
