// What goldens rely on: reading in chunks of another size shows when it gives other rows or
// diagnostics.
#include "inputs/same_part.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "tables/input.h"

namespace debrief {
namespace same_part_test {

constexpr DiagnosticKind kOdd = {"test.odd", Severity::kWarning, "something is odd", "Look at it."};

// One row for each name; `before` is interned first, so that ids differ.
Part PartOf(std::initializer_list<std::string_view> names, std::string_view before = "") {
  Part part;
  part.pools.Intern(before);
  for (std::string_view name : names) {
    InputRow row;
    row.path = part.pools.Intern(name);
    row.bytes = 7;
    part.tables.Edit<InputTable>().Add(row);
  }
  return part;
}

TEST(SamePart, IdsMayDiffer) {
  Part part = PartOf({"a", "b"});
  CheckSamePart(part, PartOf({"a", "b"}, "z"));
  CheckSamePart(part, PartOf({"a", "b"}, "b"));
}

TEST(SamePart, NoRowsAreNoTable) {
  Part part = PartOf({});
  part.tables.Edit<InputTable>();
  CheckSamePart(part, PartOf({}));
}

TEST(SamePartDeathTest, OtherRows) {
  Part part = PartOf({"a", "b"});
  EXPECT_DEATH(CheckSamePart(part, PartOf({"a"})), "internal error");
  EXPECT_DEATH(CheckSamePart(part, PartOf({"b", "a"})), "internal error");
  EXPECT_DEATH(CheckSamePart(part, PartOf({"a", "c"})), "internal error");
}

TEST(SamePartDeathTest, OtherDiagnostics) {
  Part part = PartOf({"a"});
  part.diagnostics.Add(kOdd, 0, {.offset = 3, .line = 1, .detail = "x"});
  EXPECT_DEATH(CheckSamePart(part, PartOf({"a"})), "internal error");
  Part again = PartOf({"a"});
  again.diagnostics.Add(kOdd, 0, {.offset = 3, .line = 2, .detail = "x"});
  EXPECT_DEATH(CheckSamePart(part, std::move(again)), "internal error");
}

}  // namespace same_part_test
}  // namespace debrief
