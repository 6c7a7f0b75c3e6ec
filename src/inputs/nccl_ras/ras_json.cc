#include "inputs/nccl_ras/ras_json.h"

#include <array>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief::inputs::nccl_ras {

namespace {

constexpr std::array<std::string_view, 8> kResults = {"",
                                                      "Unhandled CUDA error",
                                                      "System error",
                                                      "Internal error",
                                                      "Invalid argument",
                                                      "Invalid usage",
                                                      "Remote process error",
                                                      "NCCL operation in progress"};

std::string_view ResultName(int64_t code) {
  if (code < 0) return "";
  return code < static_cast<int64_t>(kResults.size()) ? kResults[static_cast<size_t>(code)]
                                                      : "unknown error";
}

int32_t Int32Of(JsonValue value) {
  auto number = value.Int();
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int32_t>(*number) : kNone32;
}

bool IsTrue(JsonValue value) {
  return value.Bool().value_or(false) || value.Int().value_or(0) != 0;
}

// `"nvml_dev": 0` and then, without a comma, `"status"`.
std::string WithCommas(std::string_view text) {
  std::string repaired;
  size_t from = 0;
  for (size_t at = text.find("\"status\""); at != std::string_view::npos;
       at = text.find("\"status\"", at + 1)) {
    size_t before = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
    if (at == 0 || before == std::string_view::npos || !IsDigit(text[before])) continue;
    repaired += text.substr(from, before + 1 - from);
    repaired += ',';
    from = before + 1;
  }
  repaired += text.substr(from);
  return repaired;
}

struct RankStatus {
  int64_t init = 0, async_error = 0;
  bool finalize = false, abort = false, unresponsive = false, dead = false;
};

Status ReadStatus(JsonValue value, RankStatus& status) {
  return value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "init_state") status.init = field.Int().value_or(0);
    if (key == "async_error") status.async_error = field.Int().value_or(0);
    if (key == "finalize_called" || key == "destroy_flag") status.finalize |= IsTrue(field);
    if (key == "abort_flag") status.abort = IsTrue(field);
    if (key == "unresponsive") status.unresponsive = IsTrue(field);
    if (key == "considered_dead") status.dead = IsTrue(field);
  });
}

class CommReader {
 public:
  explicit CommReader(RasAnswer& answer) : answer_(answer) {}

  Status Read(JsonValue value) {
    comm_ = {};
    size_t first = answer_.ranks.size();
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "hash") comm_.hash = HashOf(field);
      if (key == "size") comm_.size = Int32Of(field);
      if (key == "missing_ranks_count") comm_.missing = Int32Of(field);
      bool missing = key == "missing_ranks";
      if ((key != "ranks" && !missing) || field.kind() != JsonKind::kArray) return {};
      return field.ForEachElement([&](JsonValue rank) { return ReadRank(rank, missing); });
    }));
    for (size_t i = first; i < answer_.ranks.size(); ++i) {
      answer_.ranks[i].hash = comm_.hash;
      answer_.ranks[i].comm_size = comm_.size;
    }
    answer_.comms.push_back(std::move(comm_));
    return {};
  }

 private:
  using Counts = std::vector<std::pair<std::string, int64_t>>;

  // As the text writes it: without 0x.
  static std::string HashOf(JsonValue value) {
    std::string_view hash = value.String().value_or("");
    if (hash.starts_with("0x")) hash.remove_prefix(2);
    return std::string(hash);
  }

  Status ReadRank(JsonValue value, bool missing) {
    RasRank rank;
    RankStatus status;
    Counts counts;
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "rank") rank.comm_rank = Int32Of(field);
      if (key == "host") rank.host = field.String().value_or("");
      if (key == "pid" && field.Int().value_or(-1) >= 0) rank.pid = *field.Int();
      if (key == "cuda_dev") rank.gpu = Int32Of(field);
      if (key == "status" && field.kind() == JsonKind::kObject) return ReadStatus(field, status);
      if (key != "collective_counts" || field.kind() != JsonKind::kObject) return {};
      return field.ForEachField([&](std::string_view op, JsonValue count) {
        counts.emplace_back(op, count.Int().value_or(kNone64));
      });
    }));
    if (missing) {
      // Who answers and does not name the communicator has left it.
      bool left = !status.dead && !status.unresponsive;
      AddState(rank, status.dead ? "dead" : left ? "status" : "missing", left ? "NOCOMM" : "");
    } else {
      AddStates(rank, status, counts);
    }
    return {};
  }

  void AddStates(const RasRank& rank, const RankStatus& status, const Counts& counts) {
    constexpr int64_t kInProgress = 7;
    for (int64_t code : {status.init, status.async_error}) {
      if (code != 0 && code != kInProgress) AddState(rank, "error", ResultName(code));
    }
    AddState(rank, "status",
             status.abort       ? "ABORT"
             : status.finalize  ? "FINALIZE"
             : status.init == 0 ? "RUNNING"
                                : "INIT");
    for (const auto& [op, count] : counts) {
      RasRank counted = rank;
      counted.state = "counted";
      counted.op = op;
      counted.count = count;
      answer_.ranks.push_back(std::move(counted));
    }
  }

  void AddState(RasRank rank, std::string_view state, std::string_view text) {
    rank.state = state;
    rank.text = text;
    answer_.ranks.push_back(std::move(rank));
  }

  RasAnswer& answer_;
  RasComm comm_;
};

// GPUs that any communicator names: one that has as many ranks is that of the whole job.
int32_t CountDevices(const RasAnswer& answer) {
  std::set<std::tuple<std::string_view, int64_t, int32_t>> devices;
  for (const RasRank& rank : answer.ranks) devices.emplace(rank.host, rank.pid, rank.gpu);
  return static_cast<int32_t>(devices.size());
}

}  // namespace

Result<RasAnswer> ReadRasJson(std::string_view text) {
  RasAnswer answer;
  JsonReader reader;
  TRY(reader.OpenCopy(WithCommas(text)));
  TRY(reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key == "timestamp") answer.time_ns = ParseIsoTime(value.String().value_or(""));
    if (key != "communicators" || value.kind() != JsonKind::kArray) return {};
    CommReader comms(answer);
    return value.ForEachElement([&](JsonValue comm) { return comms.Read(comm); });
  }));
  answer.gpus = CountDevices(answer);
  return answer;
}

}  // namespace debrief::inputs::nccl_ras
