// The language of guards, by the text of PyTorch's guards.cpp and guards.py. Each form has a small
// reader; the first that knows the guard wins. No regular expressions: a log may hold 100,000
// reasons, and texts come from programs that we do not know.
#include "analyses/compile/guard_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyses/compile/break_text.h"
#include "base/text/scan.h"

namespace debrief::analyses::compile_recompiles {

namespace {

// The text between `before` and `after`, to its end when `after` is not there.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

// A size may be followed by a sentence: "actual 8. Guard failed on a parameter, consider ...".
std::string_view UpToSentence(std::string_view text) { return text.substr(0, text.find(". ")); }

// "expected 64, actual 48"; values may hold commas themselves (dispatch keys).
void ExpectedAndActual(std::string_view text, Change& change) {
  const size_t actual = text.find(", actual ");
  std::string_view old = text.substr(0, actual);
  const size_t expected = old.find("xpected ");
  if (expected != std::string_view::npos) old.remove_prefix(expected + 8);
  TakePrefix(old, "device index to be ");
  change.old_value = Trimmed(old);
  if (actual != std::string_view::npos)
    change.new_value = Trimmed(UpToSentence(text.substr(actual + 9)));
}

struct TensorForm {
  std::string_view text, kind;
};
constexpr std::array<TensorForm, 8> kTensorForms = {{{"size mismatch", "size"},
                                                     {"sizes mismatch", "size"},
                                                     {"stride mismatch", "stride"},
                                                     {"strides mismatch", "stride"},
                                                     {"rank mismatch", "dimensions"},
                                                     {"dtype mismatch", "dtype"},
                                                     {"dispatch key set mismatch", "dispatch"},
                                                     {"Tensor device index", "device"}}};

// tensor 'x' size mismatch at index 1. expected 64, actual 48
bool ReadTensor(std::string_view guard, Change& change) {
  if (!TakePrefix(guard, "tensor '")) return false;
  const size_t quote = guard.find("' ");
  if (quote == std::string_view::npos) return false;
  change.name = guard.substr(0, quote);
  guard.remove_prefix(quote + 2);
  if (guard.starts_with("requires_grad mismatch")) {
    const bool was = Between(guard, "requires_grad=", ".") != "0";
    change.kind = "requires_grad";
    change.old_value = was ? "True" : "False";
    change.new_value = was ? "False" : "True";
    return true;
  }
  for (const TensorForm& form : kTensorForms) {
    if (guard.starts_with(form.text)) change.kind = form.kind;
  }
  if (std::string_view index = Between(guard, "at index ", "."); !index.empty())
    change.dimension = LeadingNumber(index, kNone32);
  ExpectedAndActual(guard, change);
  return true;
}

// expected type of 'x' to be a tensor type, ' but found <class 'int'>
// Duplicate tensor found where not expected! xshould not alias to anything, but is aliased
bool ReadTensorList(std::string_view guard, Change& change) {
  if (TakePrefix(guard, "expected type of '")) {
    change.kind = "type";
    change.name = guard.substr(0, guard.find('\''));
    change.old_value = "Tensor";
    change.new_value = ClassName(Trimmed(Between(guard, "but found ", "\n")));
    return true;
  }
  if (!TakePrefix(guard, "Duplicate tensor found where not expected! ")) return false;
  change.kind = "alias";
  change.name = Trimmed(guard.substr(0, guard.find("should not alias")));
  change.old_value = "no other input";
  change.new_value = "the same tensor as another input";
  return true;
}

bool ReadGlobal(std::string_view guard, Change& change) {
  if (TakePrefix(guard, "GLOBAL_STATE changed: ")) {
    change.name = Trimmed(guard);
  } else if (Contains(guard, "___check_global_state")) {
    change.name = "global state";
  } else if (Contains(guard, "torch_function_mode_stack")) {
    change.name = "torch function modes";
  } else if (Contains(guard, "CURRENT_DEVICE")) {
    change.name = "default device";
  } else if (Contains(guard, "top_saved_tensors_hooks")) {
    change.name = "saved tensor hooks";
  } else {
    return false;
  }
  change.kind = "global_state";
  return true;
}

bool ReadGone(std::string_view guard, Change& change) {
  if (!Contains(guard, "got deallocated") && !Contains(guard, "___guarded_code.valid"))
    return false;
  change.kind = "deallocated";
  change.name = Trimmed(Between(guard, "because ", " got"));
  return true;
}

// ___check_type_id(k, 10731296), type=<class 'int'>       ___check_obj_id(fn, 139645370122560)
bool ReadId(std::string_view guard, Change& change) {
  const bool is_type = TakePrefix(guard, "___check_type_id(");
  if (!is_type && !TakePrefix(guard, "___check_obj_id(")) return false;
  const size_t close = guard.find("), type=");
  std::string_view inside =
      guard.substr(0, close == std::string_view::npos ? guard.rfind(')') : close);
  const size_t comma = inside.rfind(", ");
  change.kind = is_type ? "type" : "identity";
  change.name = inside.substr(0, comma);
  if (is_type && close != std::string_view::npos)
    change.old_value = ClassName(Trimmed(guard.substr(close + 8)));
  if (!is_type && comma != std::string_view::npos) change.old_value = inside.substr(comma + 2);
  return true;
}

// hasattr(x, 'a') == False    ___dict_contains('a', x)    not ___dict_contains('a', x)
// 'a' in x    KeyError on x['a']
bool ReadMember(std::string_view guard, Change& change) {
  const bool is_not = TakePrefix(guard, "not ");
  auto set = [&](std::string_view kind, std::string_view name, bool was_there) {
    change.kind = kind;
    change.name = Trimmed(name);
    change.old_value = was_there ? "there" : "missing";
    change.new_value = was_there ? "missing" : "there";
    return true;
  };
  if (TakePrefix(guard, "hasattr(")) {
    const size_t comma = guard.find(", ");
    std::string name(guard.substr(0, comma));
    if (comma != std::string_view::npos) (name += '.') += Between(guard.substr(comma), "'", "'");
    return set("attribute", name, Contains(guard, "== False") == is_not);
  }
  if (TakePrefix(guard, "___dict_contains(")) {
    const size_t comma = guard.find(", ");
    std::string_view container = comma == std::string_view::npos ? guard : guard.substr(comma + 2);
    TakeSuffix(container, ")");
    std::string name(container);
    name += '[';
    name += guard.substr(0, comma);
    return set("key", name += ']', !is_not);
  }
  if (TakePrefix(guard, "KeyError on ")) return set("key", guard, true);
  if (guard.starts_with('\'') || guard.starts_with('"')) {
    const size_t in = guard.find(" in ");
    if (in != std::string_view::npos) return set("key", guard.substr(in + 4), !is_not);
  }
  return false;
}

// type(k) == int    isinstance(k, int)
bool ReadTypeExpression(std::string_view guard, Change& change) {
  if (TakePrefix(guard, "type(")) {
    change.name = guard.substr(0, guard.find(')'));
    change.old_value = ClassName(Trimmed(Between(guard, "== ", "\n")));
  } else if (TakePrefix(guard, "isinstance(")) {
    TakeSuffix(guard, ")");
    const size_t comma = guard.find(", ");
    change.name = guard.substr(0, comma);
    if (comma != std::string_view::npos) change.old_value = guard.substr(comma + 2);
  } else {
    return false;
  }
  change.kind = "type";
  return true;
}

// Follows quotes: quoted text inside of brackets may hold anything. Works in both directions.
struct NameScan {
  char quote = '\0';

  bool Takes(char c) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      return true;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      return true;
    }
    return IsWord(c) || c == '.' || c == '[' || c == ']';
  }
};

// "x.p['a b'][0]"
bool IsName(std::string_view text) {
  NameScan scan;
  return !text.empty() && text[0] != '\'' && text[0] != '"' &&
         std::all_of(text.begin(), text.end(), [&](char c) { return scan.Takes(c); });
}

// Anything with x.size()[1] or x.stride()[0] in it: Eq(x.size()[0], 5), 2 <= x.size()[0], ...
bool ReadShape(std::string_view guard, Change& change) {
  size_t at = guard.find(".size()[");
  const bool is_size = at != std::string_view::npos;
  if (!is_size) at = guard.find(".stride()[");
  if (at == std::string_view::npos) return false;
  size_t from = at;
  NameScan scan;
  while (from > 0 && scan.Takes(guard[from - 1])) --from;
  change.kind = is_size ? "size" : "stride";
  change.name = guard.substr(from, at - from);
  change.dimension = LeadingNumber(guard.substr(guard.find('[', at) + 1), kNone32);
  const std::string_view after = guard.substr(std::min(guard.size(), guard.find(']', at) + 1));
  const bool is_first = from == 0 || guard.substr(0, from) == "Eq(";
  if (is_first && after.starts_with(" == ")) change.old_value = Trimmed(after.substr(4));
  if (is_first && after.starts_with(", ")) change.old_value = Between(after, ", ", ")");
  return true;
}

bool IsFlag(std::string_view value) { return value == "True" || value == "False"; }

// k == 1    flag == True    x is None    x is not None    len(x) == 3    x is y
bool ReadComparison(std::string_view guard, Change& change) {
  size_t at = guard.find(" == ");  // " is " has as many bytes
  if (at == std::string_view::npos) {
    at = guard.find(" is ");
    if (at == std::string_view::npos) return false;
  }
  std::string_view name = guard.substr(0, at);
  const std::string_view value = Trimmed(guard.substr(at + 4));
  change.kind = IsFlag(value) ? "flag" : "value";
  if (TakePrefix(name, "len(") && TakeSuffix(name, ")")) change.kind = "length";
  if (!IsName(name)) return false;
  change.name = name;
  change.old_value = value;
  if (value == "not None") change.new_value = "None";
  return true;
}

// flag    not flag    not x.training
bool ReadTruth(std::string_view guard, Change& change) {
  const bool is_not = TakePrefix(guard, "not ");
  if (!IsName(guard)) return false;
  if (IsDigit(guard[0])) return false;
  change.kind = "flag";
  change.name = guard;
  change.old_value = is_not ? "false" : "true";
  change.new_value = is_not ? "true" : "false";
  return true;
}

bool ReadExpression(std::string_view guard, Change& change) {
  static constexpr std::array<std::string_view, 8> kSigns = {
      "Eq(", "Ne(", "Mod(", " <= ", " < ", " >= ", " > ", " != "};
  for (std::string_view sign : kSigns) {
    if (Contains(guard, sign)) change.kind = "expression";
  }
  return change.kind == "expression";
}

bool IsId(std::string_view text) {
  return !text.empty() && text.find('/') != std::string_view::npos &&
         text.find_first_not_of("!0123456789/_-") == std::string_view::npos;
}

}  // namespace

// A reason of a recompilation: whose guard, which, and for which line. The comment behind the guard
// has the place, its path cut at the front; the stack below, where there is one, has all of it.
FailedGuard ParseReason(std::string_view reason) {
  FailedGuard parsed;
  const std::vector<TextFrame> frames = reason.find('\n') != std::string_view::npos
                                            ? ParseTraceback(reason.substr(reason.find('\n') + 1))
                                            : std::vector<TextFrame>();
  std::string_view line = FirstLine(reason);
  const size_t colon = line.find(": ");
  if (colon != std::string_view::npos && IsId(line.substr(0, colon))) {
    parsed.previous_id = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  ParseGuardLine(line, parsed);
  if (!frames.empty()) {
    const TextFrame& innermost = frames.back();
    parsed.file = innermost.file;
    parsed.line = innermost.line;
    parsed.function = innermost.function;
    if (!innermost.code.empty()) parsed.code = innermost.code;
  }
  return parsed;
}

Change ParseGuard(std::string_view guard) {
  using Reader = bool (*)(std::string_view, Change&);
  static constexpr std::array<Reader, 11> kReaders = {
      ReadTensor, ReadTensorList,     ReadGlobal,     ReadGone,  ReadId,        ReadMember,
      ReadShape,  ReadTypeExpression, ReadComparison, ReadTruth, ReadExpression};
  guard = Trimmed(guard);
  for (Reader reader : kReaders) {
    Change change;
    if (reader(guard, change)) return change;
  }
  return {};
}

std::string ToSource(std::string_view name) {
  if (name.empty() || name.starts_with("L[") || name.starts_with("G[")) return std::string(name);
  const size_t end = std::min(name.size(), name.find_first_of(".[ ("));
  if (end == 0 || (end < name.size() && (name[end] == ' ' || name[end] == '(')))
    return std::string(name);
  std::string source("L['");
  (source += name.substr(0, end)) += "']";
  return source += name.substr(end);
}

std::string_view ClassName(std::string_view type) {
  std::string_view name = type;
  if (!TakePrefix(name, "<class '")) return type;
  return name.substr(0, name.find('\''));
}

}  // namespace debrief::analyses::compile_recompiles
