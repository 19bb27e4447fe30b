"""A real SLURM array on one node (Debian's slurm-wlm and munge, started here with a configuration of their own)."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_work import ATTACK, clean, contents, folder, here  # noqa: F401 - a fixture

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "munged"))) or os.geteuid() != 0,
        reason="SLURM is not installed here, or cannot be started",
    ),
]
CONFIGURATION = """
ClusterName=unmask
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.sock
MpiDefault=none
ProctrackType=proctrack/pgid
ReturnToService=2
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldPort={first}
SlurmdPort={second}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
JOB = """#!/bin/bash
cd {folder}
{program} work slurm --shard $SLURM_ARRAY_TASK_ID/4 --workers 1 --quiet
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture
def slurm(tmp_path):
    """The environment of commands that talk to this cluster."""
    place = tmp_path / "slurm"
    (place / "state").mkdir(parents=True)
    (place / "spool").mkdir()
    key = place / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    first, second = free_ports(2)
    text = CONFIGURATION.format(host=socket.gethostname().split(".")[0], place=place, first=first, second=second)
    (place / "slurm.conf").write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(place / "slurm.conf"), "PYTHONPATH": os.pathsep.join(sys.path)}
    munge = [f"--{name}-file={place}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    subprocess.run(["munged", "--force", f"--socket={place}/munge.sock", *munge], check=True)
    try:
        for daemon in ("slurmctld", "slurmd"):
            subprocess.run([daemon], env=environment, check=True)
        yield environment
    finally:
        for name in ("slurmd", "slurmctld", "munge"):
            stop(place / f"{name}.pid")


def stop(path):
    if path.exists():
        process = int(path.read_text())
        os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + 20
        while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
            time.sleep(0.1)


def test_an_array_gives_the_bytes_of_one_process(folder, slurm, tmp_path):  # noqa: F811
    here(*ATTACK, "--out", "slurm", "--prepare", folder=folder)
    job = tmp_path / "job.sh"
    job.write_text(JOB.format(folder=folder, program=Path(sys.executable).with_name("unmask")))
    array = ["sbatch", "--wait", "--array=0-3", f"--output={tmp_path}/%a.txt", str(job)]
    subprocess.run(array, env=slurm, cwd=tmp_path, check=True, timeout=300)
    assert clean(folder / "slurm")
    before = sorted(path.stat().st_mtime_ns for path in (folder / "slurm" / "draws").glob("*.npz"))
    here(*ATTACK, "--workers", 1, "--out", "slurm", folder=folder)
    assert sorted(path.stat().st_mtime_ns for path in (folder / "slurm" / "draws").glob("*.npz")) == before
    assert contents(folder / "slurm") == contents(folder / "alone")
