// A TextSink that keeps what it is given.
#pragma once

#include <string>
#include <string_view>

#include "outputs/output.h"

namespace debrief {

class StringSink final : public TextSink {
 public:
  void Write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace debrief
