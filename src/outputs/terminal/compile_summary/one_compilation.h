// Which rows and findings are about the one compilation that was asked for.
#pragma once

#include <string_view>

#include "model/finding.h"

namespace debrief::outputs::compile_summary {

class OneCompilation {
 public:
  // "0/0", with or without an attempt; empty: all.
  explicit OneCompilation(std::string_view compile_id);

  bool is_all() const { return id_.empty(); }
  bool Is(std::string_view compile_id) const;
  // One of a list with commas between.
  bool IsIn(std::string_view compile_ids) const;
  // It names the compilation, and no other than those of its frame: a finding about many functions
  // is about none of them.
  bool IsAbout(const Finding& finding) const;

 private:
  std::string_view id_;
};

}  // namespace debrief::outputs::compile_summary
