"""A Ray cluster, where Ray is installed."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def ray_cluster():
    """On this machine: a head without cores, and two nodes of one core. Skips where there is no Ray."""
    utils = pytest.importorskip("ray.cluster_utils", reason="there is no Ray: pip install -r requirements-ray.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]), prepend=os.pathsep)
        cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        yield cluster
        cluster.shutdown()
