// What kind of line a line of output is, judged by itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::inputs::job_text {

enum class LineClass : uint8_t {
  kOther,            // nothing by itself, but it may be the exception that ends a traceback
  kTraceback,        // Traceback (most recent call last):
  kFrame,            //   File "train.py", line 52, in step
  kTorchLog,         // V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] [5/0] text
  kWatchdogTimeout,  // Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, ...
  kWatchdogStatus,   // failure detected by watchdog at work sequence id: 8 PG status: ...
  kHeartbeatLost,
  kDumpSignal,
  kNcclError,
  kOutOfMemory,
  kSignal,
  kExit,
  kTeardown,
  kTerminate,      // terminate called after throwing an instance of 'c10::DistBackendError'
  kReason,         //   what():  ...
  kFailureField,   //   exitcode  : 13 (pid: 4711), of torchrun's list of failures
  kStackHeader,    // Stack trace of the failed collective:
  kStackFrame,     // #2 step from /home/user/train.py:57
  kCurrentThread,  // Current thread 0x00007f (most recent call first):
  kStopping,       // Sending process 1326 closing signal SIGTERM
  kScheduler,      // slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT ... DUE TO TIME LIMIT ***
  kXid,        // NVRM: Xid (PCI:0000:4b:00): 79, pid=4711, name=python, GPU has fallen off the bus
  kDriver,     // amdgpu 0000:c5:00.0: amdgpu: ring comp_1.1.1 timeout, signaled seq=151, ...
  kBlocked,    // INFO: task python:4711 blocked for more than 120 seconds.
  kCudaError,  // CUDA error: an illegal memory access was encountered
  kDeviceAssert,  // a.cu:12: f: block: [0,0,0], thread: [1,0,0] Assertion `i < n` failed.
  kStoreError,    // wait timeout after 600000ms, keys: /default_pg/0//2//cuda//0
  kGil,           // Could not acquire GIL within 300 ms on exit, possible GIL induced hang
  kDesync,        // ranks [2] are the lagging ranks ...; Ranks 2 failed to pass monitoredBarrier in
  kStuck,         // Section 'step' has been open for 600 seconds
  kLeft,          // destroy_process_group() was not called before program exit, which can leak ...
  kNccl,          // ... NCCL INFO Channel 01/0 : 3[0] -> 4[0] [send] via NET/Socket/0
  kIdentity,      // ... NCCL INFO ... rank 1 nranks 8 ... Init COMPLETE
  kRootCause,     // Root Cause (first observed failure):
  kRestOfExit,    // signal 9 (Killed).
  kPodName,       // Name:             trainer-worker-3, of kubectl describe
  kPodEvent,      // Warning  FailedScheduling  9m  default-scheduler  0/9 nodes are available: ...
  kErrorFile,     // {"message": {"message": "OSError: ...", "extraInfo": ...
  kDirectCause,   // The above exception was the direct cause of the following exception:
  kWhileHandled,  // During handling of the above exception, another exception occurred:
  kOfThread,      // Exception in thread Thread-1 (_pin_memory_loop):
  kIgnored,       // Exception ignored in: <function f at 0x7f>
  kSpawned,       // -- Process 1 terminated with the following error:
  kUserCode,      // from user code:
  kLastError,     // Last error:
  kDetail,        // EJ0001: ... Failed to initialize the HCCP process: what an exception is about
  kBlock,         // ----------Begin global rank 3 STDERR----------
  kReplica,       // [ddp_0:9f5b/1 - step 17] reconfiguring for quorum_id=3 ..., of torchft
  kNoStart,       // train.py: error: unrecognized arguments: --lr
  kNormalEnd,     // Training completed in 12.1 s
  kEngine,        // EngineCore encountered a fatal error. And others of serving engines
};

// `text` has no prefix and no colours.
LineClass Classify(std::string_view text);

bool IsOutOfMemory(std::string_view text);

// The scheduler or somebody else ended the job: a time limit, a preemption, a cancellation.
bool IsScheduler(std::string_view text);

// "ValueError: text", "torch.cuda.OutOfMemoryError: text", "KeyboardInterrupt".
bool LooksLikeException(std::string_view text);

}  // namespace debrief::inputs::job_text
