// What a serving engine says of its start and its end -> rows of serving_event, and whether its
// server was shut down in order: what is printed behind that line says nothing of a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/lines/engine_lines.h"
#include "model/model.h"
#include "tables/serving_event.h"

namespace debrief::inputs::job_text {

class ServingRows {
 public:
  explicit ServingRows(const Identity& who) : who_(who) {}

  // A worker's process that is gone, as the engine of data-parallel rank `data` counts.
  struct Lost {
    int32_t data = kNone32;
    int32_t index = kNone32;
    int64_t line = 0;
    int64_t time_ns = kNone64;
    StringId text = StringId::kNone;
  };

  void Add(const EngineLine& line, int64_t number, int64_t time_ns, const Owner& owner,
           std::string_view text, Pools& pools);

  const std::vector<Lost>& lost() const { return lost_; }
  // A line that reports throughput. The one behind a failure may still count what was done before
  // it: the last but one tells that the engine went on.
  void AddServed(int64_t number);
  // The engine went on behind everything before this line; 0 when nothing tells so.
  int64_t ServedLine() const { return served_; }
  // The last line of the text.
  void SetEnd(int64_t number) { end_ = number; }
  // Did the engine fail, by its own words?
  bool failed() const { return ShutdownLine() == 0 && last_failure_ > served_; }
  // From which line on everything belongs to an orderly end; 0 when there was none.
  int64_t ShutdownLine() const;

  void Write(const std::function<int32_t(const Owner&)>& rank_of,
             const std::function<int32_t(int64_t)>& attempt_of, Part& part);

 private:
  struct At {
    ServingEventRow row;
    Owner owner;
  };

  Identity who_;
  std::vector<At> rows_;
  std::vector<Lost> lost_;
  // The first line of each kind; 0: none.
  int64_t engine_ = 0, fatal_ = 0, dead_ = 0, told_ = 0, shutdown_ = 0;
  int64_t last_failure_ = 0;
  int64_t left_ = 0;  // the engine is dead, of which only its client tells
  int64_t end_ = 0;
  int64_t served_ = 0, last_served_ = 0;  // the last but one, and the last
};

}  // namespace debrief::inputs::job_text
