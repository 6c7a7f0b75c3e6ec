// SIGINT, SIGTERM and SIGHUP while outputs are written: what is not whole is removed, then the
// process ends of that signal, as whoever sent it expects.
#pragma once

namespace debrief {

// From now on. A signal that is ignored (nohup) stays ignored. May be called again.
void RemoveOutputsOnInterrupt();

}  // namespace debrief
