"""A bare Debian 12 in a folder, and commands that run in it: no compiler, no library of ours, no network.

Python is the one thing that is added, for the wheel. It needs root: folders are mounted, and the root is changed.
"""
import os
import shlex
import shutil
import subprocess

RELEASE = "bookworm"
ADDED = "python3,python3-venv"


def trouble():
    """Why there can be no such system here; empty when there can."""
    if os.geteuid() != 0:
        return "it needs root"
    return "" if shutil.which("debootstrap") else "debootstrap is not installed"


def mirror():
    """Where this machine gets its own packages from."""
    asked = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)"], capture_output=True, text=True)
    for line in asked.stdout.splitlines():
        address, _, release = line.partition(" ")
        if release == RELEASE:
            return [address]
    return []


def make(folder):
    """Once; later runs use it again."""
    if not (folder / "usr/bin/python3").exists():
        shutil.rmtree(folder, ignore_errors=True)
        # What it mounts goes away with it.
        subprocess.run(["unshare", "--mount", "debootstrap", "--variant=minbase", f"--include={ADDED}", RELEASE, str(folder), *mirror()],
                       check=True, stdout=subprocess.DEVNULL)


def run(folder, command, check=True):
    """What `command`, a line of sh, prints in the system below `folder`."""
    root = shlex.quote(str(folder))
    outside = f"mount -t proc proc {root}/proc && exec chroot {root} /bin/sh -euc {shlex.quote(command)}"
    done = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-euc", outside], capture_output=True, text=True,
                          env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"})
    assert not check or done.returncode == 0, f"{command}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
