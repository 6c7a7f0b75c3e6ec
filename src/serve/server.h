// A server for one reader's machine: 127.0.0.1, HTTP/1.1, GET and HEAD.
//
// One thread waits for all connections (epoll) and moves their bytes; it never opens a file and
// never runs SQL. A complete request goes to one of two sets of threads, quick (files) or slow
// (SQL), so that files are answered while queries run. A connection costs a descriptor and a few
// kilobytes, not a thread: a thousand idle ones, or a thousand that send a byte now and then, keep
// nobody waiting, and each is closed when its time is over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes/unique_fd.h"
#include "base/status.h"
#include "base/threads/progress.h"
#include "serve/cancel.h"
#include "serve/http.h"

namespace debrief::serve {

class Handler {
 public:
  virtual ~Handler() = default;
  // Whether Answer() may take long. Asked by the waiting thread.
  virtual bool IsSlow(const Request& request) const = 0;
  // Any thread.
  virtual Response Answer(const Request& request, CancelToken& cancel) = 0;
};

struct ServerLimits {
  int64_t head_ns = 10'000'000'000;    // for a request's head, from its first moment on
  int64_t idle_ns = 15'000'000'000;    // between two requests of a connection
  int64_t write_ns = 30'000'000'000;   // without any progress
  int64_t answer_ns = 30'000'000'000;  // of a slow request, once it has begun
  int quick_threads = 4;
  int slow_threads = 3;
  size_t connections = 4096;  // more wait in the system's queue; also bounded by open files
};

// A socket that listens on 127.0.0.1; port 0: a free one, which `port` then names.
Result<UniqueFd> ListenLocally(uint16_t& port);

// Serves until `stop` (a descriptor) can be read. `clock` must not jump: it measures waiting.
Status Serve(UniqueFd listener, int stop, Handler& handler, const Clock& clock,
             const ServerLimits& limits);

}  // namespace debrief::serve
