#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace debrief {
namespace status_test {

TEST(Status, OkSaysNothing) {
  Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), Code::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.remedy(), "");
  EXPECT_EQ(ok.ToString(), "ok");
  EXPECT_TRUE(std::move(ok).At({"f", 1, 1}).Remedy("x").ok());
}

TEST(Status, TellsEverything) {
  Status status = Status(Code::kTruncated, "gzip stream ends early")
                      .At({"x.gz", 17, -1})
                      .Remedy("Copy the file again.");
  EXPECT_EQ(status.ToString(),
            "truncated: gzip stream ends early (x.gz, byte 17). Copy the file again.");
}

TEST(Status, Places) {
  EXPECT_EQ(ToString(Place{}), "");
  EXPECT_EQ(ToString(Place{"a.log", -1, 3}), "a.log, line 3");
  EXPECT_EQ(ToString(Place{"a.log", 9, 3}), "a.log, line 3");
  EXPECT_EQ(ToString(Place{"", 0, -1}), "byte 0");
}

TEST(Status, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(Code::kUsage); ++code) {
    EXPECT_NE(CodeName(static_cast<Code>(code)), "unknown") << code;
  }
}

TEST(Status, CopiesDoNotChangeEachOther) {
  Status first(Code::kInvalid, "bad");
  Status second = first;
  second = std::move(second).At({"f", 1, -1}).Remedy("r");
  EXPECT_EQ(first.place().file, "");
  EXPECT_EQ(first.remedy(), "");
  EXPECT_EQ(second.place().file, "f");
  EXPECT_EQ(second.message(), "bad");
}

Result<int> Half(int number) {
  if (number % 2 != 0) return Status(Code::kInvalid, "odd");
  return number / 2;
}

Status Quarter(int number, int& quarter) {
  ASSIGN_OR_RETURN(int half, Half(number));
  ASSIGN_OR_RETURN(quarter, Half(half));
  return {};
}

TEST(Status, MacrosReturnEarly) {
  int quarter = 0;
  EXPECT_TRUE(Quarter(8, quarter).ok());
  EXPECT_EQ(quarter, 2);
  EXPECT_EQ(Quarter(6, quarter).message(), "odd");
  EXPECT_EQ(Quarter(7, quarter).message(), "odd");
}

class HasStatus {
 public:
  explicit HasStatus(Status status) : status_(std::move(status)) {}
  Status Check() {
    TRY(status_);
    TRY(Status());
    return Status(Code::kUsage, "went on");
  }

 private:
  Status status_;
};

// The macro's own variable must not hide a member of a usual name.
TEST(Status, TryOfAMember) {
  EXPECT_EQ(HasStatus(Status(Code::kIo, "disk")).Check().code(), Code::kIo);
  EXPECT_EQ(HasStatus(Status()).Check().code(), Code::kUsage);
}

TEST(Result, CarriesWhatOnlyMoves) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  ASSERT_TRUE(result.ok());
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
  Result<std::string> text = std::string("abc");
  EXPECT_EQ(text->size(), 3u);
}

}  // namespace status_test
}  // namespace debrief
