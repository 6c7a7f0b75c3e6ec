// What stragglers cost a job of pipeline stages: how long would a step be if no worker were slow?
//
// The job is replayed with the weights that it had (T) and with the typical weight of each type of
// op (T_ideal); slowdown S = T / T_ideal. Then one part at a time gets its own weights back: a type
// of op, a replica, a stage; and one part at a time gets the typical ones: the slowest workers, the
// last stage. Attributions do not add up: parts hide behind each other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/what_if/settings.h"
#include "analyses/what_if/stage_graph.h"
#include "base/pools/ids.h"

namespace debrief::analyses::what_if {

// Removing it takes away this share of what is lost (`removed`); alone it causes this share
// (`added`). Values outside of 0 to 1 are normal.
struct Share {
  double removed = kNoDouble;
  double added = kNoDouble;
};

// A part of the job: a family of types of ops, or a stage.
struct PartCost {
  double slowdown = 1;  // of a job in which only this part is not typical
  double fixed_ns = 0;  // a step of the job as it was, but with this part typical
};

struct FamilyCost {
  std::string_view family;
  PartCost cost;
};

struct Stragglers {
  std::vector<double> base_ns, step_ns;      // by step: as recorded, as replayed
  double base = 0, replayed = 0, ideal = 0;  // means over the steps, ns
  double slowdown = 1;                       // S
  double gap = 1;                            // D = base / replayed: what the graph does not explain
  double replay_error = 0;  // largest, of a replay with all delays against the recording
  size_t zeroed_delays = 0;
  size_t negative_transfers = 0;
  std::vector<FamilyCost> families;
  std::vector<double> replicas;  // slowdown of each
  std::vector<PartCost> stages;
  std::vector<double> workers;          // the lesser of both, by replica * stages + stage
  std::vector<double> worker_fixed_ns;  // a step with it typical; of the worst, else none
  std::vector<size_t> worst;            // workers, the worst first
  std::vector<size_t> named;            // those of the worst without which less would go away
  Share worst_workers, last_stage;      // M_W, M_S
  double variation = kNoDouble;         // M_V: work that varies inside of workers
  double division = kNoDouble;          // M_P: stages that have unequal work
  double correlation = 0;      // of forward and backward of a micro-batch; median over workers
  double set_ns = kNoDouble;   // a step with what the user asks for
  double faster_links_ns = 0;  // a step with links twice as fast
  double overlap_ns = 0;       // a step whose transfers take no time
  double spread = 0;           // deviation / mean of backward computing; median over workers
};

// The workers of the last stage.
std::vector<size_t> LastStage(const StageJob& job);

inline constexpr double kLeastSlowdown = 1.03;  // below it what is lost is noise

Stragglers FindStragglers(const StageJob& job, const StageGraph& graph,
                          const std::vector<Setting>& settings = {});

enum class Cause : uint8_t {
  kNone,
  kWorkers,
  kVariation,
  kSequenceLengths,
  kLastStage,
  kDivision,
  kSeveral
};
std::string_view CauseName(Cause cause);

// The first cause that explains half of what is lost, then the others that do.
std::vector<Cause> CausesOf(const StageJob& job, const Stragglers& found);

}  // namespace debrief::analyses::what_if
