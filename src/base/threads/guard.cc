#include "base/threads/guard.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/threads/thread_pool.h"

namespace debrief {

namespace {

constexpr const char* kMemoryRemedy =
    "Give debrief more memory (ulimit -v, the limit of the container), fewer inputs at once, or "
    "--jobs 1.";
constexpr const char* kThreadsRemedy = "Allow more processes (ulimit -u), or use --jobs 1.";

// Of the exception that is being handled.
Status StatusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status(Code::kLimit, "memory ran out").Remedy(kMemoryRemedy);
  } catch (const std::system_error& error) {
    return Status(Code::kLimit, std::string("no thread can be started: ") + error.what())
        .Remedy(kThreadsRemedy);
  } catch (const std::exception& error) {
    return Status(Code::kLimit, error.what()).Remedy(kMemoryRemedy);
  } catch (...) {
    return Status(Code::kLimit, "it could not be done").Remedy(kMemoryRemedy);
  }
}

}  // namespace

Status Guarded(const std::function<void()>& work) {
  ScopedWorkContext context(WorkContext());  // what the work has set ends with it
  try {
    work();
    return {};
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace debrief
