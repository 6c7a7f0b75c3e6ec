// Which of the abstract categories an event belongs to, by the dialect of its file.
#pragma once

#include "accel/pass.h"

namespace debrief::accel {

bool IsDeviceEvent(const Event& event, Run& run);  // acc_event_cat
bool IsKernel(const Event& event, Run& run);       // acc_kernel
bool IsPrep(const Event& event, Run& run);         // acc_compute_prep
bool IsCollective(const Event& event, Run& run);   // acc_collective
bool IsCopyIn(const Event& event, Run& run);       // acc_datatransfer_HtoD
bool IsCopyOut(const Event& event, Run& run);      // acc_datatransfer_DtoH

}  // namespace debrief::accel
