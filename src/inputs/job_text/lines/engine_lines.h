// Lines in which a serving engine (vLLM, SGLang) tells of its start, its end and its waiting:
//
//   Model loading took 55.22 GiB memory and 20.3s                        a phase of the start
//   Graph capturing finished in 31 secs, took 0.45 GiB
//   Load weight end. elapsed=312.45 s, type=Gemma4, avail mem=66.05 GB
//   EngineCore encountered a fatal error.                                before a traceback
//   Worker proc VllmWorker-3 died unexpectedly, shutting down executor.  who died, not why
//   No available shared memory broadcast block found in 60 seconds.      the speaker waits
//   Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

enum class EngineWhat : uint8_t {
  kFatal,       // the traceback that follows, or stands in the line, ends the process
  kDead,        // the engine is dead: said by those that needed it
  kLost,        // a worker's process is gone
  kWaiting,     // the speaker waits for another process
  kStuck,       // a watchdog gave up
  kShutdown,    // the server ends because somebody told it to, or after its engine died
  kTold,        // somebody told it to end
  kReady,       // requests are served from here on
  kPhaseBegin,  // of the start
  kPhaseEnd,
};

struct EngineLine {
  EngineWhat what = EngineWhat::kFatal;
  std::string_view phase;      // a constant
  double seconds = kNoDouble;  // of the phase, or of the waiting
  int32_t worker = kNone32;    // which is gone, as the engine counts
};

std::optional<EngineLine> ParseEngineLine(std::string_view text);

// The word of serving_event.what.
std::string_view NameOf(EngineWhat what);

// Does the head of a traceback say that it ends the process? "Scheduler hit an exception: Trace..."
bool IsFatalHead(std::string_view text);

}  // namespace debrief::inputs::job_text
