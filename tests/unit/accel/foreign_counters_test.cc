// Counters of an input that look like those of a pass, but are not.
#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace foreign_counters_test {

TEST_F(AccelTest, CountersOfTheInputAreNotTakenForSamples) {
  const auto counter = [&](std::string_view name, std::string_view key, const Value& value) {
    Event& event = Slice(name, 5, 7);
    event.phase = 'C';
    Set(event, key, value);
  };
  counter("PT Active", "Other", Value::Integer(1));
  counter("Power", "TS_cycles", Value::Integer(1));
  counter("Power", "Watts", Value::Text(run_.Intern("many")));
  ExtractPowerEvent(events_, run_);
  SortPowerEvents(events_, run_);
  ComputePower(events_, run_);
  AnalyzePowerStatistics(events_, run_);
  CalculateStats(events_, run_);
  EXPECT_EQ(OfPhase('C').size(), 3u);
}

}  // namespace foreign_counters_test
}  // namespace debrief::accel
