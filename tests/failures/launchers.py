"""Schedulers, containers, launchers: who ended the job, or which process they saw end."""
import json

from texts import Case, SITE, STEPS, failed, failure_list, entry, marked, raised, remote_error, stopping, torchrun, trace

CANCELLED = "slurmstepd: error: *** {} ON node01 CANCELLED AT 2026-11-15T23:22:09{} ***\n"
DEEPSPEED = "[2026-11-15 23:22:09,590] [{}] [launch.py:{}] {}\n"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job-worker-0", "labels": {"training.kubeflow.org/replica-index": "0"}},
       "spec": {"containers": [{"name": "pytorch"}]},
       "status": {"phase": "Failed", "containerStatuses": [{"name": "pytorch", "restartCount": 0, "lastState": {"terminated": {
           "exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-11-15T23:00:00Z", "finishedAt": "2026-11-15T23:22:09Z"}}}]}}
POD_YAML = """apiVersion: v1
kind: Pod
metadata:
  name: job-worker-0
  namespace: default
spec:
  containers:
  - name: pytorch
status:
  phase: Failed
  containerStatuses:
  - name: pytorch
    lastState:
      terminated:
        exitCode: 137
        finishedAt: "2026-11-15T23:22:09Z"
        reason: OOMKilled
"""
DESCRIBED = """Name:             trainer-worker-1
Namespace:        default
Status:           Failed
Containers:
  pytorch:
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
"""
EVICTED = """Name:             trainer-worker-1
Namespace:        default
Status:           Failed
Reason:           Evicted
Message:          The node was low on resource: ephemeral-storage.
"""
RECORDED = f"""Traceback (most recent call last):
    File "{SITE}/torch/distributed/elastic/multiprocessing/errors/__init__.py", line 362, in wrapper
      return f(*args, **kwargs)
    File "/home/user/train.py", line 55, in main
      raise ValueError("vocabulary is empty")
  ValueError: vocabulary is empty
"""
SPLIT = raised(1, "ValueError: the shard " + "x" * 1100 + " is empty").replace("[rank1]: ", "")


def pieces(rank, text):
    """As srun --label writes it: a long line in pieces of 1,024 bytes."""
    return "".join(f"{rank}: {line[at:at + 1024]}\n" for line in text.splitlines() for at in range(0, max(len(line), 1), 1024))


CASES = [
    Case("slurm_time_limit", {"slurm-11.out": STEPS + CANCELLED.format("STEP 11.0", " DUE TO TIME LIMIT")
                              + "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
                              + CANCELLED.format("JOB 11", " DUE TO TIME LIMIT") + "srun: error: node01: tasks 0-7: Terminated\n"},
         [], "time limit"),
    Case("slurm_preemption", {"slurm-11.out": STEPS + CANCELLED.format("JOB 11", " DUE TO PREEMPTION")}, [], "preempt"),
    Case("slurm_out_of_memory", {
        "slurm-11.out": STEPS + "slurmstepd: error: Detected 1 oom_kill event in StepId=11.0. Some of the step tasks have been OOM Killed.\n"
                        "srun: error: node02: task 5: Out Of Memory\nsrun: Terminating StepId=11.0\n" + CANCELLED.format("STEP 11.0", "")
                        + "srun: error: node01: tasks 0-4,6-7: Terminated\nsrun: Force Terminated StepId=11.0\n"}, [5], "out of memory"),
    Case("slurm_node", {"slurm-11.out": STEPS + "srun: error: Node failure on node07\n"
                        + CANCELLED.format("STEP 11.0", " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS")}, [], "[Nn]ode failed"),
    Case("slurm_one_task_told", {"slurm-11.out": STEPS + "srun: error: node01: task 3: Terminated\nsrun: Terminating StepId=11.0\n"
                                 + CANCELLED.format("STEP 11.0", "") + "srun: error: node01: tasks 0-2,4-7: Terminated\n"}, [3], "SIGTERM"),
    Case("slurm_pieces", {"slurm-11.out": pieces(0, STEPS) + pieces(1, SPLIT) + "srun: error: node01: task 1: Exited with exit code 1\n"},
         [1], "ValueError: the shard.* is empty"),
    Case("pbs", {"job.o77": STEPS + "=>> PBS: job killed: walltime 3610 exceeded limit 3600\n"}, [], "time limit"),
    Case("lsf", {"lsf.77.out": STEPS + "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.\n"},
         [], "memory limit"),
    Case("launcher_told", {"torchrun.txt": STEPS + "W1115 23:22:09.590000 1320 torch/distributed/elastic/agent/server/api.py:741] Received "
                           "Signals.SIGTERM death signal, shutting down workers\n" + stopping(4711, 4712)
                           + trace("torch.distributed.elastic.multiprocessing.api.SignalException: Process 1320 got signal: 15")},
         [], "told to stop"),
    Case("one_worker_told", {"torchrun.txt": torchrun((1, -15), (0, -15), (2, -6)), "rank2.err": remote_error(2)}, [1], "SIGTERM"),
    # ---- Kubernetes
    Case("pod_described", {"describe.txt": DESCRIBED}, None, "trainer-worker-1.*out of memory"),
    Case("pod_evicted", {"describe.txt": EVICTED}, None, "evicted"),
    Case("pod_json", {"pod.json": json.dumps(POD, indent=4)}, None, "job-worker-0.*out of memory"),
    Case("pods_json", {"pods.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD]})}, None, "job-worker-0.*out of memory"),
    Case("pod_yaml", {"pod.yaml": POD_YAML}, None, "job-worker-0.*out of memory"),
    Case("pod_events", {"events.txt": "LAST SEEN   TYPE      REASON       OBJECT           MESSAGE\n2m          Warning   OOMKilling   "
                        "node/node01      Memory cgroup out of memory: Killed process 4712 (python) total-vm:91kB\n",
                        "rank0.err": remote_error(0)}, None, "out of memory"),
    # ---- torchrun and others
    Case("failure_list_with_traceback", {"torchrun.txt": stopping(4711) + failed(1, 1, 4712)
                                         + failure_list(entry(0, 1, 1, 4712, RECORDED), entry(1, 0, -15, 4711))},
         [1], "vocabulary is empty.*train.py:55"),
    Case("lightning", {"run.log": STEPS + "[rank: 1] Child process with PID 4712 terminated with code 1. Forcefully terminating all other "
                       "processes to avoid zombies\n"}, [1], "code 1"),
    Case("accelerate", {"run.log": STEPS + trace("ValueError: too many values to unpack (expected 2)")
                        + trace("subprocess.CalledProcessError: Command '['/usr/bin/python3', 'train.py']' returned non-zero exit status 1.")},
         [], "too many values to unpack"),
    Case("deepspeed", {"deepspeed.log": raised(1, "AssertionError: Check batch related parameters. train_batch_size is not equal to "
                                               "micro_batch_per_gpu * gradient_acc_step * world_size 256 != 4 * 8 * 4")
                       + DEEPSPEED.format("INFO", "335:sigkill_handler", "Killing subprocess 4711")
                       + DEEPSPEED.format("INFO", "335:sigkill_handler", "Killing subprocess 4712")
                       + DEEPSPEED.format("ERROR", "341:sigkill_handler", "['python', '-u', 'train.py', '--local_rank=1'] exits with return "
                                          "code = 1")}, [1], "train_batch_size"),
    Case("composer", {"composer.log": STEPS + "ERROR:composer.cli.launcher:Rank 1 crashed with exit code 1.\nGlobal rank 0 (PID 4711) exited "
                      "with code -15\nGlobal rank 1 (PID 4712) exited with code 1\n----------Begin global rank 1 STDERR----------\n"
                      + trace("ValueError: tokenizer has no pad token") + "----------End global rank 1 STDERR----------\n"},
         [1], "no pad token.*train.py:40"),
    Case("deepspeed_process_and_kernel", {
        "deepspeed.log": DEEPSPEED.format("INFO", "256:main", "process 4711 spawned with command: ['python', 'train.py', '--local_rank=0']")
                         + DEEPSPEED.format("INFO", "256:main", "process 4712 spawned with command: ['python', 'train.py', '--local_rank=1']") + STEPS,
        "dmesg.txt": "[88012.1] Out of memory: Killed process 4712 (python) total-vm:912345kB\n"}, [1], "out of memory"),
    Case("lightning_told", {"run.log": STEPS + "[rank: 0] Received SIGTERM: 15\n"}, [], "told to stop"),
    Case("timer_of_torchrun", {"torchrun.txt": "I1115 23:22:09.590000 1320 torch/distributed/elastic/timer/file_based_local_timer.py:300] Reaping "
                               "worker_pid=[4712]. Expired timers: [step]\n" + torchrun((1, -9), (0, -15))}, [1], "SIGKILL|sign of life"),
    Case("monitor_of_process", {"job_cycle0.log": "2026-11-15 23:22:09,590 [WARNING] [node01] [workload:3(3) infra:0(0)] "
                                "rank_monitor_server.py:498 [Cycle 0] Did not get subsequent heartbeat. Waited 60.00 seconds.\n"},
         [3], "hung"),
    Case("mpich", {"mpi.log": STEPS + "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 3 PID 4711 RUNNING AT n2\n"
                   "=   KILLED BY SIGNAL: 9 (Killed)\n"}, [3], "SIGKILL"),
    Case("mpi_abort", {"mpi.log": STEPS + "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n  Proc: [[40961,1],2]\n"
                       "  Errorcode: 1\n"}, [2], "MPI_ABORT"),
    Case("mpi_daemon", {"mpi.log": STEPS + "PRTE has lost communication with a remote daemon.\n\n  Remote daemon: [prterun-n1-77@0,1] on node "
                        "n7\n"}, [], "node or its network"),
    Case("raylet", {"driver.log": STEPS + trace("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n"
                                                "Memory on the node (IP: 10.0.0.2, ID: abc) was 61GB / 62GB (0.98)")}, None, "memory"),
    Case("shell", {"nohup.out": STEPS + "run.sh: line 12:  4711 Killed                  python train.py --config a.yaml\n"}, [], "SIGKILL"),
    Case("shell_bare", {"nohup.out": STEPS + "Killed\n"}, [], "SIGKILL"),
    Case("unknown_rank_mark", {"torchrun.txt": marked("[default1]:", raised(1, "ValueError: bad batch")) + torchrun((1, 1), (0, -15))},
         [1], "bad batch"),
]
