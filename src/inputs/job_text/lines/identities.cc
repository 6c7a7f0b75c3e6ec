#include "inputs/job_text/lines/identities.h"

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

std::optional<IdentityLine> OfNccl(std::string_view text) {
  size_t info = text.find(" NCCL INFO ");
  bool begins = Contains(text, "Init START");
  if (info == std::string_view::npos || !Contains(text, " nranks ") ||
      !(begins || Contains(text, "Init COMPLETE")))
    return std::nullopt;
  IdentityLine line{.said_by = "nccl", .host = {}, .bus_id = {}, .comm = {}, .set_up = !begins};
  size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon > info) return std::nullopt;
  line.host = text.substr(0, colon);
  line.host = line.host.substr(line.host.rfind(' ') + 1);  // a time may stand in front
  line.pid = NumberAfter(text.substr(colon), ":");
  line.group_rank = SmallNumberAfter(text, " rank ");
  line.group_size = SmallNumberAfter(text, " nranks ");
  line.gpu = SmallNumberAfter(text, " cudaDev ");
  auto word = [&](std::string_view key) -> std::string_view {
    size_t at = text.find(key);
    if (at == std::string_view::npos) return {};
    std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, rest.find(' '));
  };
  line.bus_id = word(" busId ");
  line.comm = word(" commId ");
  bool whole = line.pid != kNone64 && line.group_rank != kNone32 && line.group_size != kNone32;
  return whole ? std::optional(line) : std::nullopt;
}

std::optional<IdentityLine> OfRay(std::string_view text) {
  if (!Contains(text, "world_rank=") || !Contains(text, "pid=")) return std::nullopt;
  IdentityLine line{.said_by = "ray", .host = {}, .bus_id = {}, .comm = {}};
  line.rank = SmallNumberAfter(text, "world_rank=");
  line.local_rank = SmallNumberAfter(text, "local_rank=");
  line.pid = NumberAfter(text, "pid=");
  if (size_t ip = text.find("ip="); ip != std::string_view::npos) {
    line.host = text.substr(ip + 3);
    line.host = line.host.substr(0, std::min(line.host.find_first_of(",) "), line.host.size()));
  }
  return line.rank != kNone32 && line.pid != kNone64 ? std::optional(line) : std::nullopt;
}

std::optional<IdentityLine> OfLightningLine(std::string_view text) {
  if (!Contains(text, "Initializing distributed: GLOBAL_RANK: ")) return std::nullopt;
  IdentityLine line{.said_by = "lightning", .host = {}, .bus_id = {}, .comm = {}};
  line.rank = SmallNumberAfter(text, "GLOBAL_RANK: ");
  if (size_t member = text.find("MEMBER: "); member != std::string_view::npos)
    line.group_size = SmallNumberAfter(text.substr(member), "/");
  return line.rank != kNone32 ? std::optional(line) : std::nullopt;
}

// "rank 3 in world size 8 is assigned as DP rank 0, PP rank 0, TP rank 3"
std::optional<IdentityLine> OfVllmLine(std::string_view text) {
  const size_t world = text.find(" in world size ");
  if (world == std::string_view::npos || !Contains(text, " is assigned as DP rank "))
    return std::nullopt;
  const size_t rank = text.rfind("rank ", world);
  if (rank == std::string_view::npos) return std::nullopt;
  IdentityLine line{.said_by = "vllm", .host = {}, .bus_id = {}, .comm = {}};
  line.rank = SmallNumberAfter(text.substr(rank), "rank ");
  line.group_size = SmallNumberAfter(text, " in world size ");
  return line.rank != kNone32 ? std::optional(line) : std::nullopt;
}

std::optional<IdentityLine> OfDeepSpeedLine(std::string_view text) {
  IdentityLine line{.said_by = "deepspeed", .host = {}, .bus_id = {}, .comm = {}};
  if (Contains(text, "sigkill_handler] Killing subprocess ")) {
    line.pid = NumberAfter(text, "Killing subprocess ");
    line.is_next = true;
    return line.pid != kNone64 ? std::optional(line) : std::nullopt;
  }
  // "process 4711 spawned with command: ['python', '-u', 'train.py', '--local_rank=3']"
  constexpr std::string_view kSpawned = " spawned with command: ";
  if (size_t at = text.find(kSpawned); at != std::string_view::npos) {
    size_t process = text.rfind("process ", at);
    if (process == std::string_view::npos) return std::nullopt;
    line.pid = NumberAfter(text.substr(process), "process ");
    line.local_rank = SmallNumberAfter(text.substr(at), "--local_rank=");
    return line.pid != kNone64 && line.local_rank != kNone32 ? std::optional(line) : std::nullopt;
  }
  if (!Contains(text, "nnodes=") || !Contains(text, "num_local_procs=")) return std::nullopt;
  int32_t node = SmallNumberAfter(text, "node_rank=");
  int32_t processes = SmallNumberAfter(text, "num_local_procs=");
  constexpr int32_t kMost = 1 << 15;
  bool fits = node >= 0 && node < kMost && processes > 0 && processes < kMost;
  if (!fits) return std::nullopt;
  line.local_rank = 0;
  line.rank = node * processes;
  return line;
}

}  // namespace

std::optional<IdentityLine> ParseIdentity(std::string_view text) {
  for (auto parse : {OfNccl, OfRay, OfLightningLine, OfVllmLine, OfDeepSpeedLine}) {
    if (auto line = parse(text)) return line;
  }
  return std::nullopt;
}

}  // namespace debrief::inputs::job_text
