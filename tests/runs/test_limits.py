import math

from playground.readme import README
from playground.runs import limits
from playground.runs.limits import Limits, free_memory, machine_cores


def test_the_environment_decides(monkeypatch):
    values = {"CORES": "3", "MEMORY": "1e9", "IDLE_MINUTES": "0.5", "DEVICE": "cpu", "ENGINE": "elsewhere"}
    for name, value in values.items():
        monkeypatch.setenv(f"PLAYGROUND_{name}", value)
    for number, name in enumerate(limits.COUNTS, start=1):
        monkeypatch.setenv(f"PLAYGROUND_{name.upper()}", str(number))
    one = Limits.from_environment()
    assert (one.cores, one.memory, one.idle_seconds, one.devices, one.engine) == (3, 10**9, 30.0, ("cpu",), "auto")
    assert [getattr(one, name) for name in limits.COUNTS] == list(range(1, len(limits.COUNTS) + 1))
    assert all(type(getattr(one, name)) is type(getattr(Limits, name)) for name in limits.COUNTS)
    monkeypatch.delenv("PLAYGROUND_ENGINE")
    assert Limits.from_environment().engine == "auto", "a server trains beside the page"


def test_the_readme_says_every_setting_and_what_it_is_by_itself():
    said = README.read_text(encoding="utf-8")
    for name in limits.COUNTS:
        assert f"| `PLAYGROUND_{name.upper()}` | {getattr(Limits, name):,} |".replace(".0", "") in said, name


def test_what_is_no_number_is_passed_over_and_only_what_lasts_may_never_end(monkeypatch):
    for value in ("", "many", "nan", "inf", "-1", "0"):
        monkeypatch.setenv("PLAYGROUND_RUNS_EACH", value)
        assert Limits.from_environment().runs_each == Limits.runs_each
    for name in ("UNSEEN_DAYS", "SHARED_DAYS", "RUNS_KEPT", "REQUEST_SECONDS"):
        monkeypatch.setenv(f"PLAYGROUND_{name}", "never")
    one = Limits.from_environment()
    assert (one.unseen_days, one.shared_days) == (math.inf, math.inf)
    assert (one.runs_kept, one.request_seconds) == (Limits.runs_kept, Limits.request_seconds)


def test_a_container_gets_its_share(monkeypatch):
    said = {"/sys/fs/cgroup/cpu.max": "100000 100000\n", "/sys/fs/cgroup/memory.max": "5000\n", "/sys/fs/cgroup/memory.current": "2000\n"}
    monkeypatch.setattr(limits, "_read", lambda path: said.get(path, "MemAvailable:   1000 kB\n"))
    assert machine_cores() == 1
    assert free_memory() == 3000
    said |= {"/sys/fs/cgroup/cpu.max": "max 100000\n", "/sys/fs/cgroup/memory.max": "max\n"}
    assert machine_cores() >= 1
    assert free_memory() == 1000 * 1024
    monkeypatch.setattr(limits, "_read", lambda path: "")
    assert free_memory() == 4 * limits.GB
