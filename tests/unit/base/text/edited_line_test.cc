// What keys do to a line; the terminal itself is tested by tests/terminal.
#include "base/text/edited_line.h"

#include <gtest/gtest.h>

namespace debrief {
namespace {

const Completer kNames = [](std::string_view start) {
  std::vector<std::string> found;
  for (std::string_view name : {"comm_group", "comm_op", "input"})
    if (name.starts_with(start)) found.emplace_back(name);
  return found;
};

struct Typed {
  explicit Typed(std::string_view keys, std::vector<std::string> before = {})
      : history(std::move(before)), line(kNames, history) {
    for (char key : keys) event = line.Take(key);
  }
  std::vector<std::string> history;
  EditedLine line;
  EditedLine::Event event = EditedLine::Event::kEdited;
};

TEST(EditedLine, MovesAndErases) {
  EXPECT_EQ(Typed("abc\x1b[D\x1b[DX").line.text(), "aXbc");
  EXPECT_EQ(Typed("abc\x7f\x7fZ").line.text(), "aZ");
  EXPECT_EQ(Typed("abc\x01X\x05Y").line.text(), "XabcY");
  EXPECT_EQ(Typed("select one\x17two").line.text(), "select two");
  EXPECT_EQ(Typed("abc\x15").line.text(), "");
  EXPECT_EQ(Typed("abc\x1b[H\x1b[3~").line.text(), "bc");
  EXPECT_EQ(Typed("a\xc3\xa9\x7f").line.text(), "a");  // a character of two bytes goes at once
  EXPECT_EQ(Typed("abc\x1b[1;5Cd").line.text(), "abcd");
}

TEST(EditedLine, EndsAndCancels) {
  EXPECT_EQ(Typed("abc\r").event, EditedLine::Event::kDone);
  EXPECT_EQ(Typed("abc\x03").event, EditedLine::Event::kCancelled);
  EXPECT_EQ(Typed("\x04").event, EditedLine::Event::kEnded);
  EXPECT_EQ(Typed("a\x04").event, EditedLine::Event::kEdited);
}

TEST(EditedLine, CompletesTheWordAtTheCursor) {
  EXPECT_EQ(Typed("FROM in\t").line.text(), "FROM input ");
  EXPECT_EQ(Typed("FROM co\t").line.text(), "FROM comm_");
  Typed twice("FROM co\t\t");
  EXPECT_EQ(twice.event, EditedLine::Event::kListed);
  EXPECT_EQ(twice.line.choices().size(), 2u);
  EXPECT_EQ(Typed("FROM x\t").line.text(), "FROM x");
}

TEST(EditedLine, RecallsLines) {
  EXPECT_EQ(Typed("new\x1b[A", {"one", "two"}).line.text(), "two");
  EXPECT_EQ(Typed("new\x1b[A\x1b[A\x1b[A", {"one", "two"}).line.text(), "one");
  EXPECT_EQ(Typed("new\x1b[A\x1b[B", {"one", "two"}).line.text(), "new");
}

}  // namespace
}  // namespace debrief
