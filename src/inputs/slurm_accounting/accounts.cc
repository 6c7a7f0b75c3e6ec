#include "inputs/slurm_accounting/accounts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "inputs/text_lines.h"
#include "torch/end_signs.h"
#include "torch/glog_time.h"

namespace debrief::inputs::slurm_accounting {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

constexpr std::array<std::string_view, 16> kStates = {
    "BOOT_FAIL",     "CANCELLED", "COMPLETED", "DEADLINE",  "FAILED",   "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING",   "PREEMPTED", "RUNNING",   "REQUEUED", "RESIZING",
    "REVOKED",       "SUSPENDED", "TIMEOUT",   "COMPLETING"};

// "CANCELLED by 1000" and "OUT_OF_ME+", which a narrow column cut.
std::string StateOf(std::string_view text) {
  text = Trimmed(text.substr(0, text.find(' ')), "+ ");
  for (std::string_view state : kStates) {
    if (text.size() >= 4 && state.starts_with(text)) return std::string(state);
  }
  return std::string(text);
}

int32_t CodeOf(int64_t code, int64_t signal) {
  constexpr int64_t kMost = 256;
  if (signal > 0 && signal < kMost) return -static_cast<int32_t>(signal);
  return code >= 0 && code <= kMost ? SignalOrCode(static_cast<int32_t>(code)) : kNone32;
}

// ---- JSON

// A number, or {"set": true, "infinite": false, "number": 3}.
std::optional<int64_t> NumberIn(JsonValue value) {
  if (value.kind() != JsonKind::kObject) return value.IntOrText();
  std::optional<int64_t> number;
  bool set = true;
  const Status status = value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "set") set = field.Bool().value_or(true);
    if (key == "number" || key == "id" || key == "signal_id") number = NumberIn(field);
  });
  return status.ok() && set ? number : std::nullopt;
}

// A word, or a list of words of which the first counts.
std::string WordIn(JsonValue value) {
  if (value.kind() != JsonKind::kArray) return std::string(value.String().value_or(""));
  std::string word;
  (void)value.ForEachElement([&](JsonValue element) {
    if (word.empty()) word = element.String().value_or("");
  });
  return word;
}

int64_t SecondsToNs(std::optional<int64_t> seconds) {
  constexpr int64_t kMost = 9'000'000'000;
  return seconds && *seconds > 0 && *seconds < kMost ? *seconds * kSecondNs : kNone64;
}

class AccountJson {
 public:
  explicit AccountJson(std::vector<Account>& accounts) : accounts_(accounts) {}

  Status ReadJob(JsonValue value) {
    const size_t first = accounts_.size();
    accounts_.emplace_back();
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      Account& job = accounts_[first];
      if (key == "job_id") job.job = std::to_string(NumberIn(field).value_or(0));
      if (key == "steps" && field.kind() == JsonKind::kArray) {
        return field.ForEachElement([&](JsonValue step) {
          return step.kind() == JsonKind::kObject ? ReadStep(step) : Status();
        });
      }
      return ReadShared(key, field, job);
    }));
    for (size_t i = first + 1; i < accounts_.size(); ++i) accounts_[i].job = accounts_[first].job;
    return {};
  }

 private:
  Status ReadStep(JsonValue value) {
    accounts_.emplace_back();
    return value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      Account& step = accounts_.back();
      if (key != "step" || field.kind() != JsonKind::kObject) return ReadShared(key, field, step);
      return field.ForEachField([&](std::string_view name, JsonValue text) {
        if (name == "name") step.name = text.String().value_or("");
        if (name == "id") step.step = StepOf(text);
      });
    });
  }

  // "17.batch", or {"job_id": 17, "step_id": "batch"}.
  static std::string StepOf(JsonValue value) {
    std::string step;
    if (value.kind() == JsonKind::kObject) {
      (void)value.ForEachField([&](std::string_view key, JsonValue field) {
        if (key != "step_id") return;
        step = field.kind() == JsonKind::kString ? std::string(field.String().value_or(""))
                                                 : std::to_string(NumberIn(field).value_or(0));
      });
      return step;
    }
    const std::string_view text = value.String().value_or("");
    return std::string(text.substr(text.find('.') + 1));
  }

  static Status ReadShared(std::string_view key, JsonValue field, Account& account) {
    if (key == "name") account.name = field.String().value_or("");
    if (key == "state" || key == "job_state") return ReadState(field, account);
    // As `scontrol` and `squeue` call them.
    if (key == "state_reason") account.reason = field.String().value_or("");
    if (key == "start_time") account.start_ns = SecondsToNs(NumberIn(field));
    if (key == "end_time") account.end_ns = SecondsToNs(NumberIn(field));
    if (key == "exit_code" && field.kind() == JsonKind::kObject) return ReadCode(field, account);
    if (key == "nodes") return ReadNodes(field, account);
    if (key != "time" || field.kind() != JsonKind::kObject) return {};
    return field.ForEachField([&](std::string_view name, JsonValue time) {
      if (name == "start") account.start_ns = SecondsToNs(NumberIn(time));
      if (name == "end") account.end_ns = SecondsToNs(NumberIn(time));
    });
  }

  static Status ReadState(JsonValue field, Account& account) {
    if (field.kind() != JsonKind::kObject) {
      account.state = StateOf(WordIn(field));
      return {};
    }
    return field.ForEachField([&](std::string_view name, JsonValue value) {
      if (name == "current") account.state = StateOf(WordIn(value));
      if (name == "reason") account.reason = value.String().value_or("");
    });
  }

  static Status ReadCode(JsonValue field, Account& account) {
    int64_t code = -1, signal = 0;
    TRY(field.ForEachField([&](std::string_view name, JsonValue value) {
      if (name == "return_code") code = NumberIn(value).value_or(-1);
      if (name == "signal") signal = NumberIn(value).value_or(0);
    }));
    account.exit_code = CodeOf(code, signal);
    return {};
  }

  // "n[1-2]", or {"count": 2, "range": "n[1-2]"}.
  static Status ReadNodes(JsonValue field, Account& account) {
    if (field.kind() != JsonKind::kObject) {
      account.nodes = field.String().value_or("");
      return {};
    }
    return field.ForEachField([&](std::string_view name, JsonValue value) {
      if (name == "range") account.nodes = value.String().value_or("");
    });
  }

  std::vector<Account>& accounts_;
};

}  // namespace

Status ReadAccountJson(std::string_view text, std::vector<Account>& accounts) {
  JsonReader reader;
  TRY(reader.Open(text));
  AccountJson json(accounts);
  return reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key != "jobs" || value.kind() != JsonKind::kArray) return {};
    return value.ForEachElement([&](JsonValue job) {
      return job.kind() == JsonKind::kObject ? json.ReadJob(job) : Status();
    });
  });
}

namespace {

// What stands between the columns of a head: `sacct -P --delimiter`.
char SeparatorIn(std::string_view line) {
  for (char separator : {'|', ',', ';', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

// "134:0": code and signal.
int32_t CodeIn(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto code = ParseNumber<int64_t>(text.substr(0, colon));
  const auto signal = ParseNumber<int64_t>(text.substr(std::min(colon + 1, text.size())));
  return CodeOf(code.value_or(-1), signal.value_or(0));
}

}  // namespace

bool AccountSheet::IsHead(std::string_view line) {
  const char last = line.starts_with("JobIDRaw") || line.starts_with("JobID") ? 'x' : '\0';
  const bool told =
      Contains(line, "State") && (SeparatorIn(line) != ' ' || Contains(line, "ExitCode"));
  return last != '\0' && told;
}

bool AccountSheet::IsJobHead(std::string_view line) {
  return line.starts_with("JobId=") && IsDigit(line[std::min<size_t>(line.size() - 1, 6)]) &&
         Contains(line, " JobName=");
}

// "   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)", below a head.
void AccountSheet::AddFields(std::string_view line, int64_t number,
                             std::vector<Account>& accounts) {
  if (IsJobHead(line)) accounts.push_back({.line = number});
  Account& job = accounts.back();
  for (std::string_view word : WordsOf(line)) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (key == "JobId") job.job = value;
    if (key == "JobName") job.name = value;
    if (key == "JobState") job.state = StateOf(value);
    if (key == "Reason") job.reason = value;
    if (key == "NodeList" && value != "(null)") job.nodes = value;
    if (key == "StartTime") job.start_ns = ParseIsoTime(value);
    if (key == "EndTime") job.end_ns = ParseIsoTime(value);
    if (key == "ExitCode") job.exit_code = CodeIn(value);
  }
}

std::vector<std::string_view> AccountSheet::Cells(std::string_view line) const {
  std::vector<std::string_view> cells;
  if (separator_ != ' ') {
    while (cells.size() < columns_.size()) {
      const size_t end = std::min(line.find(separator_), line.size());
      cells.push_back(Trimmed(line.substr(0, end)));
      if (end == line.size()) break;
      line.remove_prefix(end + 1);
    }
    return cells;
  }
  for (size_t width : widths_) {
    cells.push_back(Trimmed(line.substr(0, width)));
    line.remove_prefix(std::min(width + 1, line.size()));
  }
  return cells;
}

bool AccountSheet::Add(std::string_view line, int64_t number, std::vector<Account>& accounts) {
  if (Trimmed(line).empty()) return true;
  is_job_ = is_job_ || IsJobHead(Trimmed(line));
  if (is_job_) {
    AddFields(Trimmed(line), number, accounts);
    return true;
  }
  if (IsHead(Trimmed(line))) {
    separator_ = SeparatorIn(Trimmed(line));
    columns_.clear();
    widths_.clear();
    std::string_view rest = Trimmed(line, " \t\r|,;");
    while (separator_ != ' ' && !rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(separator_));
      columns_.emplace_back(Trimmed(name));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
    if (separator_ == ' ') {
      for (std::string_view word : WordsOf(line)) columns_.emplace_back(word);
    }
    return true;
  }
  // "------------ ----------" below the head of a table tells how wide its columns are.
  if (line.starts_with("---")) {
    widths_.clear();
    for (std::string_view word : WordsOf(line)) widths_.push_back(word.size());
    return true;
  }
  if (columns_.empty()) return false;
  const std::vector<std::string_view> cells = Cells(line);
  Account account;
  account.line = number;
  for (size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    const std::string_view cell = cells[i];
    if (columns_[i] == "JobID" || (columns_[i] == "JobIDRaw" && account.job.empty())) {
      const size_t dot = cell.find('.');
      account.job = cell.substr(0, dot);
      if (dot != std::string_view::npos) account.step = Trimmed(cell.substr(dot + 1), "+");
    }
    if (columns_[i] == "JobName") account.name = cell;
    if (columns_[i] == "State") account.state = StateOf(cell);
    if (columns_[i] == "NodeList") account.nodes = cell;
    if (columns_[i] == "Reason") account.reason = cell;
    if (columns_[i] == "Start") account.start_ns = ParseIsoTime(cell);
    if (columns_[i] == "End") account.end_ns = ParseIsoTime(cell);
    if (columns_[i] == "ExitCode") account.exit_code = CodeIn(cell);
  }
  if (account.job.empty() || !IsDigit(account.job.front()) || account.state.empty()) return false;
  accounts.push_back(std::move(account));
  return true;
}

}  // namespace debrief::inputs::slurm_accounting
