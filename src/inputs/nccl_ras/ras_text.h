// The text that `ncclras` prints: a summary of the job, its communicators, errors and warnings.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "inputs/nccl_ras/answer.h"

namespace debrief::inputs::nccl_ras {

class RasTextParser {
 public:
  explicit RasTextParser(std::function<void(const RasAnswer&)> on_answer)
      : on_answer_(std::move(on_answer)) {}

  void Add(std::string_view line, int64_t number);
  void Finish();

  // "NCCL version 2.28.9 compiled with CUDA 13.0": an answer begins.
  static bool IsFirstLine(std::string_view line);

 private:
  enum class Section : uint8_t { kNone, kJob, kComms, kErrors, kWarnings };

  bool BeginSection(std::string_view line);
  void AddJobLine(std::string_view line);
  void AddCommLine(std::string_view line, int64_t number);
  void AddBlockHead(std::string_view line);
  void AddBlockLine(std::string_view line, int64_t number);
  bool AddCount(std::string_view line, int64_t number);
  void AddRank(std::string_view line, int64_t number);
  void AddProcess(std::string_view line, int64_t number);
  RasRank NewRank(int64_t number) const;

  std::function<void(const RasAnswer&)> on_answer_;
  bool has_answer_ = false;
  RasAnswer answer_;
  Section section_ = Section::kNone;
  std::map<int64_t, int32_t> sizes_;  // of the communicators of a group
  std::string hash_;                  // of the block
  int32_t size_ = kNone32;
  std::string block_;  // DEAD, INCOMPLETE, ERROR, MISMATCH
  std::string op_;     // whose counts differ
  RasRank last_;       // what the lines "Rank r -- ..." below it are about
};

}  // namespace debrief::inputs::nccl_ras
