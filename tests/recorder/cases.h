// Trials in which nobody is killed in the middle of a record, but something else is wrong or rare.
#pragma once

#include "trial.h"

namespace debrief::recorder::test {

// A fork while other threads record: parent and child have each their own file.
void Forks(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// A child that calls exec leaves no file behind; the parent goes on.
void ForkAndExec(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// A disk smaller than the budget: the program goes on and every record is written or counted.
void FullDisk(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// A folder that cannot be written to, for the file itself and for that of a forked child.
void ReadOnly(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// 10 000 threads of three records each, in a budget of 63 chunks.
void Churn(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// A handler that records while the thread that it interrupts records and names.
void Signals(const std::string& path, uint64_t trials, Shared* shared, Total* total);
// Opened and closed again and again under threads that record: nothing is kept.
void Reopen(const std::string& path, uint64_t trials, Shared* shared, Total* total);

}  // namespace debrief::recorder::test
