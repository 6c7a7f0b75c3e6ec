// Lines of NCCL about connections and settings -> rows of nccl_link, nccl_channel and nccl_setting.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "inputs/job_text/lines/identities.h"
#include "inputs/job_text/lines/nccl_lines.h"
#include "model/model.h"
#include "tables/nccl_channel.h"
#include "tables/nccl_link.h"
#include "tables/nccl_setting.h"

namespace debrief::inputs::job_text {

class NcclRows {
 public:
  explicit NcclRows(const Identity& who) : who_(who) {}

  // The set-up of a communicator begins or ends: what its thread prints is about it.
  void AddSetUp(const IdentityLine& identity, std::string_view text, Pools& pools);
  void Add(const NcclLine& line, int64_t number, Pools& pools);

  // `rank_of` tells the rank of a process, `attempt_of` the attempt of a line.
  void Write(const std::function<int32_t(int64_t)>& rank_of,
             const std::function<int32_t(int64_t)>& attempt_of, Part& whole);

  int64_t dropped() const { return dropped_; }

 private:
  struct Comm {
    StringId name = StringId::kNone;
    int32_t size = kNone32;
  };
  struct LinkKey {
    int64_t pid = kNone64;
    StringId comm = StringId::kNone;
    int32_t from = kNone32, to = kNone32;
    bool receives = false;
    StringId via = StringId::kNone;
    auto operator<=>(const LinkKey&) const = default;
  };

  template <typename Row>
  Row RowAt(const NcclLine& line, int64_t number, Pools& pools) const;
  Comm CommOf(const NcclLine& line) const;
  void AddLink(const NcclLine& line, int64_t number, Pools& pools);
  void AddTrees(const NcclLine& line, int64_t number, Pools& pools);
  bool HasRoom();

  Identity who_;
  std::map<std::pair<int64_t, int64_t>, Comm> comms_;  // by process and thread
  std::map<LinkKey, NcclLinkRow> links_;
  std::vector<NcclChannelRow> channels_;
  std::map<std::tuple<int64_t, StringId, StringId>, NcclSettingRow> settings_;
  int64_t dropped_ = 0;
};

}  // namespace debrief::inputs::job_text
