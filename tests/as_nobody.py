"""Running a command as somebody who is not root: for root no file is unreadable and no folder is locked."""
import os
import shutil
import subprocess

from in_folders import Skip

NOBODY = 65534


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def for_nobody(binary, folder):
    """(the binary, what Popen needs as preexec_fn): as somebody without rights, or as we are when we are not root.

    A checkout may lie where only root looks, so the binary and the library beside it get names in `folder`, a new one that
    everyone can reach.
    """
    if os.getuid() != 0:
        return binary, None
    folder.mkdir()
    folder.chmod(0o755)
    for file in [binary, *binary.parent.glob("libduckdb*")]:
        target = folder / file.name
        try:
            os.link(file.resolve(), target)
        except OSError:  # another file system
            shutil.copy(file, target)
    reachable = folder / binary.name
    try:
        subprocess.run([reachable, "--version"], preexec_fn=become_nobody, capture_output=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Skip(f"nobody cannot run a program in {folder}: {error}") from error
    return reachable, become_nobody
