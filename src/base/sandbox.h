// What the process gives up before it reads what others wrote: programs and the network.
//
// Inputs are hostile at worst. An importer that such an input takes over finds that it can start no
// program, open no connection and look into no other process; it can still read and write files, as
// its user can, since that is what debrief does. A filter of the kernel (seccomp) refuses the calls
// with EPERM, for all threads, and cannot be taken off again.
#pragma once

namespace debrief {

// False where the kernel has no such filters or does not allow them (some containers, emulators);
// nothing is changed then. Descriptors that are open stay usable: a server listens first.
bool GiveUpProgramsAndNetwork();

}  // namespace debrief
