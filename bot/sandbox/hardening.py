"""How a container is closed: what code in it may use, and that it gets nothing else."""

from __future__ import annotations

from typing import Any

from bot.sandbox import Limits

USER = "1000:1000"
HOME = "/testforge"
"""The one place that code may write to besides `/tmp`; it lies in memory and is as large as `Limits.disk` says."""

TEMPORARY = 256 * 1024**2
SHARED_MEMORY = 64 * 1024**2
MOST_ENTRIES = 400_000
OPEN_FILES = 4096
OWN_PROCESSES = 8
"""What the warden needs beside the processes of commands."""

GVISOR = "runsc"
GVISOR_PROCESSES = 256
"""What gVisor itself takes of the limit: its threads are counted with those of the code."""


def user(runtime: str | None) -> str:
    """Return the user that the warden runs as.

    The code never is another one than 1000. Under gVisor the warden is root, with the rights to change the user, to end
    processes, and to give up these rights: there a process can open the files of another one of its user, and can kill
    it even if that is the first one of its container.
    """
    return "0:0" if runtime == GVISOR else USER


def host_settings(
    limits: Limits, *, cpus: float, network: str = "none", runtime: str | None = None
) -> dict[str, Any]:
    """Return the arguments of `create_host_config` for a container that runs a repository's code.

    Docker's defaults stay where they are strict: the seccomp profile, the hidden parts of `/proc` and `/sys`, and
    namespaces of its own for processes, mounts, host name and shared memory. No directory of the host is mounted.

    Args:
        cpus: How many cores it may keep busy.
        network: `none`, but for an installation.
        runtime: Such as `runsc`; None is the engine's own choice.
    """
    memory = limits.memory + limits.disk + TEMPORARY + SHARED_MEMORY
    return {
        "network_mode": network,
        "read_only": True,
        "tmpfs": {
            HOME: f"rw,exec,nosuid,nodev,size={limits.disk},nr_inodes={MOST_ENTRIES},mode=0755,uid=1000,gid=1000",
            "/tmp": f"rw,exec,nosuid,nodev,size={TEMPORARY},nr_inodes={MOST_ENTRIES},mode=1777",
        },
        "shm_size": SHARED_MEMORY,
        **_without_rights(),
        **({"runtime": runtime} if runtime is not None else {}),
        **({"cap_add": ["SETUID", "SETGID", "SETPCAP", "KILL"]} if runtime == GVISOR else {}),
        "mem_limit": memory,
        # Memory and swap together: as much as the memory alone, so no swap.
        "memswap_limit": memory,
        "pids_limit": limits.processes + (GVISOR_PROCESSES if runtime == GVISOR else OWN_PROCESSES),
        "nano_cpus": int(cpus * 1e9),
        "log_config": {"type": "none"},
        "auto_remove": True,
    }


def installation_settings(limits: Limits, *, cpus: float, network: str) -> dict[str, Any]:
    """Return the arguments of `create_host_config` for a container that installs: it can write to its own image layer."""
    settings = host_settings(limits, cpus=cpus, network=network)
    return {
        **settings,
        "read_only": False,
        "tmpfs": {path: options for path, options in settings["tmpfs"].items() if path == HOME},
        "auto_remove": False,
    }


def _without_rights() -> dict[str, Any]:
    from docker.types import Ulimit

    return {
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "privileged": False,
        "ipc_mode": "private",
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
        ],
    }
