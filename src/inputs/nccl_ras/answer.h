// An answer of NCCL RAS, as text or as JSON, before it becomes rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "model/model.h"

namespace debrief::inputs::nccl_ras {

struct RasComm {
  int64_t line = kNone64;
  std::string hash;
  int32_t comms = 1;
  int32_t size = kNone32;
  int32_t missing = kNone32;
  std::string status;
  std::string errors;
};

struct RasRank {
  int64_t line = kNone64;
  std::string hash;
  int32_t comm_size = kNone32;
  int32_t comm_rank = kNone32;
  int32_t ranks = 1;
  std::string host;
  int64_t pid = kNone64;
  int32_t gpu = kNone32;
  std::string_view state = {};
  std::string op;
  int64_t count = kNone64;
  std::string text;
};

struct RasAnswer {
  int32_t snapshot = 0;
  int64_t time_ns = kNone64;
  int32_t gpus = kNone32;  // of the whole job
  std::vector<RasComm> comms;
  std::vector<RasRank> ranks;
};

// Rows of ras_comm and ras_rank. A rank in a communicator of the whole job is the rank of the job;
// where such a communicator tells processes, those of smaller ones are known by them.
void AddAnswer(const Identity& who, const RasAnswer& answer, Part& part);

}  // namespace debrief::inputs::nccl_ras
