// Texts in command lines that people paste.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// `text` as one word for a shell, quoted where it needs to be.
std::string ShellWord(std::string_view text);

}  // namespace debrief
