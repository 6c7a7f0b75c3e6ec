#include "inputs/same_part.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace debrief {

namespace {

std::vector<char> BytesOf(const Table& table, size_t column) {
  std::vector<char> bytes(table.size() * sizeof(int64_t));  // no type is larger
  table.Copy(column, 0, table.size(), bytes.data());
  return bytes;
}

void CheckSameTable(const Table* table, const Table* again) {
  size_t rows = table == nullptr ? 0 : table->size();
  DEBRIEF_CHECK(rows == (again == nullptr ? 0 : again->size()));
  for (size_t i = 0; rows != 0 && i < table->info().columns.size(); ++i) {
    DEBRIEF_CHECK(BytesOf(*table, i) == BytesOf(*again, i));
  }
}

void CheckSameDiagnostic(const Diagnostic& one, const Diagnostic& again) {
  DEBRIEF_CHECK(one.kind == again.kind && one.input == again.input && one.count == again.count);
  DEBRIEF_CHECK(one.first.size() == again.first.size());
  for (size_t i = 0; i < one.first.size(); ++i) {
    const Occurrence &a = one.first[i], &b = again.first[i];
    DEBRIEF_CHECK(a.offset == b.offset && a.line == b.line && a.detail == b.detail);
  }
}

}  // namespace

void CheckSamePart(Part& part, Part&& again) {
  TableSet same_ids;
  same_ids.Append(std::move(again.tables), part.pools.Absorb(again.pools));
  for (TableId id = 0; id < AllTables().size(); ++id) {
    CheckSameTable(part.tables.Find(id), same_ids.Find(id));
  }
  const std::vector<Diagnostic>&met = part.diagnostics.all(), &met_again = again.diagnostics.all();
  DEBRIEF_CHECK(met.size() == met_again.size());
  for (size_t i = 0; i < met.size(); ++i) CheckSameDiagnostic(met[i], met_again[i]);
}

}  // namespace debrief
