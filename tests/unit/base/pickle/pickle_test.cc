#include "base/pickle/pickle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "base/pickle/fetches.h"
#include "base/pickle/ops.h"
#include "base/pickle/writer.h"
#include "unit/base/pickle/pickle_samples.h"

namespace debrief {
namespace pickle_test {

using namespace std::string_literals;
using namespace std::string_view_literals;

// Keeps everything, or folds every list of numbers to its sum.
class TestBuilder final : public PickleBuilder {
 public:
  bool Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) override {
    ++calls;
    if (!sums || kind != PickleKind::kList) return false;
    int64_t sum = 0;
    for (PickleValue item : items) {
      if (!item.is(PickleKind::kInt)) return false;
      sum += item.number;
    }
    folded = PickleValue::Folded(7, sum);
    return true;
  }

  bool sums = false;
  int calls = 0;
};

// A pickle in a buffer of its own with exactly the padding that is promised, so that a sanitizer
// sees every byte read too many.
struct Pickle {
  explicit Pickle(std::string_view text, bool sums = false)
      : bytes(new char[text.size() + kPadding]()) {
    std::memcpy(bytes.get(), text.data(), text.size());
    folder.sums = sums;
    reader = std::make_unique<PickleReader>(std::string_view(bytes.get(), text.size()), folder);
    status = reader->Run();
  }

  // Through windows of a source.
  Pickle(std::string_view text, bool sums, size_t window_bytes)
      : source(MakeMemorySource(std::string(text))) {
    folder.sums = sums;
    reader =
        std::make_unique<PickleReader>(*source, ByteRange{0, text.size()}, window_bytes, folder);
    status = reader->Run();
  }

  std::string Show() const { return status.ok() ? Show(reader->root(), 0) : status.ToString(); }

  std::string Show(PickleValue value, int depth) const {
    if (depth > 20) return "...";
    switch (value.kind) {
      case PickleKind::kNone:
        return "None";
      case PickleKind::kBool:
        return value.number != 0 ? "True" : "False";
      case PickleKind::kInt:
        return fmt::to_string(value.number);
      case PickleKind::kDouble:
        return fmt::to_string(value.real);
      case PickleKind::kString:
        return fmt::format("'{}'", reader->Text(value));
      case PickleKind::kBytes:
        return fmt::format("b'{}'", reader->Text(value));
      case PickleKind::kBigInt:
        return "big";
      case PickleKind::kFolded:
        return fmt::format("<{}>", value.number);
      default:
        return ShowItems(value, depth);
    }
  }

  std::string ShowItems(PickleValue value, int depth) const {
    std::string_view brackets = value.is(PickleKind::kList)    ? "[]"
                                : value.is(PickleKind::kTuple) ? "()"
                                                               : "{}";
    std::string text(1, brackets[0]);
    auto items = reader->Items(value);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += value.is(PickleKind::kDict) && i % 2 == 1 ? ": " : ", ";
      text += Show(items[i], depth + 1);
    }
    return text + brackets[1];
  }

  std::unique_ptr<char[]> bytes;
  std::unique_ptr<Source> source;
  TestBuilder folder;
  std::unique_ptr<PickleReader> reader;
  Status status;
};

std::string Show(std::string_view text) { return Pickle(text).Show(); }

TEST(PickleTest, EveryProtocolGivesTheSameDocument) {
  for (std::string_view sample : test::kPickleOfProtocol) {
    EXPECT_EQ(Show(sample),
              "{'a': [1, -2, 300, 70000, 1099511627776, True, False, None], "
              "'t': (1, (2, 3), (4, 5, 6), (7, 8, 9, 10), ()), 'f': 1.5, "
              "'u': 'gr\u00fc\u00df \U0001F600\\n\"', 'e': [], 'd': {}, 'one': ['x'], "
              "'b': {'k': 'x'}, 'big': big, 'neg': -8589934592}");
  }
}

// Python puts a container into the memo before it fills it.
TEST(PickleTest, PutBeforeItIsFilled) {
  EXPECT_EQ(Show("]q\0(K\1h\0e."sv).substr(0, 12), "[1, [1, [1, ") << "holds itself";
  EXPECT_EQ(Show("}q\0(K\1h\0K\2]q\1u."sv).substr(0, 10), "{1: {1: {1");
  EXPECT_EQ(Show("(]q\0]q\1h\0h\1t."sv), "([], [], [], [])");
  EXPECT_EQ(Show("(]q\0(K\1e]q\1(K\2eh\0h\1t."sv), "([1], [2], [1], [2])");
  EXPECT_EQ(Show("(]q\0q\1(K\1eh\0h\1t."sv), "([1], [1], [1])") << "two numbers";
  EXPECT_EQ(Show("(]q\0K\1ah\0K\2ah\0t."sv), "([1, 2], [1, 2], [1, 2])");
  EXPECT_EQ(Show("(]q\0(]q\0(K\1eh\0et."sv), "([[1], [1]])") << "a number for two";
  EXPECT_EQ(Show("(]q\0(K\1e]q\0(K\2eh\0t."sv), "([1], [2], [2])");
  EXPECT_EQ(Show("]q\0000h\0."sv), "[]") << "dropped, and fetched again";
  EXPECT_EQ(Show("((]q\0001h\0t."sv), "([])");
  EXPECT_EQ(Show("(]q\0002h\0(K\1et."sv), "([1], [1], [1])");
  EXPECT_EQ(Show("(]\x94(K\1e]\x94h\0h\1t."sv), "([1], [], [1], [])");
}

// The same list under other numbers of the memo is read once.
TEST(PickleTest, RepeatedListsOfPython) {
  constexpr int kLists = 50;
  std::string items = "(";
  for (char i = 1; i <= 20; ++i) items += std::string("K") + i;
  for (const std::string& list : {items + "e", "(K\1K\2e"s}) {
    std::string text = "(";
    for (char i = 0; i < kLists; ++i) text += "]q"s + i + list;
    text += "h\7h\x31t.";
    const Pickle pickle(text, true);
    ASSERT_TRUE(pickle.status.ok()) << pickle.status.ToString();
    const auto all = pickle.reader->Items(pickle.reader->root());
    ASSERT_EQ(all.size(), size_t{kLists} + 2);
    for (PickleValue item : all) EXPECT_EQ(item.number, list.size() > 10 ? 210 : 3);
    EXPECT_LT(pickle.folder.calls, 5);
    EXPECT_EQ(Pickle(text, true, 64).Show(), pickle.Show()) << "through windows";
  }
}

TEST(PickleTest, OpcodesThatOldAndNewWritersUse) {
  EXPECT_EQ(Show("S'it\\'s \\x41\\101\\n'\n."), "'it's AA\n'");
  EXPECT_EQ(Show("S\"two\"\n."), "'two'");
  EXPECT_EQ(Show("U\3abc."), "'abc'");
  EXPECT_EQ(Show("T\3\0\0\0abc."sv), "'abc'");
  EXPECT_EQ(Show("C\2ab."), "b'ab'");
  EXPECT_EQ(Show("B\2\0\0\0ab."sv), "b'ab'");
  EXPECT_EQ(Show("\x8d\2\0\0\0\0\0\0\0ab."sv), "'ab'");
  EXPECT_EQ(Show("\x8e\2\0\0\0\0\0\0\0ab."sv), "b'ab'");
  EXPECT_EQ(Show("\x96\2\0\0\0\0\0\0\0ab."sv), "b'ab'");
  EXPECT_EQ(Show("\x8b\2\0\0\0\xff\xff."sv), "-1");
  EXPECT_EQ(Show("\x8a\0."sv), "0");
  EXPECT_EQ(Show("(K\1K\2l."), "[1, 2]");
  EXPECT_EQ(Show("(K\1K\2d."), "{1: 2}");
  EXPECT_EQ(Show("\x8f(K\1K\2\x90."), "{1, 2}");
  EXPECT_EQ(Show("(K\1\x91."), "{1}");
  EXPECT_EQ(Show("K\1\x85."), "(1)");
  EXPECT_EQ(Show("K\1K\2"
                 "0."),
            "1");
  EXPECT_EQ(Show("K\1(K\2K\3"
                 "1."),
            "1");
  EXPECT_EQ(Show("](K\1"
                 "2e."),
            "[1, 1]");
  EXPECT_EQ(Show("K\1(0."), "1") << "POP takes a mark that is on top";
}

TEST(PickleTest, NoOpcodeThatCouldRunCodeIsCarriedOut) {
  for (const pickle::CodeBearing& code : pickle::kCodeBearing) {
    SCOPED_TRACE(code.name);
    // A place where Python would have something to work on.
    std::string text = "](X\2\0\0\0osX\6\0\0\0system"s.append(1, static_cast<char>(code.opcode));
    text += "os\nsystem\n\0\0\0\0."sv;
    Pickle pickle(text);
    EXPECT_EQ(pickle.status.code(), Code::kUnsupported);
    EXPECT_NE(pickle.status.message().find(code.name), std::string::npos);
    EXPECT_EQ(pickle.status.place().offset, 20);
  }
}

TEST(PickleTest, BytesThatAreNoOpcodeAreInvalid) {
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
  std::string known =
      "(.012FIJKLMNSTUVXad}eghjl]pqrst)uGBC\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c"
      "\x8d\x8e\x8f\x90\x91\x94\x95\x96";
  for (const CodeBearing& code : kCodeBearing) known += static_cast<char>(code.opcode);
  int unknown = 0;
  for (int byte = 0; byte < 256; ++byte) {
    if (known.find(static_cast<char>(byte)) != std::string::npos) continue;
    ++unknown;
    EXPECT_EQ(Pickle(std::string(1, static_cast<char>(byte))).status.code(), Code::kInvalid);
  }
  EXPECT_EQ(unknown, 256 - 68);
}

TEST(PickleTest, CutAnywhereIsTruncatedAndNothingElse) {
  for (std::string_view sample : test::kPickleOfProtocol) {
    for (size_t size = 0; size < sample.size(); ++size)
      ASSERT_EQ(Pickle(sample.substr(0, size)).status.code(), Code::kTruncated) << size;
  }
}

TEST(PickleTest, FlippedBitsNeverHarm) {
  for (std::string_view sample : test::kPickleOfProtocol) {
    std::string text(sample);
    for (size_t bit = 0; bit < text.size() * 8; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
      (void)Pickle(text).Show();
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    }
  }
}

TEST(PickleTest, RandomOpcodesNeverHarm) {
  constexpr std::string_view kOps =
      "((((..0012NNK\1K\2]]}})esuatdlq\1q\2h\1h\2\x85\x86\x87\x8f\x90\x94";
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = 0; i < 40; ++i) text += kOps[random() % kOps.size()];
    (void)Pickle(text, round % 2 == 0).Show();
  }
}

TEST(PickleTest, WhatIsMissingOnTheStackIsInvalid) {
  for (std::string_view text :
       {"."sv,     "0"sv,     "2"sv,       "1"sv,          "e"sv,         "(e"sv,
        "K\1(e"sv, "a"sv,     "]a"sv,      "}K\1s"sv,      "}(K\1u"sv,    "(K\1d"sv,
        "t"sv,     "\x85"sv,  "K\1\x86"sv, "q\0"sv,        "h\0"sv,       "g0\n"sv,
        "g-1\n"sv, "K\1(."sv, "](K\1u"sv,  "](K\1(\x86"sv, "K\1q\0h\1"sv, "\x80\6"sv,
        "Ix\n"sv,  "Fx\n"sv,  "S'\n"sv,    "V\\u12\n"sv,   "K\1K\2a"sv}) {
    EXPECT_EQ(Pickle(text).status.code(), Code::kInvalid) << text;
  }
}

TEST(PickleTest, LengthsBeyondTheFileAreTruncated) {
  for (std::string_view text :
       {"X\xff\xff\xff\xff"sv, "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"sv, "\x8b\xff\xff\xff\x7f"sv,
        "\x8a\xff"sv, "U\5ab"sv, "C\5ab"sv, "\x96\xff\xff\xff\xff\xff\xff\xff\x7f"sv, "Vabc"sv}) {
    EXPECT_EQ(Pickle(text).status.code(), Code::kTruncated);
  }
}

TEST(PickleTest, MemoNumbersAreBoundedByTheBytesSoFar) {
  EXPECT_EQ(Pickle("Nr\xff\xff\xff\xff."sv).status.code(), Code::kLimit);
  EXPECT_EQ(Pickle("Nq\xff."sv).status.code(), Code::kLimit);
  EXPECT_EQ(Pickle("Np99999999999\n."sv).status.code(), Code::kLimit);
  EXPECT_EQ(Show("NNq\1"
                 "0."),
            "None");
}

TEST(PickleTest, DepthIsBounded) {
  EXPECT_EQ(Pickle(std::string(PickleReader::kMaxDepth + 1, '(')).status.code(), Code::kLimit);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "](";
  for (int i = 0; i < 5000; ++i) deep += "e";
  EXPECT_TRUE(Pickle(deep + ".").status.ok());
  std::string tuples = ")";
  for (int i = 0; i < 200'000; ++i) tuples += "\x85";
  EXPECT_TRUE(Pickle(tuples + ".").status.ok()) << "depth without marks costs no stack of ours";
}

TEST(PickleTest, TheStackIsBounded) {
  EXPECT_EQ(Pickle(std::string(PickleStack::kMaxSize + 1, 'N')).status.code(), Code::kLimit);
}

// Each list holds the previous one ten times: 10^20 items if it were unfolded.
TEST(PickleTest, MemoBombStaysSmall) {
  std::string bomb = "NNNN](NNeq\1";
  for (int i = 0; i < 20; ++i) bomb += "](h\1h\1h\1h\1h\1h\1h\1h\1h\1h\1eq\1";
  EXPECT_TRUE(Pickle(bomb + ".").status.ok());
  EXPECT_TRUE(Pickle(bomb + ".", true).status.ok());
}

TEST(PickleTest, ContainersMayContainThemselves) {
  EXPECT_TRUE(Pickle("]q\0h\0a."sv).status.ok());
  EXPECT_TRUE(Pickle("]q\0(h\0h\0e."sv).status.ok());
  EXPECT_TRUE(Pickle("}q\0(K\1h\0u."sv).status.ok());
  EXPECT_TRUE(Pickle("]q\0(h\0K\1e."sv, true).status.ok());
}

TEST(PickleTest, ListsInPiecesAreOneList) {
  std::string ones;
  for (int i = 0; i < 1000; ++i) ones += "K\1";
  for (std::string_view begin : {"]"sv, "]q\0"sv}) {
    std::string text = fmt::format("({}({}e({}eK\1at.", begin, ones, ones);
    EXPECT_EQ(Pickle(text, true).Show(), "(<2001>)");
  }
}

TEST(PickleTest, FoldedValuesStandForTheirContainer) {
  EXPECT_EQ(Pickle("](](K\1K\2e](K\3ee.", true).Show(), "[<3>, <3>]");
  EXPECT_EQ(Pickle("](]q\0(K\1K\2eh\0e."sv, true).Show(), "[<3>, <3>]") << "put before it is full";
  EXPECT_EQ(Pickle("](](K\1K\2eq\0h\0e."sv, true).Show(), "[<3>, <3>]") << "put when it is full";
  EXPECT_EQ(Pickle("](]](e]q\0h\0e."sv, true).Show(), "[<0>, <0>, <0>, <0>]") << "empty ones";
  EXPECT_EQ(Pickle("](]K\1aK\2a]q\0K\5ah\0e."sv, true).Show(), "[<3>, <5>, <5>]");
}

TEST(PickleTest, RepeatedListsAreFoldedOnce) {
  std::string text = "](N";
  for (int i = 0; i < 100; ++i) text += "](K\1K\2K\3K\4K\5K\6K\7K\1e";
  Pickle pickle(text + "e.", true);
  EXPECT_EQ(pickle.reader->Items(pickle.reader->root()).size(), 101u);
  for (PickleValue item : pickle.reader->Items(pickle.reader->root()).subspan(1))
    EXPECT_EQ(item.number, 29);
  EXPECT_LT(pickle.folder.calls, 5);
}

// Keeps the items of every dict as a line, and folds all containers.
class LineBuilder final : public PickleBuilder {
 public:
  bool Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) override {
    ++calls;
    std::string line;
    for (PickleValue item : items) {
      fmt::format_to(std::back_inserter(line), "{}:", static_cast<int>(item.kind));
      if (item.is_text()) line += reader->Text(item);
      if (item.is(PickleKind::kDouble)) line += fmt::to_string(item.real);
      if (!item.is_text() && !item.is(PickleKind::kDouble)) line += fmt::to_string(item.number);
      line += ' ';
    }
    if (kind == PickleKind::kDict) lines.push_back(line);
    folded = PickleValue::Folded(3, static_cast<int64_t>(std::hash<std::string>()(line) >> 20));
    return true;
  }

  void Learned(uint32_t layout, std::span<const PickleValue> items) override {
    EXPECT_EQ(layout, learned.size());
    learned.push_back(items.size());
  }

  bool FoldAlike(uint32_t layout, std::span<const PickleValue> items,
                 PickleValue& folded) override {
    ++alike;
    EXPECT_EQ(items.size(), layout < learned.size() ? learned[layout] : 0);
    return Fold(PickleKind::kDict, items, folded);
  }

  const PickleReader* reader = nullptr;
  std::vector<std::string> lines;
  std::vector<size_t> learned;  // by layout: items of the dict that it was learned from
  int calls = 0;
  int alike = 0;
};

// An entry as PyTorch writes it ('\0'), as Python does with memo numbers ('r'), or by MEMOIZE.
std::string Entry(int number, char put, uint32_t& memo) {
  std::string text = "}";
  const auto add_put = [&] {
    if (put == '\0') return;
    text += put;
    if (put == 'r') text.append(reinterpret_cast<const char*>(&memo), sizeof(memo));
    ++memo;
  };
  add_put();
  text += "(U\1a]"s;
  add_put();
  text += "(K\1K\2e"s;
  text += "U\1bM"s + static_cast<char>(number) + static_cast<char>(number / 256);
  text += "U\1cK"s + static_cast<char>(number % 200) + "U\1d\x8a\x08";
  const int64_t time = int64_t{1'750'000'000'000'000'000} + number;
  text.append(reinterpret_cast<const char*>(&time), sizeof(time));
  text += "U\1eG\x40\x09"s + static_cast<char>(number) + "\0\0\0\0\0"s;
  text += "U\1fU\5"s + (number % 3 == 0 ? "alpha" : "gamma");
  add_put();
  text += "U\1gK\7K\x08\x86"s;  // numbers of a tuple are no items
  add_put();
  if (put == 'r') {  // the tuple again
    const uint32_t tuple = memo - 1;
    text += "U\1hj"s;
    text.append(reinterpret_cast<const char*>(&tuple), sizeof(tuple));
  } else {
    text += "U\1hN"s;
  }
  return text + "u";
}

// Windows know no layouts: reading through them must give the same.
TEST(PickleTest, DictsOfOneLayoutDifferInTheirNumbers) {
  for (char put : {'\0', 'r', '\x94'}) {
    uint32_t memo = 0;
    std::string text = "](";
    for (int i = 0; i < 600; ++i) text += Entry(i, put, memo);
    text += "e.";
    LineBuilder whole, windows;
    const auto source = MakeMemorySource(text);
    const ByteView view = source->View(0, text.size()).value();
    PickleReader reader(view.text(), whole);
    whole.reader = &reader;
    ASSERT_TRUE(reader.Run().ok()) << static_cast<int>(put);
    PickleReader in_windows(*source, {0, text.size()}, 256, windows);
    windows.reader = &in_windows;
    ASSERT_TRUE(in_windows.Run().ok());
    EXPECT_EQ(whole.lines, windows.lines) << static_cast<int>(put);
    EXPECT_EQ(reader.root().number, in_windows.root().number);
    EXPECT_LT(whole.calls, 700) << "lists and tuples of known layouts are not read again";
    EXPECT_EQ(static_cast<size_t>(whole.alike) + whole.learned.size(), 600u);
    EXPECT_LT(whole.learned.size(), 10u);
    EXPECT_EQ(windows.alike, 0);
  }
}

// Dicts of the same bytes in two pickles, which fetch a text that is another one in each.
TEST(PickleTest, FormsOfAnotherPickleTellNoItems) {
  std::string dict;
  for (char key = 'a'; key < 'j'; ++key) dict += "U\1"s + key + "h\1";
  for (const std::string first : {"alpha", "other"}) {
    std::string text = "]q"s + '\0' + "(U\5" + first + "q\1";
    for (char number = 0; number < 9; ++number) text += "}(" + dict + "U\1nK"s + number + "u";
    text += "e.";
    LineBuilder builder;
    const auto source = MakeMemorySource(text);
    const ByteView view = source->View(0, text.size()).value();
    PickleReader reader(view.text(), builder);
    builder.reader = &reader;
    ASSERT_TRUE(reader.Run().ok());
    ASSERT_EQ(builder.lines.size(), 9u);
    EXPECT_GT(builder.alike, 0);
    for (const std::string& line : builder.lines) EXPECT_NE(line.find(first), std::string::npos);
    EXPECT_NE(builder.lines.back().find(":8 "), std::string::npos);
  }
}

// The bytes of both inner lists are the same, what memo number 1 stands for is not.
TEST(PickleTest, RepeatsEndWhenTheMemoChanges) {
  std::string_view list = "](h\1h\1h\1h\1h\1h\1h\1h\1h\1e";
  std::string text = "](K\5q\1" + std::string(list) + "K\7q\1" + std::string(list) + "e.";
  EXPECT_EQ(Pickle(text, true).Show(), "[5, <45>, 7, <63>]");
}

TEST(PickleTest, ARepeatAtTheEndOfTheFileReadsNoFurther) {
  std::string list = "](K\1K\2K\3K\4K\5K\6K\7K\1K\2e";
  for (size_t size = 0; size <= list.size(); ++size)
    (void)Pickle("](" + list + list.substr(0, size), true).Show();
}

TEST(PickleTest, UnfinishedShowsWhatIsWhole) {
  Pickle cut("}(U\1aK\1U\1bK\2U\1c](K\3");
  EXPECT_EQ(cut.status.code(), Code::kTruncated);
  auto items = cut.reader->Unfinished();
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(items[3].number, 2);
  EXPECT_EQ(Pickle("(dU\1aK\1sU\1b").reader->Unfinished().size(), 2u);
  EXPECT_EQ(Pickle("}(U\1aK\1U\1b").reader->Unfinished().size(), 2u);
  EXPECT_TRUE(Pickle("").reader->Unfinished().empty());
}

TEST(PickleTest, WindowsOfAnySizeGiveTheSame) {
  for (std::string_view sample : test::kPickleOfProtocol) {
    for (size_t length = 0; length <= sample.size(); ++length) {
      std::string_view text = sample.substr(0, length);
      Pickle whole(text);
      for (size_t window : {1u, 7u, 100u, 1u << 20}) {
        Pickle parts(text, false, window);
        EXPECT_EQ(parts.Show(), whole.Show()) << "window of " << window << ", cut at " << length;
      }
    }
  }
}

TEST(PickleTest, WindowsBeginAnywhereInASource) {
  auto source = MakeMemorySource("before]K\1a.behind");
  TestBuilder folder;
  PickleReader reader(*source, {6, 11}, 2, folder);
  EXPECT_TRUE(reader.Run().ok());
  ASSERT_EQ(reader.Items(reader.root()).size(), 1u);
  EXPECT_EQ(reader.Items(reader.root())[0].number, 1);
  PickleReader cut(*source, {6, 10}, 2, folder);
  Status status = cut.Run();
  EXPECT_EQ(status.code(), Code::kTruncated);
  EXPECT_EQ(status.place().offset, 10);
}

TEST(PickleTest, WindowsKeepEqualTextsOnce) {
  std::string text = "](";
  for (int i = 0; i < 300; ++i) text += "\x8c\1a\x8c\1b";
  Pickle pickle(text + "e.", false, 10);
  ASSERT_TRUE(pickle.status.ok());
  EXPECT_EQ(pickle.reader->Items(pickle.reader->root()).size(), 600u);
  EXPECT_EQ(pickle.reader->text_count(), 2u);
}

TEST(PickleTest, AWindowThatCannotBeReadIsNoTruncation) {
  class Broken final : public Source {
   public:
    uint64_t size() const override { return 100; }
    Result<ByteView> View(uint64_t, size_t) const override {
      return Status(Code::kChanged, "it shrank");
    }
  };
  Broken source;
  TestBuilder folder;
  PickleReader reader(source, {0, 100}, 10, folder);
  EXPECT_EQ(reader.Run().code(), Code::kChanged);
}

// Memo numbers of what has folded, before and after it did, and of containers whose place in the
// reader has served another one since.
TEST(PickleTest, TheMemoFollowsWhatFolds) {
  EXPECT_EQ(Pickle("](]q\1(K\1K\2eh\1]q\2(K\3eh\2h\1e.", true).Show(), "[<3>, <3>, <3>, <3>, <3>]");
  EXPECT_EQ(Pickle("](]q\1K\1a]q\2K\2ah\1h\2e.", true).Show(), "[<1>, <2>, <1>, <2>]");
  // The number of a list is given to another one before the first is complete.
  EXPECT_EQ(Pickle("](]q\1(K\1]q\1(K\5e0K\2eh\1e.", true).Show(), "[<3>, <5>]");
  // A list that is asked for before it is complete: both are the same.
  EXPECT_EQ(Pickle("](]q\1h\1K\4ae.", true).Show(), "[<4>, <4>]");
  // Numbers and the like in the memo, put twice.
  EXPECT_EQ(Show("](K\1q\1K\2q\1h\1\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xffq\2h\2e."sv),
            "[1, 2, 2, -1, -1]");
}

// Folds pieces of lists to their number of items.
class PieceBuilder final : public PickleBuilder {
 public:
  bool Fold(PickleKind, std::span<const PickleValue> items, PickleValue&) override {
    most_items = std::max(most_items, items.size());
    return false;
  }
  bool FoldPiece(std::span<const PickleValue> items, PickleValue& folded) override {
    folded = PickleValue::Folded(1, static_cast<int64_t>(items.size()));
    return true;
  }
  size_t most_items = 0;
};

TEST(PickleTest, LongListsFoldInPieces) {
  std::string text = "]\x94";
  for (int piece = 0; piece < 3; ++piece) {
    text += '(';
    for (int i = 0; i < (piece < 2 ? 1000 : 10); ++i) text += "K\1";
    text += 'e';
  }
  text += "K\1\x86.";  // (the list, 1)
  PieceBuilder folder;
  auto source = MakeMemorySource(text);
  PickleReader reader(*source, {0, text.size()}, 64, folder);
  ASSERT_TRUE(reader.Run().ok());
  auto items = reader.Items(reader.Items(reader.root())[0]);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].number + items[1].number + items[2].number, 2010);
  EXPECT_EQ(folder.most_items, 3u);
}

TEST(PickleWriter, WritesWhatTheReaderReads) {
  std::string text;
  PickleWriter pickle(&text);
  pickle.BeginDict().Key("a").BeginList().Int(-1).Int(255).Int(65536).Int(int64_t{1} << 40);
  pickle.NextPiece().Double(0.5).Bool(true).Null().Text("x\ny").EndList();
  pickle.Key("b").BeginDict().Key("a").BeginList().EndList().EndDict().EndDict().Stop();
  text.append(kPadding, '\0');
  TestBuilder builder;
  PickleReader reader(std::string_view(text).substr(0, text.size() - kPadding), builder);
  ASSERT_TRUE(reader.Run().ok());
  auto fields = reader.Items(reader.root());
  ASSERT_EQ(fields.size(), 4u);
  auto list = reader.Items(fields[1]);
  ASSERT_EQ(list.size(), 8u);
  EXPECT_EQ(list[0].number, -1);
  EXPECT_EQ(list[1].number, 255);
  EXPECT_EQ(list[2].number, 65536);
  EXPECT_EQ(list[3].number, int64_t{1} << 40);
  EXPECT_EQ(list[4].real, 0.5);
  EXPECT_TRUE(list[5].is(PickleKind::kBool));
  EXPECT_TRUE(list[6].is(PickleKind::kNone));
  EXPECT_EQ(reader.Text(list[7]), "x\ny");
  auto inner = reader.Items(fields[3]);
  ASSERT_EQ(inner.size(), 2u);
  EXPECT_EQ(reader.Text(inner[0]), "a") << "fetched from the memo";
}

// A list of many dicts, as Python writes it: everything is put into the memo, keys are fetched.
std::string ManyDicts(size_t count) {
  std::string text = "\x80\x04]\x94("s;
  for (size_t i = 0; i < count; ++i) {
    text += "}\x94("s;
    text += i == 0 ? "\x8c\x04size\x94"s : "h\x02"s;  // after the list and the first dict
    text += "M\x01\x02u"s;
    if (i % 1000 == 999) text += "e("s;
  }
  return text +
         "h\x01"
         "e.";  // the first dict once more
}

TEST(PickleMemo, KeepsWhatIsFetched) {
  constexpr size_t kCount = 200'000;
  const std::string text = ManyDicts(kCount);
  ASSERT_GT(text.size(), PickleReader::kLargePickle);
  auto source = MakeMemorySource(text);
  for (size_t window : {1000u, 1u << 16}) {
    TestBuilder builder;
    PickleReader reader(*source, {0, text.size()}, window, builder);
    ASSERT_TRUE(reader.Run().ok());
    auto list = reader.Items(reader.root());
    ASSERT_EQ(list.size(), kCount + 1);
    EXPECT_EQ(list.back().id, list.front().id) << "the same dict";
    EXPECT_EQ(reader.Text(reader.Items(list[kCount - 1])[0]), "size");
    EXPECT_LT(reader.memo_bytes(), text.size() / 50);
  }
}

TEST(PickleMemo, FetchesOfAllForms) {
  const std::string text = "h\x05j\x07\0\0\0g9\nX\x02\0\0\0h\x01K\x68I12\nj\xff\xff\xff\xff."s;
  auto fetches = MemoFetches::Find(*MakeMemorySource(text), {0, text.size()}, 16, 1000);
  ASSERT_TRUE(fetches.has_value());
  EXPECT_EQ(fetches->count(), 2u) << "larger ones than the bytes before were never put";
  const std::string late = std::string(50, 'N') + text;
  fetches = MemoFetches::Find(*MakeMemorySource(late), {0, late.size()}, 16, 1000);
  EXPECT_EQ(fetches->count(), 3u);
  for (uint64_t id : {5u, 7u, 9u}) EXPECT_TRUE(fetches->Has(id));
  for (uint64_t id : {0u, 1u, 6u, 104u, 1000u}) EXPECT_FALSE(fetches->Has(id));
  EXPECT_EQ(fetches->PositionOf(9), 2u);
}

}  // namespace pickle_test
}  // namespace debrief
