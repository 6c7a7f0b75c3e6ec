#include "base/text/colours.h"

namespace debrief {

void StripColours(std::string_view text, std::string& clean) {
  clean.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      clean += text[i];
      continue;
    }
    ++i;
    if (i >= text.size() || text[i] != '[') continue;
    ++i;
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
  }
}

std::string WithoutColours(std::string_view text) {
  std::string clean;
  StripColours(text, clean);
  return clean;
}

}  // namespace debrief
