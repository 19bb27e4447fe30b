"""Every audit that draws, on a real dask cluster: the bytes of the local run."""

import pytest

from tests.cli.test_work import ATTACK, COMPARE, EPSILON, EVERYONE, RECONSTRUCT, contents, folder, here  # noqa: F401 - a fixture
from tests.dask_cluster import a_cluster

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with a_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.mark.parametrize("plan", [ATTACK, EVERYONE, EPSILON, COMPARE, RECONSTRUCT], ids=lambda plan: plan[0])
def test_a_cluster_gives_the_bytes_of_one_process(folder, cluster, plan):  # noqa: F811
    name, alone = plan[0], "alone" if plan is ATTACK else f"{plan[0]}-here"
    if plan is not ATTACK:
        here(*plan, "--workers", 1, "--out", alone, folder=folder)
    here(*plan, "--cluster", cluster.address, "--out", f"{name}-dask", folder=folder)
    assert contents(folder / f"{name}-dask") == contents(folder / alone)


def test_the_address_may_come_from_the_configuration_of_dask(folder, cluster):  # noqa: F811
    import dask

    with dask.config.set({"scheduler-address": cluster.address}):
        here(*EPSILON, "--cluster", "dask", "--out", "configured", folder=folder)
    assert contents(folder / "configured") == contents(folder / "epsilon-dask")
    with dask.config.set({"scheduler-address": None}):
        said = here(*EPSILON, "--cluster", "dask", "--out", "nowhere", folder=folder, code=2)
    assert "DASK_SCHEDULER_ADDRESS" in said
