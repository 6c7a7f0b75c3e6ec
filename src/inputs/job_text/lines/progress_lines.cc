#include "inputs/job_text/lines/progress_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "base/text/strings.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kLongestLine = 1024;  // what a step is reported in is short
constexpr size_t kLongestBare = 24;    // "step 120" alone on its line

enum class Field : uint8_t { kNone, kStep, kEpoch, kLoss, kNorm, kRate, kTime, kThroughput };

struct KeyName {
  std::string_view key;
  Field field;
  std::string_view unit = {};
};

// Keys in lower case; of a path ("train/loss") the last part counts.
constexpr KeyName kKeys[] = {{"step", Field::kStep},
                             {"steps", Field::kStep},
                             {"global_step", Field::kStep},
                             {"train_step", Field::kStep},
                             {"iteration", Field::kStep},
                             {"iter", Field::kStep},
                             {"itr", Field::kStep},
                             {"num_updates", Field::kStep},
                             {"epoch", Field::kEpoch},
                             {"loss", Field::kLoss},
                             {"train_loss", Field::kLoss},
                             {"training_loss", Field::kLoss},
                             {"train_loss_step", Field::kLoss},
                             {"total_loss", Field::kLoss},
                             {"lm_loss", Field::kLoss},
                             {"lm loss", Field::kLoss},
                             {"reduced_train_loss", Field::kLoss},
                             {"global_avg_loss", Field::kLoss},
                             {"grad_norm", Field::kNorm},
                             {"grad norm", Field::kNorm},
                             {"gradnorm", Field::kNorm},
                             {"gnorm", Field::kNorm},
                             {"total_norm", Field::kNorm},
                             {"lr", Field::kRate},
                             {"learning_rate", Field::kRate},
                             {"learning rate", Field::kRate},
                             {"step_time", Field::kTime},
                             {"step time", Field::kTime},
                             {"iter_time", Field::kTime},
                             {"iteration_time", Field::kTime},
                             {"train_step_timing", Field::kTime},
                             {"time_per_step", Field::kTime},
                             {"elapsed time per iteration", Field::kTime},
                             {"time", Field::kTime},
                             {"dt", Field::kTime},
                             {"tps", Field::kThroughput, "tokens/s"},
                             {"wps", Field::kThroughput, "words/s"},
                             {"tokens_per_second", Field::kThroughput, "tokens/s"},
                             {"tokens_per_sec", Field::kThroughput, "tokens/s"},
                             {"tokens_per_second_per_gpu", Field::kThroughput, "tokens/s"},
                             {"tokens/s", Field::kThroughput, "tokens/s"},
                             {"tokens/sec", Field::kThroughput, "tokens/s"},
                             {"tok/s", Field::kThroughput, "tokens/s"},
                             {"tok/sec", Field::kThroughput, "tokens/s"},
                             {"samples_per_second", Field::kThroughput, "samples/s"},
                             {"samples/s", Field::kThroughput, "samples/s"},
                             {"samples/sec", Field::kThroughput, "samples/s"},
                             {"samplespersec", Field::kThroughput, "samples/s"},
                             {"runningavgsamplespersec", Field::kThroughput, "samples/s"},
                             {"it/s", Field::kThroughput, "steps/s"},
                             {"throughput", Field::kThroughput, ""}};

bool IsKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '/';
}

bool IsKeyStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Four bytes that every line of a step has at least one of: loss, step, iter, it/s, s/it, thro.
bool MayBeProgress(std::string_view text) {
  for (size_t i = 0; i + 4 <= text.size(); ++i) {
    const char* at = text.data() + i;
    switch (at[0] | 0x20) {
      case 'l':
        if (std::memcmp(at + 1, "oss", 3) == 0) return true;
        break;
      case 's':
        if (std::memcmp(at + 1, "tep", 3) == 0 || std::memcmp(at + 1, "/it", 3) == 0) return true;
        break;
      case 't':
        if (std::memcmp(at + 1, "hro", 3) == 0) return true;
        break;
      case 'i':
        if (std::memcmp(at + 1, "ter", 3) == 0 || std::memcmp(at + 1, "t/s", 3) == 0) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

// A number at `at`, moved behind it: 12, 1,204, 2.3e-05, nan, inf.
struct Read {
  bool found = false;
  double value = 0;
};
Read ReadNumber(std::string_view text, size_t& at) {
  std::string_view rest = text.substr(at);
  size_t sign = rest.starts_with('-') || rest.starts_with('+') ? 1 : 0;
  for (std::string_view word : {"nan", "NaN", "NAN", "inf", "Inf", "INF", "Infinity"}) {
    if (!rest.substr(sign).starts_with(word)) continue;
    size_t end = sign + word.size();
    if (end < rest.size() && IsKeyStart(rest[end]) && !rest.substr(sign).starts_with("Infinity"))
      continue;
    at += end;
    return {true, word[0] == 'n' || word[0] == 'N' ? kNoDouble : HUGE_VAL};
  }
  std::string digits;
  size_t size = 0;
  for (; size < rest.size() && digits.size() < 64; ++size) {
    bool group = rest[size] == ',' && size > 0 && IsDigit(rest[size - 1]) &&
                 size + 3 < rest.size() + 0 && IsDigit(rest[size + 1]) && IsDigit(rest[size + 2]) &&
                 IsDigit(rest[size + 3]) && (size + 4 >= rest.size() || !IsDigit(rest[size + 4]));
    if (group) continue;
    bool exponent =
        size > 0 && (rest[size] == '-' || rest[size] == '+') && (rest[size - 1] | 0x20) == 'e';
    bool part = IsDigit(rest[size]) || rest[size] == '.' || (rest[size] | 0x20) == 'e' ||
                exponent || (size == 0 && rest[size] == '-');
    if (!part) break;
    digits += rest[size];
  }
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !(IsDigit(digits[0]) || digits.size() > 1)) return {};
  size_t unread = static_cast<size_t>(digits.data() + digits.size() - end);
  at += size - unread;
  return {true, value};
}

// Behind a key: quotes, a unit in parentheses, ":" or "=", brackets. False when no number can
// follow.
bool SkipToValue(std::string_view text, size_t& at, bool& in_ms) {
  auto skip = [&](std::string_view bytes) {
    while (at < text.size() && bytes.find(text[at]) != std::string_view::npos) ++at;
  };
  skip("'\"");
  skip(" ");
  if (at < text.size() && text[at] == '(') {
    size_t close = text.find(')', at);
    if (close == std::string_view::npos) return false;
    in_ms = text.substr(at + 1, close - at - 1) == "ms";
    at = close + 1;
  }
  skip(" \t");
  if (at < text.size() && (text[at] == ':' || text[at] == '=')) ++at;
  skip(" \t");
  skip("[('\"");
  constexpr std::string_view kTensor = "tensor(";
  if (text.substr(at).starts_with(kTensor)) at += kTensor.size();
  return at < text.size();
}

class ProgressParser {
 public:
  explicit ProgressParser(std::string_view text) : text_(text) {}

  std::optional<ProgressLine> Parse() {
    TakeBar();
    for (size_t at = 0; at < text_.size();) {
      bool starts = IsKeyStart(text_[at]) && (at == 0 || !IsKeyByte(text_[at - 1]));
      at = starts ? TakeKey(at) : at + 1;
    }
    if (line_.has_loss && line_.step == kNone64 && std::isnan(line_.epoch)) TakeFraction();
    return IsStep() ? std::optional(line_) : std::nullopt;
  }

 private:
  // "[  60/1000] loss: 2.31"; of an epoch, where it starts anew each time, it is no step.
  void TakeFraction() {
    const size_t open = text_.find('[');
    if (open == std::string_view::npos) return;
    size_t at = std::min(text_.find_first_not_of(' ', open + 1), text_.size());
    const Read done = ReadNumber(text_, at);
    if (!done.found || at >= text_.size() || text_[at] != '/') return;
    const Read all = ReadNumber(text_, ++at);
    if (all.found && done.value <= all.value && at < text_.size() && text_[at] == ']')
      SetStep(done.value);
  }

  // " 45%|####5     | 450/1000 [01:23<01:42,  5.37it/s"
  void TakeBar() {
    size_t percent = text_.find("%|");
    size_t bar = percent == std::string_view::npos ? percent : text_.find("| ", percent + 2);
    if (bar == std::string_view::npos) return;
    size_t at = bar + 2;
    while (at < text_.size() && text_[at] == ' ') ++at;
    Read done = ReadNumber(text_, at);
    if (!done.found || at >= text_.size() || text_[at] != '/') return;
    SetStep(done.value);
    has_bar_ = true;
    TakeRate("it/s", false);
    TakeRate("s/it", true);
  }

  void TakeRate(std::string_view unit, bool inverse) {
    size_t end = text_.find(unit);
    if (end == std::string_view::npos) return;
    size_t begin = end;
    while (begin > 0 && (IsDigit(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
    Read rate = ReadNumber(text_, begin);
    if (!rate.found || rate.value <= 0) return;
    line_.throughput = inverse ? 1 / rate.value : rate.value;
    line_.throughput_unit = "steps/s";
  }

  // The key at `begin`; returns where to go on.
  size_t TakeKey(size_t begin) {
    size_t end = begin;
    while (end < text_.size() && IsKeyByte(text_[end])) ++end;
    // Of the keys of several words that may begin here the longest counts.
    const std::string_view key = Key(begin, end);
    const char first = Folded(text_[begin]), first_of_key = key.empty() ? first : Folded(key[0]);
    const KeyName* known = nullptr;
    size_t size = 0;
    for (const KeyName& each : kKeys) {
      if (each.key[0] != first && each.key[0] != first_of_key) continue;  // nearly all
      bool words = each.key.find(' ') != std::string_view::npos;
      std::string_view there = words ? text_.substr(begin, each.key.size()) : key;
      bool longer = each.key.size() > size || known == nullptr;
      if (!longer || !EqualsFolded(there, each.key)) continue;
      known = &each;
      size = words ? each.key.size() : end - begin;
    }
    if (known == nullptr) return end;
    size_t at = begin + size;
    bool in_ms = false;
    if (!SkipToValue(text_, at, in_ms)) return end;
    Read value = ReadNumber(text_, at);
    if (!value.found) return end;
    Set(*known, value.value, text_.substr(at), in_ms);
    return at;
  }

  // Without what stands before it in a path, unless the whole is known ("tokens/s").
  std::string_view Key(size_t begin, size_t end) const {
    std::string_view whole = text_.substr(begin, end - begin);
    for (const KeyName& each : kKeys) {
      if (EqualsFolded(whole, each.key)) return whole;
    }
    std::string_view above = whole.substr(0, std::min(whole.find('/'), whole.size()));
    bool training = above.size() == whole.size() || EqualsFolded(above, "train") ||
                    EqualsFolded(above, "training") || EqualsFolded(above, "loss_metrics") ||
                    EqualsFolded(above, "throughput") || EqualsFolded(above, "optim");
    return training ? whole.substr(whole.rfind('/') + 1) : whole;
  }

  static char Folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  static bool EqualsFolded(std::string_view text, std::string_view lower) {
    return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                     [](char a, char b) { return Folded(a) == b; });
  }

  void SetStep(double value) {
    constexpr double kMost = 1e15;
    bool whole = value >= 0 && value < kMost && value == std::floor(value);
    if (whole && line_.step == kNone64) line_.step = static_cast<int64_t>(value);
  }

  void Set(const KeyName& key, double value, std::string_view behind, bool in_ms) {
    switch (key.field) {
      case Field::kStep:
        return SetStep(value);
      case Field::kEpoch:
        if (std::isnan(line_.epoch)) line_.epoch = value;
        return;
      case Field::kLoss:
        if (line_.has_loss) return;
        line_.has_loss = true;
        line_.not_finite |= !std::isfinite(value);
        line_.loss = std::isfinite(value) ? value : kNoDouble;
        return;
      case Field::kNorm:
        line_.grad_norm = std::isfinite(value) ? value : kNoDouble;
        has_more_ = true;
        return;
      case Field::kRate:
        line_.learning_rate = value;
        has_more_ = true;
        return;
      case Field::kTime:
        return SetTime(key.key, value, behind, in_ms);
      case Field::kThroughput:
        if (!std::isnan(line_.throughput)) return;
        line_.throughput = value;
        line_.throughput_unit = key.unit;
        return;
      case Field::kNone:
        return;
    }
  }

  // "time" alone says little: it counts with its unit.
  void SetTime(std::string_view key, double value, std::string_view behind, bool in_ms) {
    in_ms |= behind.starts_with("ms") || behind.starts_with(" ms");
    bool in_s = !in_ms && (behind.starts_with('s') || behind.starts_with(" s"));
    bool bare = key == "time" || key == "dt";
    if ((bare && !in_ms && !in_s) || !std::isnan(line_.step_time_ms)) return;
    line_.step_time_ms = in_ms ? value : value * 1000;
  }

  bool IsStep() const {
    bool numbers = line_.has_loss || has_more_ || !std::isnan(line_.throughput) ||
                   !std::isnan(line_.step_time_ms);
    if (line_.step != kNone64 && (numbers || has_bar_)) return true;
    if (line_.has_loss && (!std::isnan(line_.epoch) || has_more_)) return true;
    bool bare = text_.size() <= kLongestBare && line_.step != kNone64;
    return bare && IsKeyStart(text_[0]);
  }

  std::string_view text_;
  ProgressLine line_;
  bool has_bar_ = false;
  bool has_more_ = false;  // a norm or a learning rate
};

}  // namespace

namespace {

// What a serving engine reports of itself: no step, and its throughput.
std::optional<ProgressLine> ParseServed(std::string_view text) {
  for (std::string_view key : {"Avg generation throughput: ", "gen throughput (token/s): "}) {
    size_t at = text.find(key);
    if (at == std::string_view::npos) continue;
    at += key.size();
    const Read value = ReadNumber(text, at);
    if (!value.found || !std::isfinite(value.value)) continue;
    ProgressLine line;
    line.throughput = value.value;
    line.throughput_unit = "generated tokens/s";
    return line;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ProgressLine> ParseProgress(std::string_view text) {
  if (text.size() > kLongestLine || !MayBeProgress(text)) return std::nullopt;
  if (auto served = ParseServed(text)) return served;
  return ProgressParser(text).Parse();
}

}  // namespace debrief::inputs::job_text
