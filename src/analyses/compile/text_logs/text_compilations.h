// The compilations that the lines of processes name.
//
// Versions before 2.2 print no id, and later ones not with all. There the function stands for the
// frame, and its compilations are counted as they come: "forward:266/1" is the second of forward,
// whose code begins in line 266.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/compile/text_logs/record_text.h"
#include "base/pools/ids.h"

namespace debrief::analyses::compile_text_logs {

using ProcessOfText = std::tuple<int32_t, int32_t, int64_t>;  // input, rank, pid

// What is known of one compilation.
struct TextCompilation {
  ProcessOfText process;
  size_t record = 0;  // the first that names it
  std::string id;     // without attempt
  std::string function, file;
  int32_t line = kNone32;
  int64_t last_line = 0;
  int32_t restarts = 0;
  std::vector<std::string> reasons;
  std::map<std::string, std::string, std::less<>> symbols;  // by source
  std::string limit;                                        // that was reached
  std::string break_reason, break_file;                     // of its first break
  int32_t break_line = kNone32;
  bool failed = false;

  void SetFunction(const FunctionText& code);  // the first one counts
};

class TextCompilations {
 public:
  // `id` may have an attempt. `record` is the row that names it, at `line` of the output.
  TextCompilation& Get(const ProcessOfText& process, std::string_view id, size_t record,
                       int64_t line);

  // The id that stands for compilation `number` of a function.
  static std::string IdOf(const FunctionText& code, int32_t number);

  // The id of the newest compilation of a function, for a line that follows it and names no id;
  // when there is none near, of the first.
  std::string LastOf(const ProcessOfText& process, const FunctionText& code) const;

  // How often a function without ids was compiled again, this time included.
  int32_t CountAgain(const ProcessOfText& process, const FunctionText& code);

  const std::vector<TextCompilation>& all() const { return all_; }

 private:
  std::vector<TextCompilation> all_;
  std::map<std::pair<ProcessOfText, std::string>, size_t> by_id_;
  std::map<std::tuple<ProcessOfText, std::string, std::string, int32_t>, int32_t> again_;
};

}  // namespace debrief::analyses::compile_text_logs
