#include "redact/pickle_redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/pickle/ops.h"
#include "base/text/strings.h"

namespace debrief::redact {

namespace {

using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes

constexpr uint64_t kLongestText = uint64_t{256} << 20;

void AppendNumber(uint64_t number, size_t bytes, std::string& out) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

// How an opcode goes on: a fixed number of bytes, bytes counted by a number, or a line.
struct OpForm {
  bool is_known = false;
  bool is_line = false;
  size_t bytes = 0;  // fixed, or of the count
  bool is_counted = false;
  bool is_text = false;
};

OpForm FormOf(uint8_t op) {
  switch (op) {
    case kMark:
    case kStop:
    case kPop:
    case kPopMark:
    case kDup:
    case kNone:
    case kAppend:
    case kDict:
    case kEmptyDict:
    case kAppends:
    case kList:
    case kEmptyList:
    case kSetItem:
    case kTuple:
    case kEmptyTuple:
    case kSetItems:
    case kTuple1:
    case kTuple2:
    case kTuple3:
    case kNewTrue:
    case kNewFalse:
    case kEmptySet:
    case kAddItems:
    case kFrozenSet:
    case kMemoize:
      return {.is_known = true};
    case kBinInt1:
    case kBinGet:
    case kBinPut:
    case kProto:
      return {.is_known = true, .bytes = 1};
    case kBinInt2:
      return {.is_known = true, .bytes = 2};
    case kBinInt:
    case kLongBinGet:
    case kLongBinPut:
      return {.is_known = true, .bytes = 4};
    case kBinFloat:
    case kFrame:
      return {.is_known = true, .bytes = 8};
    case kFloat:
    case kInt:
    case kLong:
    case kGet:
    case kPut:
      return {.is_known = true, .is_line = true};
    case kString:
    case kUnicode:
      return {.is_known = true, .is_line = true, .is_text = true};
    case kLong1:
      return {.is_known = true, .bytes = 1, .is_counted = true};
    case kLong4:
      return {.is_known = true, .bytes = 4, .is_counted = true};
    case kShortBinString:
    case kShortBinBytes:
    case kShortBinUnicode:
      return {.is_known = true, .bytes = 1, .is_counted = true, .is_text = true};
    case kBinString:
    case kBinUnicode:
    case kBinBytes:
      return {.is_known = true, .bytes = 4, .is_counted = true, .is_text = true};
    case kBinUnicode8:
    case kBinBytes8:
    case kByteArray8:
      return {.is_known = true, .bytes = 8, .is_counted = true, .is_text = true};
    default:
      return {};
  }
}

// The short form of a text that became longer than its length field can say.
uint8_t LongForm(uint8_t op) {
  switch (op) {
    case kShortBinString:
      return kBinString;
    case kShortBinBytes:
      return kBinBytes;
    case kShortBinUnicode:
      return kBinUnicode;
    default:
      return op;
  }
}

struct Instruction {
  uint8_t op = 0;
  OpForm form;
  std::string_view argument;  // fixed bytes, counted bytes, or the line without its end
};

// The instructions of a pickle, through windows.
class Instructions {
 public:
  explicit Instructions(const Source& source) : source_(source) {}

  // False at the end, or where the rest is no whole instruction; status() says if that is an error.
  bool Next(Instruction& next) {
    const std::string_view head = Peek(9);
    if (head.empty()) return false;
    next.op = static_cast<uint8_t>(head[0]);
    next.form = FormOf(next.op);
    if (!next.form.is_known) return Fail(next.op);
    if (next.form.is_line) return TakeLine(next);
    if (head.size() < 1 + next.form.bytes) return false;
    next.argument = head.substr(1, next.form.bytes);
    if (!next.form.is_counted) {
      at_ += 1 + next.form.bytes;
      return true;
    }
    const uint64_t count = LittleEndian(next.argument);
    const size_t begin = 1 + next.form.bytes;
    if (count > source_.size() - at_) return false;  // it is cut
    if (count > kLongestText) {
      status_ = Status(Code::kLimit, "a text of more than 256 MiB");
      return false;
    }
    const std::string_view whole = Peek(begin + count);
    if (whole.size() < begin + count) return false;
    next.argument = whole.substr(begin, count);
    at_ += begin + count;
    return true;
  }

  const Status& status() const { return status_; }

 private:
  std::string_view Peek(size_t wanted) {
    constexpr size_t kWindow = 1 << 20;
    if (at_ < base_ || at_ + wanted > base_ + view_.size()) {
      auto view = source_.View(at_, std::max(wanted, kWindow));
      if (!view.ok()) {
        status_ = view.status();
        return {};
      }
      view_ = std::move(view).value();
      base_ = at_;
    }
    return view_.text().substr(at_ - base_);
  }

  bool TakeLine(Instruction& next) {
    for (size_t wanted = 256; wanted <= kLongestText; wanted *= 2) {
      const std::string_view text = Peek(wanted);
      const size_t line = text.find('\n');
      if (line != std::string_view::npos) {
        next.argument = text.substr(1, line - 1);
        at_ += line + 1;
        return true;
      }
      if (text.size() < wanted) return false;
    }
    status_ = Status(Code::kLimit, "a line of more than 256 MiB");
    return false;
  }

  bool Fail(uint8_t op) {
    for (const CodeBearing& each : kCodeBearing) {
      if (each.opcode == op)
        status_ = Status(Code::kUnsupported, fmt::format("the pickle has code ({})", each.name));
    }
    if (status_.ok())
      status_ = Status(Code::kInvalid, fmt::format("byte {} begins no instruction", at_));
    return false;
  }

  const Source& source_;
  uint64_t at_ = 0;
  uint64_t base_ = 0;
  ByteView view_;
  Status status_;
};

// Which whole numbers are dimensions: those that follow a key such as input_sizes up to the next
// text. Keys are written once and fetched from the memo afterwards.
class ShapeKeys {
 public:
  // Whether the numbers behind this instruction are dimensions.
  void See(const Instruction& next) {
    if (next.form.is_text) {
      is_shape_ = IsKey(next.argument);
      just_read_ = true;
      return;
    }
    if (next.op == kBinPut || next.op == kLongBinPut) {
      if (just_read_ && is_shape_) memo_.insert(LittleEndian(next.argument));
    } else if (next.op == kMemoize) {
      if (just_read_ && is_shape_) memo_.insert(memoized_);
      ++memoized_;
    } else if (next.op == kBinGet || next.op == kLongBinGet) {
      is_shape_ = memo_.contains(LittleEndian(next.argument));
    }
    just_read_ = false;
  }
  bool is_shape() const { return is_shape_; }

 private:
  static bool IsKey(std::string_view text) {
    return text == "input_sizes" || text == "output_sizes" || text == "input_strides" ||
           text == "output_strides" || text == "sizes" || text == "shape";
  }

  std::set<uint64_t> memo_;
  uint64_t memoized_ = 0;
  bool is_shape_ = false, just_read_ = false;
};

bool IsSmallInt(const Instruction& next) {
  return next.op == kBinInt1 || next.op == kBinInt2 || next.op == kBinInt ||
         (next.op == kLong1 && next.argument.size() <= 8 && !next.argument.empty());
}

// Texts of protocol 0 stand with escapes that would hide what is in them: they become the binary
// form, which every Python reads as well. False when it is no such text.
bool DecodeLine(Instruction& next, std::string& decoded) {
  decoded.clear();
  const bool is_whole = next.op == kUnicode ? DecodeUnicodeLine(next.argument, decoded)
                                            : DecodeStringLine(next.argument, decoded);
  next.op = kBinUnicode;
  next.form = FormOf(kBinUnicode);
  next.argument = decoded;
  return is_whole;
}

void AppendInstruction(const Instruction& next, std::string_view argument, std::string& out) {
  const bool is_long = next.form.is_counted && next.form.bytes == 1 && argument.size() > 255;
  out += static_cast<char>(is_long ? LongForm(next.op) : next.op);
  if (next.form.is_counted) AppendNumber(argument.size(), is_long ? 4 : next.form.bytes, out);
  out += argument;
  if (next.form.is_line) out += '\n';
}

}  // namespace

Status RedactPickle(const Source& source, TextRedactor& texts, Names* shapes, Counts& counts,
                    const Sink& out) {
  constexpr size_t kBuffer = 1 << 20;
  Instructions instructions(source);
  ShapeKeys keys;
  std::string buffer, text, decoded;
  for (Instruction next; instructions.Next(next);) {
    if (next.op == kFrame) continue;
    keys.See(next);
    if (next.form.is_text) {
      if (next.form.is_line && !DecodeLine(next, decoded))
        return {Code::kInvalid, "a text of it has broken escapes"};
      text.clear();
      texts.Begin();
      texts.Redact(next.argument, text);
      AppendInstruction(next, text, buffer);
    } else if (shapes != nullptr && keys.is_shape() && IsSmallInt(next)) {
      const auto number = static_cast<int64_t>(LittleEndian(next.argument));
      buffer += static_cast<char>(kBinInt);
      AppendNumber(static_cast<uint64_t>(shapes->Dimension(number)), 4, buffer);
      ++counts[static_cast<size_t>(Secret::kShape)];
    } else {
      AppendInstruction(next, next.argument, buffer);
    }
    if (buffer.size() >= kBuffer) {
      TRY(out(buffer));
      buffer.clear();
    }
    if (next.op == kStop) break;  // what follows is no part of it, and was not looked at
  }
  TRY(instructions.status());
  return out(buffer);
}

Status ForEachPickledText(const Source& source, const Sink& found) {
  Instructions instructions(source);
  std::string decoded;
  for (Instruction next; instructions.Next(next);) {
    if (!next.form.is_text) continue;
    if (next.form.is_line && !DecodeLine(next, decoded)) continue;
    TRY(found(next.argument));
  }
  return {};
}

}  // namespace debrief::redact
