"""The packages of an installation: ours, without the tests that lie beside some of their modules, and in them the runs that ship with the
app, which lie beside them in the repository."""

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py


class BuildWithoutTests(build_py):
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        return [module for module in super().find_package_modules(package, package_dir) if not module[1].startswith(("test_", "conftest"))]


setup(
    packages=[*find_namespace_packages(include=["playground", "playground.*"], exclude=["*.__pycache__"]), "playground.checkpoints"],
    package_dir={"playground.checkpoints": "checkpoints"},
    cmdclass={"build_py": BuildWithoutTests},
)
