"""Servers and readers that are closed after each test, whatever happened in it; and a Ray cluster, where Ray is installed."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from playground.features.shared.queries.reader import Reader
from playground.runs.disk.store import Store
from playground.runs.registry import Runs
from tests.runs.tiny import CORPORA, LIMITS
from tests.simulation import world as simulation
from tests.simulation.world import Disk, World


@pytest.fixture
def serve(tmp_path):
    """serve(limits=..., folder=...) -> Runs over a folder of this test's own, without shipped runs."""
    opened = []

    def start(limits=LIMITS, folder=None, shipped=None):
        runs = Runs(folder or tmp_path / "data", shipped, limits)
        runs.corpora._caches = CORPORA._caches
        opened.append(runs)
        return runs

    yield start
    for runs in opened:
        runs.close()


@pytest.fixture
def world(tmp_path):
    """A server without threads: a test gives its turns and moves its clock."""
    made = World(tmp_path / "data", Disk(), limits=replace(simulation.LIMITS, save_seconds=1e9))
    yield made
    made.end(killed=True)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def reader():
    opened = Reader(SimpleNamespace(corpora=CORPORA))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ray_cluster():
    """On this machine: a head without cores, and two nodes of one core. Skips where there is no Ray."""
    utils = pytest.importorskip("ray.cluster_utils", reason="there is no Ray: pip install -r requirements-ray.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
        cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        yield cluster
        cluster.shutdown()
