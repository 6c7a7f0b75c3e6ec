#include "inputs/job_text/compile_lines.h"

#include <algorithm>
#include <utility>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr std::string_view kRooms[] = {
    "_dynamo",           "_inductor", "_functorch", "_export",     "_logging", "_guards",
    "_higher_order_ops", "export",    "_compile",   "_subclasses", "fx"};

// Behind "torch" and one of "/\." the path or the logger goes on with a part that compiles.
bool IsOfCompiler(std::string_view name) {
  size_t at = 0;
  for (; (at = name.find("torch", at)) != std::string_view::npos; at += 5) {
    std::string_view rest = name.substr(at + 5);
    if (rest.empty() || (rest[0] != '/' && rest[0] != '\\' && rest[0] != '.')) continue;
    rest = rest.substr(1, rest.find_first_of("/\\.", 1) - 1);
    if (std::ranges::find(kRooms, rest) != std::end(kRooms)) return true;
  }
  return false;
}

bool IsCompileId(std::string_view id) {
  return id.find('/') != std::string_view::npos &&
         id.find_first_not_of("0123456789/_!") == std::string_view::npos;
}

// "5/0" of "[5/0] text", which loses it; empty when there is none.
std::string_view TakeId(std::string_view& text) {
  const size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return {};
  const std::string_view id = text.substr(1, close - 1);
  if (!IsCompileId(id)) return {};
  text.remove_prefix(close + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return id;
}

// "recompiles" of "[__recompiles] text", which loses it; empty when there is none.
std::string_view TakeArtifact(std::string_view& text) {
  constexpr std::string_view kOpen = "[__";
  const size_t close = text.find(']');
  if (!text.starts_with(kOpen) || close == std::string_view::npos) return {};
  const std::string_view artifact = text.substr(kOpen.size(), close - kOpen.size());
  text.remove_prefix(close + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return artifact;
}

// V of DEBUG, as PyTorch's own heads have it; 0 when it is no level.
char LevelOf(std::string_view name) {
  constexpr std::pair<std::string_view, char> kLevels[] = {
      {"DEBUG", 'V'}, {"INFO", 'I'}, {"WARNING", 'W'}, {"ERROR", 'E'}, {"CRITICAL", 'C'}};
  for (const auto& [word, level] : kLevels) {
    if (word == name) return level;
  }
  return 0;
}

// "torch._dynamo.guards.__recompiles": the logger without its artifact.
void SetLogger(std::string_view logger, CompileLine& line) {
  const size_t artifact = logger.find(".__");
  line.file = logger.substr(0, artifact);
  if (artifact != std::string_view::npos) line.artifact = logger.substr(artifact + 3);
}

void SetHead(std::string_view whole, CompileLine& line) {
  const size_t size = static_cast<size_t>(line.text.data() - whole.data());
  line.head = Trimmed(whole.substr(0, size), " ");
}

std::optional<CompileLine> ParseGlogForm(std::string_view text) {
  const bool may_be = text.size() > 20 && text[5] == ' ' && text[8] == ':';
  const auto header = may_be ? ParseLogHeader(text) : std::nullopt;
  if (!header) return std::nullopt;
  CompileLine line{.text = header->message,
                   .file = header->file,
                   .line = header->line,
                   .level = header->level,
                   .pid = header->pid,
                   .time = header->time};
  line.id = TakeId(line.text);
  line.artifact = TakeArtifact(line.text);
  const bool named = !line.id.empty() || !line.artifact.empty();
  const bool speaks_of_it = line.text.starts_with("torch._dynamo hit config.") ||
                            line.text.starts_with("skipping cudagraphs due to");
  if (!named && !speaks_of_it && !IsOfCompiler(line.file)) return std::nullopt;
  SetHead(text, line);
  return line;
}

std::optional<CompileLine> ParseDatedForm(std::string_view text) {
  const bool may_be = text.size() > 40 && text[0] == '[' && text[5] == '-' && text[14] == ':';
  const size_t close = may_be ? text.find("] ") : std::string_view::npos;
  if (close == std::string_view::npos) return std::nullopt;
  CompileLine line{.text = text.substr(close + 2), .time_ns = ParseIsoTime(text.substr(1))};
  line.id = TakeId(line.text);
  const size_t level = line.text.find(": [");
  const size_t end = line.text.find(']');
  if (level == std::string_view::npos || end == std::string_view::npos || end < level)
    return std::nullopt;
  line.level = LevelOf(line.text.substr(level + 3, end - level - 3));
  SetLogger(line.text.substr(0, level), line);
  if (line.level == 0 || !IsOfCompiler(line.file)) return std::nullopt;
  line.text.remove_prefix(end + 1);
  if (line.text.starts_with(' ')) line.text.remove_prefix(1);
  SetHead(text, line);
  return line;
}

std::optional<CompileLine> ParseBasicForm(std::string_view text) {
  const size_t first = text.substr(0, 10).find(':');
  if (first == std::string_view::npos) return std::nullopt;
  CompileLine line{.level = LevelOf(text.substr(0, first))};
  const size_t second = text.find(':', first + 1);
  if (line.level == 0 || second == std::string_view::npos) return std::nullopt;
  SetLogger(text.substr(first + 1, second - first - 1), line);
  if (!IsOfCompiler(line.file)) return std::nullopt;
  line.text = text.substr(second + 1);
  SetHead(text, line);
  return line;
}

}  // namespace

std::optional<CompileLine> ParseCompileLine(std::string_view text) {
  if (auto line = ParseGlogForm(text)) return line;
  if (auto line = ParseDatedForm(text)) return line;
  return ParseBasicForm(text);
}

bool BeginsRecord(std::string_view text) {
  constexpr std::string_view kBegins[] = {"Recompiling function ",
                                          "('Recompiling function ",
                                          "Graph break: ",
                                          "Graph break in ",
                                          "Graph break (",
                                          "torch._dynamo hit config.",
                                          "skipping cudagraphs ",
                                          "create_symbol ",
                                          "create_unbacked_sym",
                                          "torchdynamo start ",
                                          "Step 1: ",
                                          "Step 2: ",
                                          "WON'T CONVERT ",
                                          "CUDAGraph supports "};
  return StartsWithAny(text, kBegins);
}

bool ContinuesWarning(std::string_view text) {
  if (!text.starts_with("   ")) return false;
  const std::string_view rest = Trimmed(text, " ");
  return rest.starts_with("function: '") || rest.starts_with("last reason: ") ||
         rest.starts_with("reasons:  ");
}

}  // namespace debrief::inputs::job_text
