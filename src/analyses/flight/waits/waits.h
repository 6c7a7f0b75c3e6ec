// Who waits for whom.
//
// A rank is where its oldest operation that is not completed is. It waits for the members that have
// not issued that operation (their host has not come), and for those that have, but are themselves
// at an older one (head of line). A batch of sends and receives is one operation that waits for all
// of its partners. A rank that waits for nobody although it has work is in an
// operation that all members joined. Cost: linear in ranks and members.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

enum class WaitKind : uint8_t {
  kNotIssued,   // the other has not issued it
  kHeadOfLine,  // the other has issued it and is at something older
  kNoDump,      // the other left no dump
  kCutDump,     // the other's dump is cut: nobody can tell
};

struct Wait {
  int32_t on;  // position in Index::ranks
  WaitKind kind;
};

class Waits {
 public:
  explicit Waits(const Index& index);

  const std::vector<Wait>& Of(int32_t rank) const;
  // Ranks with the same place wait for the same others; -1 for one that waits for nobody.
  int32_t PlaceOf(int32_t rank) const { return place_of_[static_cast<size_t>(rank)]; }
  // Ranks that wait for it directly, sorted.
  std::vector<int32_t> On(int32_t rank) const;
  bool IsAwaited(int32_t rank) const { return !awaited_at_[static_cast<size_t>(rank)].empty(); }
  // The unit a rank is at, or null when all of its work is completed.
  const Unit* At(int32_t rank) const;
  // Ranks that wait for each other, each component sorted; only those of two or more.
  std::vector<std::vector<int32_t>> Cycles() const;
  // Everybody who waits for these ranks, directly or through others.
  std::vector<int32_t> Behind(const std::vector<int32_t>& ranks) const;

 private:
  // Where ranks wait: a collective that some of its members have not come to, or the exchange of
  // one rank. Thousands may wait for thousands in one collective, so edges are kept a place, not a
  // rank.
  struct Place {
    std::vector<Wait> waits;
    std::vector<int32_t> waiters;
  };
  class Components;

  void AddPlaces();
  int32_t AddPlace(std::vector<Wait> waits, bool is_lost);
  std::vector<Wait> WaitsAt(const Unit& unit) const;
  const Place& PlaceAt(int32_t place) const { return places_[static_cast<size_t>(place)]; }
  // Is `unit` what the rank is at, or a part of the batch that it is at?
  bool IsAt(int32_t rank, const Unit& unit) const;
  void AddWait(int32_t rank, const Unit* theirs, Index::Issued issued,
               std::vector<Wait>& waits) const;
  void AddPartner(const Unit& unit, std::vector<Wait>& waits) const;

  const Index& index_;
  std::vector<Place> places_;
  std::vector<int32_t> place_of_;                 // by rank
  std::vector<std::vector<int32_t>> awaited_at_;  // by rank: places where somebody waits for it
};

}  // namespace debrief::analyses::flight
