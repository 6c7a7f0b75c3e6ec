"""What keeps a job from starting, and who ended it, as clusters say it: Slurm, containers, Kubernetes, MPI, Ray."""
from texts import Case, STEPS, raised, trace

PYXIS = ("slurmstepd: error: pyxis: container start failed with error code: 1\nslurmstepd: error: pyxis: printing enroot log file:\n"
         "slurmstepd: error: pyxis:     [INFO] Querying registry\nslurmstepd: error: pyxis:     {}\n"
         "slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1\n"
         "slurmstepd: error: pyxis: couldn't start container\nslurmstepd: error: Failed to invoke spank plugin stack\n")
PODS = "NAME               READY   STATUS             RESTARTS     AGE\n"
EVENTS = "Events:\n  Type     Reason            Age   From               Message\n  ----     ------            ----  ----               -------\n"
WAITS = "  Warning  FailedScheduling  9m    default-scheduler  0/9 nodes are available: 1 node(s) had a taint, 8 Insufficient nvidia.com/gpu. Preemption is no help\n"
NAMED = "Name:             bert-worker-3\nNamespace:        ml\nStatus:           {}\n"
GONE = ("(raylet, ip=10.2.0.6) A worker died or was killed while executing a task by an unexpected system error. Worker ID: ab Worker PID: {} Worker exit "
        "type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n")


def waited(rank):
    return (f"(Actor pid={9100 + rank}) [rank{rank}]:[E814 03:11:09.123 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n")


CASES = [
    # ---- Slurm and containers
    Case("prolog", {"hello.err": "srun: error: Task launch for StepId=23.0 failed on node n4: Job prolog failed\nsrun: error: Application launch failed: "
                    "Job prolog failed\nsrun: Job step aborted\n"}, [], "did not start: Task launch .* node n4: Job prolog failed"),
    Case("submission", {"submit.log": "sbatch: error: CPU count per node can not be satisfied\nsbatch: error: Batch job submission failed: Requested node "
                        "configuration is not available\n"}, [], "submission failed: Requested node"),
    Case("container_of_one_task", {"slurm-7.out": PYXIS.format("nvidia-container-cli: initialization error: driver error")
                                   + "srun: error: n6: task 22: Exited with exit code 1\n"}, [22], "did not start: nvidia-container-cli: init"),
    Case("container_of_all_tasks", {"slurm-7.out": 2 * PYXIS.format("enroot-switchroot: failed to execute: /bin/bash")
                                    + "srun: error: n6: tasks 0-1: Exited with exit code 1\n"}, [0, 1], "did not start: enroot-switchroot: failed"),
    Case("image_of_apptainer", {"job.log": "FATAL:   could not open image /img/t.sif: no such file or directory\n"}, [], "could not open image"),
    Case("docker_without_gpus", {"job.log": "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\nERRO[0000] "
                                 "error waiting for container: context canceled\n"}, [], "could not select device driver"),
    Case("old_module_of_driver", {"job.log": "docker: Error response from daemon: failed to create task for container: OCI runtime create failed\n"
                                  "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown.\n"},
         [], "driver/library version mismatch"),
    # ---- MPI
    Case("mpi_init", {"job.log": "*** An error occurred in MPI_Init_thread\n*** on a NULL communicator\n*** MPI_ERRORS_ARE_FATAL (processes in this "
                      "communicator will now abort)\n"}, [], "aborted: An error occurred in MPI_Init"),
    Case("mpi_daemons", {"job.log": "ORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n\n* not finding the binaries\n"},
         [], "unable to reliably start"),
    # ---- Kubernetes
    Case("table_of_pods", {"pods.txt": PODS + "bert-master-0      0/1     Error              0            42m\nbert-worker-0      0/1     Error"
                           "              0            42m\nbert-worker-1      0/1     OOMKilled          0            42m\n"},
         [], "pod bert-worker-1: OOMKilled"),
    Case("one_of_many_pods", {"pods.txt": PODS + "bert-master-0      0/1     CrashLoopBackOff   8            2m\n" + "".join(
        f"bert-worker-{i}      1/1     Running            1 (3m ago)   9m\n" for i in range(9))}, [], "pod bert-master-0: CrashLoopBackOff"),
    Case("not_scheduled", {"describe.txt": NAMED.format("Pending") + EVENTS + WAITS}, None, "pod bert-worker-3 is not scheduled: 8 Insufficient nvidia"),
    Case("no_image", {"events.txt": "LAST SEEN   TYPE      REASON   OBJECT              MESSAGE\n3m          Warning   Failed   pod/bert-worker-0   Failed to "
                      "pull image \"reg/train:9\": rpc error: code = NotFound\n"}, None, "pod bert-worker-0: Failed to pull image \"reg/train:9\""),
    Case("operator", {"operator.log": "time=\"2026-02-21T09:32:29Z\" level=info msg=\"Pod: kubeflow.bert-worker-0 exited with code 1\" job=kubeflow.bert\n"},
         None, "Pod bert-worker-0 ended by exit code 1"),
    Case("healthy_pods", {"pods.txt": PODS + "bert-master-0      1/1     Running            1 (3h ago)   42m\nbert-worker-0      0/1     Completed"
                          "          0            42m\n"}, healthy=True),
    Case("healthy_after_waiting", {"describe.txt": NAMED.format("Running") + EVENTS + WAITS + "  Normal   Scheduled         5m    default-scheduler  "
                                   "Successfully assigned ml/bert-worker-3 to gpu-12\n"}, healthy=True),
    # ---- Ray and others
    Case("ray_saw_a_watchdogs_end", {"driver.log": "".join(waited(r) for r in range(3)) + GONE.format(9100)}, [], "watchdog timeout"),
    Case("ray_killed_for_memory", {"driver.log": trace("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on "
                                   "the node (IP: 10.0.0.7) was 971.49GB / 1007.58GB (0.9507)")}, [], "low on memory"),
    Case("no_ssh", {"job.log": trace("subprocess.CalledProcessError: Command 'ssh n11 hostname' returned non-zero exit status 255.") + "\nDuring handling of "
                    "the above exception, another exception occurred:\n\n" + trace("RuntimeError: Using hostfile at /h but host=n11 was not reachable via "
                                                                                   "ssh.")}, [], "not reachable via ssh"),
    Case("ray_memory_pressure", {"driver.log": "(raylet) [2026-12-07 09:57:19,206 E 3934 3934] (raylet) node_manager.cc:3277: 2 Workers (tasks / actors) "
                                 "killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 8289)\n"},
         [], "Ray reports 2 Workers .* memory pressure"),
    Case("pdsh", {"job.log": "worker-2: Permission denied, please try again.\npdsh@head: worker-2: ssh exited with exit code 255\n"},
         [], "did not start: .*worker-2: ssh exited"),
    Case("hydra", {"job.log": "+ python tune.py model.path= a.nemo\nmissing EQUAL at '<EOF>'\nSee https://hydra.cc/docs/1.2/override_grammar for details\n\n"
                   "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"}, [], "did not start: missing EQUAL at"),
    Case("own_memory_of_nccl", {"rank3.err": raised(3, "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, unhandled system error, NCCL "
                                "version 2.26.2\nncclSystemError: System call failed.\nLast error:\nCall to ibv_reg_mr_iova2 failed with error Cannot "
                                "allocate memory"), "rank0.err": STEPS}, [3], "ibv_reg_mr_iova2 failed"),
]
