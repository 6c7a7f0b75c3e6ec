// What the causes of waits have in common: who began to wait, in what, and how that is said.
#pragma once

#include <string>
#include <vector>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/waits.h"

namespace debrief::analyses::flight {

// Fills in what the headline says about the operation that `waiter` is in.
void DescribeWait(const Index& index, const Waits& waits, int32_t waiter, Cause& cause);

// Who began to wait for these ranks first: what it is in is the first operation they are missing
// from.
int32_t FirstWaiter(const Index& index, const Waits& waits, const std::vector<int32_t>& blamed);

// "all_reduce #16 of mesh_dp [5, 7] (train.py:52)".
std::string OperationInWords(const Index& index, const Unit& unit);

// "ranks 0-2 wait": everybody who waits for the blamed, directly or through others.
std::string WaitersInWords(const Index& index, const Waits& waits,
                           const std::vector<int32_t>& blamed);

// The same of one operation: "7 ranks wait", where some of them wait for those in it.
std::string WaitersInOpInWords(const Index& index, const Waits& waits, const Unit& unit,
                               const std::vector<int32_t>& blamed);

bool Contains(const std::vector<int32_t>& sorted, int32_t value);

// Ranks that took another way than their peers: one that went past what others are in, one that
// left out its half of an exchange, circles. Adds nothing where there are none.
void AddUnmatched(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void AddSkipped(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void AddBrokenExchange(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void AddLeftOutHalf(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void AddDeadlock(const Index& index, const Waits& waits, const std::vector<int32_t>& cycle,
                 std::vector<Cause>& causes);

}  // namespace debrief::analyses::flight
