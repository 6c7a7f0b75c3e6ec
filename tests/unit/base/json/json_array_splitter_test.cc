#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/json/array_splitter.h"

namespace debrief {
namespace json_array_splitter_test {

// Hands out exact copies, so that a sanitizer sees every byte read too many.
class TextSource : public Source {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  uint64_t size() const override { return text_.size(); }
  Result<ByteView> View(uint64_t offset, size_t length) const override {
    if (offset >= fail_from) return Status(Code::kChanged, "the file shrank");
    size_t size = std::min<uint64_t>(length, text_.size() - offset);
    largest_view = std::max(largest_view, size);
    std::shared_ptr<char[]> bytes(new char[size + kPadding]());
    std::memcpy(bytes.get(), text_.data() + offset, size);
    const char* data = bytes.get();
    return ByteView(std::move(bytes), data, size);
  }

  uint64_t fail_from = ~uint64_t{0};
  mutable size_t largest_view = 0;

 private:
  std::string text_;
};

JsonArraySplit Split(const std::string& text, std::string_view key, uint64_t batch_bytes = 1,
                     JsonSplitOptions options = {}) {
  return SplitJsonArray(TextSource(text), key, batch_bytes, options).value();
}

std::vector<std::string> Texts(const std::string& text, const std::vector<ByteRange>& ranges) {
  std::vector<std::string> texts;
  for (ByteRange range : ranges) texts.push_back(text.substr(range.begin, range.size()));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(JsonArraySplitter, CutsOutElements) {
  std::string text = R"({"v": 1, "e": [ {"a": [1, 2]} , 3,"x,]" ,[ ], null ], "n" : "t" })";
  JsonArraySplit split = Split(text, "e");
  EXPECT_TRUE(split.found && split.closed && split.document_closed);
  EXPECT_EQ(Texts(text, split.batches),
            (Strings{R"({"a": [1, 2]})", "3", R"("x,]")", "[ ]", "null"}));
  EXPECT_EQ(split.elements, 5u);
  EXPECT_EQ(text[split.array_begin], '[');
  EXPECT_EQ(text.substr(split.array_end, 5), R"(, "n")");
  ASSERT_EQ(split.others.size(), 2u);
  EXPECT_EQ(split.others[0].key, "v");
  EXPECT_EQ(text.substr(split.others[0].value.begin, split.others[0].value.size()), "1");
  EXPECT_EQ(split.others[1].key, "n");
  EXPECT_EQ(text.substr(split.others[1].value.begin, split.others[1].value.size()), R"("t")");
}

TEST(JsonArraySplitter, FillsBatchesUpToTheirSize) {
  std::string text = "[11,22,33,44,[5,5,5,5,5],6]";
  EXPECT_EQ(Texts(text, Split(text, "", 5).batches),
            (Strings{"11,22", "33,44", "[5,5,5,5,5]", "6"}));
  EXPECT_EQ(Texts(text, Split(text, "", 1000).batches), (Strings{"11,22,33,44,[5,5,5,5,5],6"}));
}

TEST(JsonArraySplitter, IsNotFooledByTheKeyElsewhere) {
  std::string text =
      R"({"a": {"e": [1]}, "s": "\"e\": [2]", "l": ["e", [3]], "e": {"e": [4]}, "e": "e", "e": [5,6]})";
  JsonArraySplit split = Split(text, "e");
  EXPECT_EQ(Texts(text, split.batches), (Strings{"5", "6"}));
  EXPECT_EQ(split.others.size(), 5u);
  EXPECT_FALSE(Split(R"({"a": {"e": [1]}})", "e").found);
  EXPECT_FALSE(Split(R"([{"e": [1]}])", "e").found);
  EXPECT_FALSE(Split(R"({"e": [1]})", "").found);
  EXPECT_FALSE(Split(R"({"e": 1 [2]})", "e").found);
}

TEST(JsonArraySplitter, FirstArrayOfADoubleKeyCounts) {
  std::string text = R"({"e": [1], "e": [2]})";
  JsonArraySplit split = Split(text, "e");
  EXPECT_EQ(Texts(text, split.batches), (Strings{"1"}));
  ASSERT_EQ(split.others.size(), 1u);
  EXPECT_EQ(text.substr(split.others[0].value.begin, split.others[0].value.size()), "[2]");
}

TEST(JsonArraySplitter, KeepsWholeElementsOfACutDocument) {
  std::string whole = R"({"e": [{"a": 1}, {"b": [2]}, 17], "z": 1})";
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    std::string text = whole.substr(0, cut);
    JsonArraySplit split = Split(text, "e", 1000);
    std::string kept = split.batches.empty() ? "" : Texts(text, split.batches)[0];
    std::string expected = cut >= 32   ? R"({"a": 1}, {"b": [2]}, 17)"
                           : cut >= 27 ? R"({"a": 1}, {"b": [2]})"
                           : cut >= 15 ? R"({"a": 1})"
                                       : "";
    EXPECT_EQ(kept, expected) << text;
    EXPECT_EQ(split.found, cut >= 7) << text;
    EXPECT_EQ(split.closed, cut >= 32) << text;
    EXPECT_FALSE(split.document_closed);
    if (split.found && !split.closed && !split.batches.empty()) {
      EXPECT_EQ(split.array_end, split.batches.back().end);
    }
  }
}

TEST(JsonArraySplitter, NoBatchHoldsAnEmptyElement) {
  EXPECT_EQ(Texts("[1,,2,]", Split("[1,,2,]", "", 100).batches), (Strings{"1", "2"}));
  EXPECT_TRUE(Split("[ \n ]", "").batches.empty());
  EXPECT_TRUE(Split("[ \n ]", "").document_closed);
}

TEST(JsonArraySplitter, StopsWhereTheDocumentIsBroken) {
  EXPECT_EQ(Texts("[1,2},3]", Split("[1,2},3]", "").batches), (Strings{"1"}));
  EXPECT_FALSE(Split("[1,2},3]", "").closed);
  for (const char* text :
       {"", " ", "x", "}", "]", ",[1]", "x[1]", "1", "\"[1]\"", "{]", "{\"e\":[1}"}) {
    EXPECT_FALSE(Split(text, "").closed) << text;
    EXPECT_FALSE(Split(text, "e").closed) << text;
  }
}

TEST(JsonArraySplitter, SkipsAByteOrderMark) {
  EXPECT_EQ(Split("\xEF\xBB\xBF[1]", "").elements, 1u);
  EXPECT_EQ(Split("\xEF\xBB\xBF {\"e\":[1]}", "e").elements, 1u);
}

TEST(JsonArraySplitter, DeepNestingIsJustANumber) {
  std::string deep = "[" + std::string(3'000'000, '[') + std::string(3'000'000, ']') + ",2]";
  EXPECT_EQ(Split(deep, "").elements, 2u);
  EXPECT_EQ(Split(std::string(3'000'000, '['), "").elements, 0u);
  EXPECT_FALSE(Split(std::string(3'000'000, ']'), "").found);
}

TEST(JsonArraySplitter, BoundsWhatItKeepsOfOthers) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\": 0,";
  text += '"' + std::string(100'000, 'k') + "\": [1], \"e\": [1]}";
  JsonArraySplit split = Split(text, "e", 1, {.window_bytes = 100});
  EXPECT_TRUE(split.closed);
  EXPECT_EQ(split.others.size(), JsonArraySplit::kMaxOthers);
}

TEST(JsonArraySplitter, MemoryIsAFewWindows) {
  std::string text = "[";
  for (int i = 0; i < 300'000; ++i) text += R"({"name": "kernel", "args": {"x": [1, 2]}},)";
  text.back() = ']';
  TextSource source(text);
  JsonArraySplit split = SplitJsonArray(source, "", 1 << 16).value();
  EXPECT_EQ(split.elements, 300'000u);
  EXPECT_LE(source.largest_view, size_t{1} << 20);
  for (ByteRange batch : split.batches) EXPECT_LE(batch.size(), size_t{1} << 16);
}

TEST(JsonArraySplitter, TellsWhenTheSourceCannotBeRead) {
  TextSource source("{\"e\": [" + std::string(1000, '1') + "]}");
  source.fail_from = 500;
  auto result = SplitJsonArray(source, "e", 1, {.window_bytes = 100});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::kChanged);
}

// ---- Against a splitter that looks at one byte after the other and knows the whole text.

class SlowSplitter {
 public:
  SlowSplitter(const std::string& text, std::string key) : text_(text), key_(std::move(key)) {}

  // The elements, whether the array was closed; nothing when it was not found.
  struct Found {
    Strings elements;
    bool closed = false;
  };
  std::optional<Found> Run() {
    Space();
    if (key_.empty()) return at_ < text_.size() && text_[at_] == '[' ? Array() : std::nullopt;
    if (at_ >= text_.size() || text_[at_] != '{') return std::nullopt;
    ++at_;
    for (;;) {
      std::string key;
      char end = Piece(key, true);
      if (end == ',') continue;
      if (end != ':') return std::nullopt;
      Space();
      if (key == '"' + key_ + '"' && at_ < text_.size() && text_[at_] == '[') return Array();
      bool after_colon = true;
      while (after_colon) {
        end = Piece(key, true);
        after_colon = end == ':';
      }
      if (end != ',') return std::nullopt;
    }
  }

 private:
  void Space() {
    while (at_ < text_.size() && static_cast<uint8_t>(text_[at_]) <= ' ') ++at_;
  }

  // Reads up to a separator at this level, returns it (0 at the end) and leaves the trimmed text.
  char Piece(std::string& piece, bool colons) {
    piece.clear();
    int depth = 0;
    whole_ = false;
    bool inside = false;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      // Outside of strings, where JSON has no backslash, it only takes quotes their meaning.
      char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
      bool escaped = c == '\\' && (next == '"' || next == '\\');
      if (!inside && depth == 0 && (c == ',' || (colons && c == ':') || c == '}' || c == ']')) {
        ++at_;
        Trim(piece);
        return c;
      }
      if (static_cast<uint8_t>(c) > ' ') whole_ = false;
      if (c == '"') inside = !inside;
      if (!inside && (c == '{' || c == '[')) ++depth;
      if (!inside && (c == '}' || c == ']')) whole_ = --depth == 0;
      piece += c;
      if (escaped) piece += text_[++at_];
    }
    whole_ = whole_ && !inside && depth == 0;
    Trim(piece);
    return 0;
  }

  static void Trim(std::string& text) {
    auto is_space = [](char c) { return static_cast<uint8_t>(c) <= ' '; };
    while (!text.empty() && is_space(text.back())) text.pop_back();
    while (!text.empty() && is_space(text.front())) text.erase(0, 1);
  }

  std::optional<Found> Array() {
    Found found;
    ++at_;
    std::string element;
    for (;;) {
      char end = Piece(element, false);
      bool counts = end == ',' || end == ']' || (end == 0 && whole_);
      if (counts && !element.empty()) found.elements.push_back(element);
      if (end == ',') continue;
      found.closed = end == ']';
      return found;
    }
  }

  const std::string& text_;
  std::string key_;
  size_t at_ = 0;
  bool whole_ = false;
};

// Text that is nearly JSON, with the bytes that matter far more often than in real documents.
std::string RandomText(std::mt19937& random) {
  static const Strings kParts = {
      "{",     "}",  "[",  "]",     ",",    ":",    "\"",   "\\",     " ",       "\n", "1",
      "\"e\"", "[]", "{}", "\"a\"", "\\\\", "\\\"", "\"\"", "\"e\":", "\"e\":[", "x",  "\xC3\xA9"};
  std::string text = random() % 2 ? "{\"e\":[" : random() % 2 ? "[" : "";
  size_t parts = random() % 120;
  size_t kinds = random() % 2 ? kParts.size() : 12;
  for (size_t i = 0; i < parts; ++i) {
    text += kParts[random() % kinds];
    if (random() % 16 == 0) text.append(random() % 90, random() % 2 ? '\\' : '7');
  }
  return text;
}

// A valid document, possibly cut.
void AppendValue(std::string& text, std::mt19937& random, int depth) {
  switch (random() % (depth > 4 ? 4 : 6)) {
    case 0:
      text += "12.5";
      break;
    case 1:
      text += "null";
      break;
    case 2:
      text += "\"a\\\\\\\"],}" + std::string(random() % 70, 'z') + "\"";
      break;
    case 3:
      text += "\"e\"";
      break;
    case 4:
      text += "[";
      for (size_t i = random() % 4; i > 0; --i) {
        AppendValue(text, random, depth + 1);
        if (i > 1) text += random() % 2 ? "," : " ,\n ";
      }
      text += "]";
      break;
    default:
      text += "{";
      for (size_t i = random() % 4; i > 0; --i) {
        text += random() % 2 ? "\"e\": " : "\"k\":";
        AppendValue(text, random, depth + 1);
        if (i > 1) text += ",";
      }
      text += "}";
  }
}

void ExpectAgreement(const std::string& text, const std::string& key, std::mt19937& random) {
  JsonSplitOptions whole;
  JsonArraySplit fast = Split(text, key, 1, whole);
  auto slow = SlowSplitter(text, key).Run();
  ASSERT_EQ(fast.found, slow.has_value()) << text;
  if (slow) {
    ASSERT_EQ(Texts(text, fast.batches), slow->elements) << text;
    ASSERT_EQ(fast.closed, slow->closed) << text;
    ASSERT_EQ(fast.elements, slow->elements.size()) << text;
  }
  uint64_t batch_bytes = random() % 3 == 0 ? 1 : random() % 200;
  JsonArraySplit reference = Split(text, key, batch_bytes, whole);
  for (size_t window : {size_t{1}, size_t{7}, size_t{63}, size_t{64}, 1 + random() % 300}) {
    for (bool portable : {false, true}) {
      JsonArraySplit other = Split(text, key, batch_bytes, {window, portable});
      ASSERT_EQ(other.batches, reference.batches) << text << "\nwindow " << window;
      ASSERT_EQ(other.others, reference.others) << text << "\nwindow " << window;
      ASSERT_EQ(other.array_begin, reference.array_begin) << text;
      ASSERT_EQ(other.array_end, reference.array_end) << text;
      ASSERT_EQ(other.document_closed, reference.document_closed) << text;
    }
  }
}

TEST(JsonArraySplitter, AgreesWithTheSlowOneOnNonsense) {
  std::mt19937 random(1);
  for (int i = 0; i < 6'000 && !HasFatalFailure(); ++i) {
    ExpectAgreement(RandomText(random), i % 3 == 0 ? "" : "e", random);
  }
}

TEST(JsonArraySplitter, AgreesWithTheSlowOneOnDocuments) {
  std::mt19937 random(2);
  for (int i = 0; i < 5'000 && !HasFatalFailure(); ++i) {
    std::string text;
    AppendValue(text, random, 0);
    if (random() % 2) text = fmt::format(R"({{"v": {0}, "e": [{0}, {0}], "w": 1}})", text);
    if (random() % 3 == 0) text.resize(random() % (text.size() + 1));
    ExpectAgreement(text, i % 3 == 0 ? "" : "e", random);
  }
}

}  // namespace json_array_splitter_test
}  // namespace debrief
