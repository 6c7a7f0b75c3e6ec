// What TORCH_LOGS says of CUDA graphs: those that were skipped, and sizes that are too many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "analyses/compile/text_logs/text_compilations.h"
#include "tables/torch_log.h"

namespace debrief::analyses::compile_text_logs {

class CudagraphNotes {
 public:
  // What one record says, if it is about CUDA graphs.
  void Note(const ProcessOfText& process, size_t record, std::string_view id,
            std::string_view text);

  // Rows of compile_cudagraph_skip, and findings.
  void Write(const TorchLogTable& records, AnalysisResult& result);

 private:
  struct Skip {
    size_t record = 0;
    int32_t count = 0;
    FirstNames ids;
  };
  struct Sizes {
    size_t record = 0;
    int32_t most = 0;
  };

  void AddSkip(const TorchLogTable& records, const std::string& reason, const Skip& skip,
               AnalysisResult& result);
  void AddSizes(const TorchLogTable& records, const Sizes& sizes, AnalysisResult& result);

  std::map<std::pair<ProcessOfText, std::string>, Skip> skips_;
  std::map<ProcessOfText, Sizes> sizes_;
  // One finding for each reason, over all ranks of an attempt; that of sizes has none.
  std::map<std::tuple<int32_t, int32_t, std::string>, size_t> findings_;
};

}  // namespace debrief::analyses::compile_text_logs
