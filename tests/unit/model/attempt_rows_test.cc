#include "model/attempt_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "tables/comm_dump.h"

namespace debrief {
namespace {

std::vector<size_t> RowsOf(const AttemptRows& rows, int32_t job, int32_t attempt) {
  std::vector<size_t> found;
  for (const size_t row : rows.Of(job, attempt)) found.push_back(row);
  return found;
}

TEST(AttemptRows, AreInTheOrderOfTheTable) {
  CommDumpTable table;
  for (const auto& [job, attempt] : std::vector<std::pair<int32_t, int32_t>>{
           {0, 0}, {0, 0}, {0, 1}, {0, 0}, {1, 0}, {kNone32, 0}}) {
    CommDumpRow row;
    row.job = job;
    row.attempt = attempt;
    table.Add(row);
  }
  const AttemptRows rows(table);
  EXPECT_EQ(RowsOf(rows, 0, 0), (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(RowsOf(rows, 0, 1), (std::vector<size_t>{2}));
  EXPECT_EQ(RowsOf(rows, 1, 0), (std::vector<size_t>{4}));
  EXPECT_EQ(RowsOf(rows, 1, 1), std::vector<size_t>());
  EXPECT_EQ(rows.RunsOf(0, 0).size(), 2u);
  EXPECT_TRUE(RowsOf(AttemptRows(CommDumpTable()), 0, 0).empty());
}

}  // namespace
}  // namespace debrief
