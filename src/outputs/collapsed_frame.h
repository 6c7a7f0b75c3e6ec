// Names in collapsed stacks, the text that flame graphs are drawn from:
//
//   outer;inner 1500
#pragma once

#include <string>

namespace debrief {

// Without what would end the frame or the line.
inline std::string CollapsedFrame(std::string name) {
  for (char& c : name) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return name;
}

}  // namespace debrief
