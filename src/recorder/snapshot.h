// Copies what is published of the open recording to another file, while threads go on recording.
//
// The lock is held for one chunk at a time (64 KiB), so a thread that changes chunks waits
// microseconds.
#pragma once

namespace debrief::recorder {

struct SnapshotResult {
  bool open;  // was there a recording
  int error;  // errno of the copy
};

SnapshotResult WriteSnapshot(int fd);

}  // namespace debrief::recorder
