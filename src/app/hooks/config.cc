#include "app/hooks/config.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>

#include "app/terminal.h"
#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr size_t kMostConfigBytes = 64 << 10;

bool IsBareKey(std::string_view key) {
  return !key.empty() && key.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-+.") == std::string_view::npos;
}

// The string at the start of `text`, which loses it; nullopt when it does not end on the line or
// has an escape that TOML does not know.
std::optional<std::string> TakeString(std::string_view& text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return std::nullopt;
  const char quote = text[0];
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      text.remove_prefix(i + 1);
      return value;
    }
    if (quote == '\'' || text[i] != '\\') {
      value += text[i];
      continue;
    }
    constexpr std::string_view kEscapes = "\\\"tn", kMeanings = "\\\"\t\n";
    const size_t known = ++i < text.size() ? kEscapes.find(text[i]) : std::string_view::npos;
    if (known == std::string_view::npos) return std::nullopt;
    value += kMeanings[known];
  }
  return std::nullopt;
}

bool IsRestOfLine(std::string_view text) {
  text = Trimmed(text);
  return text.empty() || text.starts_with('#');
}

// Reads line by line; `table` is the one that the last head named.
class ConfigReader {
 public:
  Status ReadLine(std::string_view line) {
    line = Trimmed(line);
    if (IsRestOfLine(line)) return {};
    return line.starts_with('[') ? ReadHead(line.substr(1)) : ReadKey(line);
  }

  HookConfig Take() { return std::move(config_); }

 private:
  static Status Wrong(std::string text) { return {Code::kInvalid, std::move(text)}; }

  Status ReadHead(std::string_view line) {
    const size_t close = line.find(']');
    if (close == std::string_view::npos || !IsRestOfLine(line.substr(close + 1)))
      return Wrong("a table is written as [name]");
    table_ = Trimmed(line.substr(0, close));
    if (table_ == "fetch" || table_ == "publish") return {};
    return Wrong(fmt::format("there is no table [{}], only [fetch] and [publish]", table_));
  }

  Status ReadKey(std::string_view line) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return Wrong("a line is written as name = \"command\"");
    const std::string key(Trimmed(line.substr(0, equals)));
    if (!IsBareKey(key)) return Wrong(fmt::format("{} is no name", key));
    std::string_view rest = Trimmed(line.substr(equals + 1));
    auto value = TakeString(rest);
    if (!value || !IsRestOfLine(rest))
      return Wrong(fmt::format("{} needs one string in quotes, on one line", key));
    return Set(key, std::move(*value));
  }

  Status Set(const std::string& key, std::string value) {
    if (table_.empty() && key != "post_run")
      return Wrong(fmt::format("{} is unknown here; post_run is not", key));
    if (table_.empty()) {
      config_.post_run = std::move(value);
      return {};
    }
    auto& to = table_ == "fetch" ? config_.fetch : config_.publish;
    if (!to.emplace(key, std::move(value)).second)
      return Wrong(fmt::format("{} is there twice", key));
    return {};
  }

  HookConfig config_;
  std::string table_;
};

}  // namespace

Result<HookConfig> ParseHookConfig(std::string_view text) {
  ConfigReader reader;
  for (int64_t line = 1; !text.empty(); ++line) {
    Status status = reader.ReadLine(TakeLine(text));
    if (!status.ok()) return std::move(status).At({.line = line});
  }
  return reader.Take();
}

std::string HookConfigPath() {
  std::string folder = Environment("XDG_CONFIG_HOME");
  if (!folder.starts_with('/')) {
    folder = Environment("HOME");
    if (folder.empty()) return "";
    folder += "/.config";
  }
  return folder + "/debrief/hooks.toml";
}

Result<HookConfig> ReadHookConfig() {
  const std::string path = HookConfigPath();
  struct stat found;
  if (path.empty() || (stat(path.c_str(), &found) != 0 && errno == ENOENT)) return HookConfig();
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kDenied, "cannot be read").At({.file = path});
  if ((found.st_mode & S_IWOTH) != 0) {
    return Status(Code::kDenied, "everybody may write to it, so what it names is not started")
        .At({.file = path})
        .Remedy(fmt::format("chmod o-w {}", path));
  }
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.size() > kMostConfigBytes)
    return Status(Code::kLimit, "is larger than 64 KiB").At({.file = path});
  auto config = ParseHookConfig(text);
  if (!config.ok()) {
    Status status = config.status();
    return std::move(status).At({.file = path, .line = config.status().place().line});
  }
  HookConfig read = std::move(config).value();
  read.file = path;
  return read;
}

}  // namespace debrief
