// What is replaced only when asked for: numbers of tensor shapes, and names of files.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "redact/text_redactor.h"

namespace debrief::redact {

namespace {

bool IsShapeWord(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::array<std::string_view, 12> kEnds = {"size",    "sizes",    "shape",   "shapes",
                                                      "dims",    "stride",   "strides", "numel",
                                                      "numelin", "numelout", "sizein",  "sizeout"};
  if (std::ranges::any_of(kEnds, [&](std::string_view end) { return lower.ends_with(end); }))
    return true;
  constexpr std::array<std::string_view, 12> kTypes = {"f32", "f16", "bf16", "f64", "i64", "i32",
                                                       "i16", "i8",  "u8",   "b8",  "f8",  "c64"};
  return std::ranges::find(kTypes, std::string_view(lower)) != kTypes.end();
}

// Of the libraries below a program: what they are is no secret, and tells frames of users apart.
bool IsOfLibrary(std::string_view path) {
  constexpr std::array<std::string_view, 9> kMarks = {
      "site-packages", "dist-packages", "/lib/python", "torch/", "/usr/",
      "/opt/",         "/proc/",        "/dev/",       "/sys/"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return Contains(path, mark); });
}

bool HasFileEnding(std::string_view name) {
  constexpr std::array<std::string_view, 14> kEndings = {
      ".py",   ".yaml",        ".yml",     ".json", ".jsonl", ".pt",    ".pth",
      ".ckpt", ".safetensors", ".parquet", ".csv",  ".npy",   ".arrow", ".ipynb"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

// input_sizes=[[64, 128]], "Input Dims": [[2, 3]], torch.Size([4]), f32[8, 4], NumelIn=4096
bool TextRedactor::Shape(size_t end) {
  constexpr size_t kLongestList = 4096;
  if (!IsShapeWord(text_.substr(at_, end - at_))) return false;
  size_t at = std::min(text_.find_first_not_of("\" ':=\\", end), text_.size());
  if (at - end > 6 || at >= text_.size()) return false;
  const bool is_list = text_[at] == '[' || text_[at] == '(';
  if (!is_list && !(IsDigit(text_[at]) && at > end)) return false;
  size_t depth = 0;
  at_ = end;
  const size_t stop = std::min(text_.size(), at + kLongestList);
  while (at < stop) {
    const char c = text_[at];
    if (IsDigit(c)) {
      int64_t number = 0;
      const auto [behind, error] = std::from_chars(&text_[at], text_.data() + text_.size(), number);
      const auto next = static_cast<size_t>(behind - text_.data());
      if (error == std::errc())
        Replace(at, next, Secret::kShape, std::to_string(names_.Dimension(number)));
      at = next;
      if (!is_list) break;
      continue;
    }
    if (c == '[' || c == '(') ++depth;
    if ((c == ']' || c == ')') && --depth == 0) break;
    if (!Contains("[]() ,sx\"'\n\r\t", text_.substr(at, 1))) break;
    ++at;
  }
  at_ = std::max(at, copied_);
  return true;
}

// The path whose first word begins here.
bool TextRedactor::File() {
  constexpr std::string_view kOfPaths =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+~";
  constexpr size_t kLongestPath = 4096;
  size_t begin = at_;
  while (begin > copied_ && at_ - begin < kLongestPath &&
         Contains(kOfPaths, text_.substr(begin - 1, 1)))
    --begin;
  const std::string_view rest = text_.substr(at_, kLongestPath);
  const size_t stop = at_ + std::min(rest.find_first_not_of(kOfPaths), rest.size());
  std::string_view path = text_.substr(begin, stop - begin);
  if (!HasFileEnding(path) || IsOfLibrary(path)) return false;
  std::string mapped;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    constexpr std::array<std::string_view, 8> kKept = {"",      ".",   "..",  "home",
                                                       "Users", "tmp", "mnt", "data"};
    const bool is_kept =
        std::ranges::find(kKept, folder) != kKept.end() || folder.starts_with("user-");
    mapped += (is_kept ? std::string(folder) : names_.FolderName(folder)) + "/";
    path.remove_prefix(slash + 1);
  }
  mapped += names_.FileName(path);
  Replace(begin, stop, Secret::kFileName, mapped);
  return true;
}

}  // namespace debrief::redact
