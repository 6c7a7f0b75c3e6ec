"""Slurm with four nodes on this machine, in a folder of its own, and mounts of a small size; root is needed for both.

    with Slurm(folder) as slurm:
        slurm.run("srun", "-N4", "hostname")

Its own munged, slurmctld and slurmd run on ports of their own, so a Slurm that is installed here is not touched. What was started
is stopped by its process number, also when a test fails.
"""
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

NODES = ("n1", "n2", "n3", "n4")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "mpirun", "parallel")
CONFIG = """
ClusterName=debrief
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,defer_batch
ReturnToService=2
KillWait=1
MinJobAge=300
NodeName=n[1-4] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs():
    return [name for name in PROGRAMS if shutil.which(name) is None and not Path("/usr/sbin", name).exists()]


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(17000, 30000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports")


class Slurm:
    def __init__(self, folder):
        self.folder, self.daemons = folder, {}
        self.env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def daemon(self, name, *words, **more):
        with open(self.folder / f"{name}.out", "wb") as log:
            self.daemons[name] = subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **more)

    def start_munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o711)
        (folder / "key").write_bytes(os.urandom(128))
        for path in (folder / "key", folder):
            shutil.chown(path, "munge", "munge")
        (folder / "key").chmod(0o600)
        self.daemon("munged", "munged", "--foreground", "--force", f"--socket={folder}/socket", f"--key-file={folder}/key", f"--pid-file={folder}/pid",
                    f"--log-file={folder}/log", f"--seed-file={folder}/seed", user="munge", group="munge")
        self.until("munged listens", lambda: (folder / "socket").exists())

    def start_all(self):
        self.folder.chmod(0o755)
        self.start_munge()
        host, first = socket.gethostname().split(".")[0], free_ports(len(NODES) + 1)
        (self.folder / "state").mkdir()
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir()
        (self.folder / "slurm.conf").write_text(CONFIG.format(host=host, folder=self.folder, port=first, first=first + 1, last=first + len(NODES)))
        self.daemon("slurmctld", "slurmctld", "-D", "-c")
        for node in NODES:
            self.daemon(node, "slurmd", "-D", "-N", node)
        self.until("four nodes are idle", lambda: self.nodes("idle") == len(NODES))

    def nodes(self, state):
        listed = subprocess.run(["sinfo", "-h", "-N", "-t", state, "-o", "%N"], env=self.env, capture_output=True, text=True)
        return len(listed.stdout.split())

    def until(self, what, is_true, seconds=60):
        end = time.monotonic() + seconds
        while not is_true():
            dead = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if dead or time.monotonic() > end:
                logs = "".join(path.read_text(errors="replace")[-1500:] for path in self.folder.glob("*.out"))
                raise AssertionError(f"waited for: {what}; ended: {dead}\n{logs}")
            time.sleep(0.05)

    def start(self, *words, **more):
        return subprocess.Popen(list(map(str, words)), env=self.env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def run(self, *words, ok=(0,), **more):
        started = self.start(*words, **more)
        started.out, started.err = started.communicate(timeout=180)
        assert started.returncode in ok, f"{words}: exit code {started.returncode}\n{started.err[-2000:]}{started.out[-500:]}"
        return started

    def state_of(self, job):
        shown = subprocess.run(["scontrol", "show", "job", "-o", job], env=self.env, capture_output=True, text=True).stdout
        return [line.split("JobState=")[1].split()[0] for line in shown.splitlines() if "JobState=" in line]

    def until_over(self, job):
        """The state in which a job ends."""
        over = {"COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}
        self.until(f"job {job} is over", lambda: (states := self.state_of(job)) and set(states) <= over, 120)
        return self.state_of(job)


class SmallDisk:
    """A file system of a few kilobytes."""

    def __init__(self, folder, kilobytes):
        self.folder = folder
        folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], check=True)

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder], check=True)
