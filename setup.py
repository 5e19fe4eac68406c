"""The packages of an installation: ours, and in them the runs that ship with the app, which lie beside them in the repository."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["playground", "playground.*"]), "playground.checkpoints"],
    package_dir={"playground.checkpoints": "checkpoints"},
)
