// SIGINT, SIGTERM and SIGHUP while outputs are written: what is not whole is removed, then the
// process ends of that signal, as whoever sent it expects.
#pragma once

#include "base/bytes/unique_fd.h"

namespace debrief {

// From now on. A signal that is ignored (nohup) stays ignored. May be called again.
void RemoveOutputsOnInterrupt();

// SIGINT and SIGTERM as something to wait for. Before any thread begins, which inherits that, and
// after other processes, which must not.
UniqueFd StopSignals();

}  // namespace debrief
