// Changes to the own times of the moments of a job: what replays of it differ in.
//
//   LikeOthers      no longer than on the other ranks, at the same place of the same step
//   EvenRanks       ranks of a step compute as long as each other, all together as long as before
//   EvenStages      the same for pipeline stages
//   AtWireTime      transfers take what the fastest of their group and size took
//   FasterLinks     transfers take a fraction
//   Without         hosts do not load data, do not compile, do not allocate device memory
//   HostsAhead      hosts take no time: devices never wait for a launch
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analyses/what_if/profile_graph.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::what_if {

// What the own time of a moment is.
enum class OwnPart : uint8_t { kNone, kHost, kKernel, kCopy, kTransfer };

using OwnTimes = std::vector<double>;  // by moment, ns

class ProfileEdits {
 public:
  ProfileEdits(const Model& model, const std::vector<timeline::TimelineView>& views,
               const ProfileGraph& graph);

  const OwnTimes& recorded() const { return own_; }
  // Of each moment what it takes on the other ranks, or what it took where that is less.
  const OwnTimes& typical() const { return typical_; }
  OwnPart PartOf(size_t moment) const { return parts_[moment]; }
  int32_t RankOf(size_t moment) const { return graph_.lanes[graph_.lane_of[moment]].rank; }
  StringId NameOf(size_t moment) const;

  // Of the moments that `includes(moment)`.
  template <typename Includes>
  void LikeOthers(OwnTimes& own, const Includes& includes) const {
    for (size_t moment = 0; moment < own.size(); ++moment) {
      if (includes(moment)) own[moment] = typical_[moment];
    }
  }

  void EvenRanks(OwnTimes& own) const;
  // One stage, or all of them.
  void EvenStages(int32_t stage, OwnTimes& own) const;
  static constexpr int32_t kAllStages = -1;
  std::vector<double> StageTimes() const;  // what a rank of each stage computes, in the mean
  // By lane; empty when the job has no pipeline stages.
  const std::vector<int32_t>& stages() const { return stages_; }

  // Transfers by kind ("all_reduce of mesh_dp"), with their time together.
  struct Transfers {
    double ns = 0;
    std::vector<uint32_t> moments;
  };
  const std::map<std::string, Transfers>& transfers() const { return transfers_; }
  void AtWireTime(const Transfers& kind, OwnTimes& own) const;
  double WireTimeOf(uint32_t moment) const;
  void FasterLinks(double times, OwnTimes& own) const;
  // What transfers of a lane take in a step.
  std::vector<double> TransferTimes() const;  // by lane * steps + step

  // Whether there was any. `rank`: of this one; kNone32: of all.
  bool Without(IntervalSet ProfileLane::* times, int32_t rank, OwnTimes& own) const;
  void HostsAhead(OwnTimes& own) const;

  // Forward and backward of a step rise together: correlation over ranks and steps; and how far
  // the steps of a rank lie from its mean. Nothing where backward is not known.
  struct Variation {
    double correlation = kNoDouble;
    double spread = kNoDouble;
  };
  Variation FindVariation() const;

 private:
  void FindParts(const std::vector<timeline::TimelineView>& views);
  void CompareLanes();
  void CompareStage(int32_t stage, size_t lanes);
  void ComparePlace(std::span<const uint32_t> moments, size_t others);
  int32_t StageOf(size_t lane) const { return stages_.empty() ? 0 : stages_[lane]; }
  void GatherTransfers();
  std::vector<double> ComputeTimes() const;  // by lane * steps + step

  // What makes the wire time: group, members, op, bytes.
  using WireKey = std::tuple<StringId, ListId, StringId, int64_t>;
  WireKey WireKeyOf(uint32_t match) const;
  std::string KindOf(uint32_t match) const;

  const Model& model_;
  const std::vector<timeline::TimelineView>& views_;
  const ProfileGraph& graph_;
  std::vector<OwnPart> parts_;
  OwnTimes own_, typical_;
  std::vector<int32_t> stages_;
  std::map<std::string, Transfers> transfers_;
  std::map<WireKey, double> wire_;  // the fastest of each
};

// Positions in the pipeline by lane, from who sends to whom; empty when there is none.
std::vector<int32_t> PipelineStages(const Model& model, const ProfileGraph& graph);

}  // namespace debrief::analyses::what_if
