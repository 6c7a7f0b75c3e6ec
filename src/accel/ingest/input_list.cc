#include "accel/ingest/input_list.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

namespace debrief::accel {

namespace {

bool IsFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

bool IsSeparator(char c) {
  return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

std::vector<std::string> Elements(std::string_view list, bool quotes) {
  std::vector<std::string> elements(1);
  char quote = 0;
  for (char c : list) {
    if (quote != 0 ? c == quote : quotes && (c == '\'' || c == '"')) {
      quote = quote != 0 ? '\0' : c;
    } else if (quote == 0 && IsSeparator(c)) {
      elements.emplace_back();
    } else {
      elements.back() += c;
    }
  }
  std::erase(elements, "");
  return elements;
}

// Brackets of a folder's name mean themselves where only the last part is a pattern.
std::string WithLiteralFolder(const std::string& element) {
  const size_t slash = element.rfind('/');
  if (slash == std::string::npos) return element;
  std::string pattern;
  for (size_t i = 0; i < slash; ++i) {
    if (std::string_view("*?[\\").find(element[i]) != std::string_view::npos) pattern += '\\';
    pattern += element[i];
  }
  return pattern + element.substr(slash);
}

std::vector<std::string> Match(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  std::erase_if(files, [](const std::string& file) { return !IsFile(file); });
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

InputList FindFiles(std::string_view list, bool compat) {
  InputList found;
  if (!compat && IsFile(std::string(list))) return {{std::string(list)}, {}};
  for (const std::string& element : Elements(list, !compat)) {
    std::vector<std::string> files = IsFile(element)
                                         ? std::vector{element}
                                         : Match(compat ? WithLiteralFolder(element) : element);
    if (files.empty()) found.unmatched.push_back(element);
    found.files.insert(found.files.end(), files.begin(), files.end());
  }
  return found;
}

}  // namespace debrief::accel
