// Coalesced regions of sends and receives, as all the ranks that they tie together issued them.
//
// Every op of a region must find its match: a send its receive, on the peer that it names, in the
// order of their channel, whatever the order within the regions. A rank's region is tied to those
// that hold the other halves of its ops, and those to others in turn, one region a rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compat/torchfrtrace/analyzer.h"
#include "model/model.h"
#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief::outputs::flight_text {

struct P2pRegion {
  std::map<int32_t, std::vector<size_t>> rows;  // of comm_op, by rank, in order of issue
  bool fits = true;                             // every op has found its match
};

class P2pRegions {
 public:
  P2pRegions(const Model& model, const RowsByMatch& ops);

  const std::vector<P2pRegion>& all() const { return all_; }
  // Position in all() of the region that an op of the match is in; -1 when there is none.
  int32_t Of(int64_t match) const;

  // The table of a region: a line a match, the op of each rank in its column, and what became of
  // the match; at last the end markers, which have the states.
  void Write(const P2pRegion& region, const Log& log) const;

 private:
  struct Call {
    size_t row = 0;
    int64_t match = 0;
  };
  using Region = std::vector<Call>;

  void Gather();
  void Tie(int32_t first, std::vector<bool>& done);
  std::vector<int32_t> Neighbours(int32_t region) const;
  int32_t PartnerRegion(const Call& call) const;
  bool IsMarker(size_t row) const;
  std::string StateOfMatch(int64_t match) const;
  std::string Text(size_t row, const Log& log) const;

  const Model& model_;
  const RowsByMatch& ops_;
  std::map<int32_t, Region> regions_;  // by number
  std::map<size_t, Call> calls_;       // by row, those of regions
  std::map<size_t, int32_t> region_of_row_;
  std::map<int64_t, int32_t> region_of_match_;
  // By group, rank and sequence number of sends and receives.
  std::map<std::tuple<StringId, int32_t, int32_t>, int32_t> by_seq_;
  std::vector<P2pRegion> all_;
};

// The group of a match, for EntryText().
DumpGroup GroupOfMatch(const Model& model, size_t match);

}  // namespace debrief::outputs::flight_text
