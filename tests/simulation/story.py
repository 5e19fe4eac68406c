"""What happens to a simulated server, drawn from a seed, and what must hold after each of it."""

import gc
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from playground.config import Experiment, Refusal
from playground.runs import starter
from playground.runs.disk import files
from playground.runs.identity import new_id, owner_of, owns
from playground.runs.run import Run
from tests.runs.tiny import alone, curve, same_parameters, same_replay, tiny
from tests.simulation.world import Disk, Killed, World

VISITORS = ("the token of one", "the token of another")
EXPERIMENTS = tuple(tiny(steps=12, eval_every=4, seed=seed, optimiser=name) for seed, name in ((1, "adam"), (2, "muon"), (3, "adamw")))
DAY = 86_400.0
HUNG = ("runs.step_hung", "runs.preparing_hung")
TURNS = 400  # after which every run must have come to its end


@dataclass
class Known:
    """What a visitor was told of a run, and may rely on."""

    token: str
    experiment: Experiment | None  # None: a fork, whose curve is its own from where it began
    labels: set[str]  # the last that was acknowledged, and those that may have been written since
    saved: int = 0  # the step of the last save that was acknowledged
    damaged: int = -1  # the step of a save that was damaged: only a later one is worth anything
    may_be_gone: bool = False  # a deletion began and was not acknowledged


class Story:
    """One server over one folder. `tell` draws what happens; a broken invariant raises AssertionError with all that came before."""

    def __init__(self, folder: Path, seed: int) -> None:
        torch.set_num_threads(1)
        self.random, self.seed, self.disk = random.Random(seed), seed, Disk()
        self.log: list[str] = []
        self._ids = 0
        self.known: dict[str, Known] = {}
        self.threads = set(threading.enumerate())
        starter.new_id = self._new_id  # ids decide an order here and there
        with self.disk:
            self.world = World(folder, self.disk, processes=self.random.choice((0, 1, 2)))
        self.rules: dict[Callable[[], str | None], int] = {
            self.create: 6, self._order("pause"): 4, self._order("stop"): 2, self._order("resume"): 6, self._order("step_once"): 2,
            self.fork: 1, self.copy: 1, self.delete: 1, self.rename: 2, self.look: 4, self.trespass: 2, self.turns: 20, self.round: 4,
            self.pass_time: 2, self.set_clock: 1,
            self.kill: 2, self.kill_in_a_while: 3, self.restart: 1, self.damage: 3, self.fill_disk: 2, self.lose_process: 2, self.hang: 1,
        }  # fmt: skip

    def tell(self, rules: int) -> None:
        """So many things happen, and then everything is given time to come to its end."""
        with self.disk:
            try:
                for _ in range(rules):
                    self._happen(self.random.choices(list(self.rules), list(self.rules.values()))[0])
                    self.check()
                self.finish()
            except AssertionError as error:
                raise AssertionError(f"{error}\nseed {self.seed}:\n  " + "\n  ".join(self.log)) from error
            finally:
                starter.new_id = new_id
                self.disk.heal()
                self.world.end(killed=True)

    def _happen(self, rule: Callable[[], str | None]) -> None:
        self.log.append(rule.__name__)
        try:
            detail = rule()
        except Refusal as refusal:
            detail = f"refused: {refusal.key}"
        except Killed:
            detail = "killed"
        if self.disk.dead:
            detail = f"{detail or ''}, and the process ended"
            self._start_again(killed=True)
        self.log[-1] += f" {detail or ''}"

    # what a visitor does

    def create(self) -> str:
        token, experiment = self.random.choice(VISITORS), self.random.choice(EXPERIMENTS)
        run = self.runs.create(experiment, token, label=(label := self._label()))
        self.known[run.id] = Known(token, experiment, {label})
        return run.id

    def _order(self, name: str) -> Callable[[], str]:
        def order() -> str:
            id, known = self._draw()
            getattr(self.runs, name)(id, known.token)
            return id

        order.__name__ = name
        return order

    def fork(self, forks: bool = True) -> str:
        id, known = self._draw()
        run = self.runs.fork(id, None, known.token) if forks else self.runs.copy(id, known.token)
        self.known[run.id] = Known(known.token, None if forks else known.experiment, {run.label}, run.step)
        return f"{id} -> {run.id}"

    def copy(self) -> str:
        return self.fork(forks=False)

    def delete(self) -> str:
        id, known = self._draw()
        known.may_be_gone = True
        self.runs.delete(id, known.token)
        del self.known[id]
        return id

    def rename(self) -> str:
        id, known = self._draw()
        known.labels.add(label := self._label())
        self.runs.rename(id, known.token, label)
        known.labels = {label}
        return id

    def look(self) -> str:
        id, known = self._draw()
        self.runs.mark_seen(id, known.token)
        self.runs.update(self.runs.get(id))
        return id

    def trespass(self) -> str:
        id, known = self._draw()
        other = next(token for token in VISITORS if token != known.token)
        run = self.runs.get(id)
        before = self._state(run)
        for name, *values in (("pause",), ("stop",), ("resume",), ("step_once",), ("delete",), ("rename", "mine")):
            try:
                getattr(self.runs, name)(id, other, *values)
            except Refusal:
                continue
            raise AssertionError(f"{name} of another's run was not refused")
        assert self._state(run) == before, "another visitor changed a run"
        return id

    # what the machine does

    def turns(self) -> None:
        for _ in range(self.random.randint(1, 6)):
            self.world.turn()

    def round(self) -> None:
        self.world.round()

    def pass_time(self) -> str:
        seconds = self.random.choice((1.0, 60.0, 900.0))
        self.world.clock.passed += seconds
        return f"{seconds:.0f} s"

    def set_clock(self) -> str:
        days = self.random.choice((-30, -1, 1, 30))
        self.world.clock.offset += days * DAY
        return f"by {days} days"

    def kill(self) -> None:
        self._start_again(killed=True)

    def restart(self) -> None:
        self._start_again(killed=False)

    def kill_in_a_while(self) -> str:
        self.disk.kill_in = self.random.randint(0, 40)
        return f"in {self.disk.kill_in} operations"

    def fill_disk(self) -> str:
        self.disk.refusals = self.random.randint(1, 8)
        return f"for {self.disk.refusals} writes"

    def lose_process(self) -> str:
        return self._plan("dies_in")

    def hang(self) -> str:
        return self._plan("hangs_in")

    def _plan(self, what: str) -> str:
        if not self.world.processes:
            return "there is none"
        process = self.random.choice(self.world.processes)
        setattr(process, what, self.random.randint(0, 6))
        return f"in {getattr(process, what)} questions"

    def damage(self) -> str:
        """One file of a newest save is torn or flipped, where a whole save is beside it."""
        folders = [self.runs.store.root / id for id in self.known]
        folders = [folder for folder in folders if is_whole(folder) and is_whole(files.sibling_paths(folder).old)]
        if not folders:
            return "there is no save with another beside it"
        folder = self.random.choice(folders)
        path = self.random.choice(sorted(folder.iterdir()))
        data = bytearray(path.read_bytes())
        if self.random.random() < 0.5:
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        else:
            del data[self.random.randrange(len(data)) :]
        path.unlink()  # a linked file is not the one beside it
        path.write_bytes(data)
        known = self.known[folder.name]
        known.saved, known.damaged = card(files.sibling_paths(folder).old)["step"], self.runs.get(folder.name).checkpoint_step or 0
        known.labels.add(card(files.sibling_paths(folder).old)["label"])
        return f"{folder.name}/{path.name}"

    def _start_again(self, killed: bool) -> None:
        was_dead = self.disk.dead
        if killed:
            self.disk.heal()
        self.world.end(killed)
        if self.disk.dead and not was_dead:  # killed while it went away in order
            self.disk.heal()
            self.world.end(killed=True)
        self.disk.heal()
        self.world.start()
        for run in self.runs.list_unshipped():
            if run.id not in self.known:  # made just before the end, and not acknowledged
                token = next(token for token in VISITORS if owns(run.owner, token))
                experiment = run.experiment if run.parent is None else None
                self.known[run.id] = Known(token, experiment, {run.label})
        for id in [id for id, known in self.known.items() if known.may_be_gone and self.runs.find(id) is None]:
            del self.known[id]

    # what must hold

    def check(self) -> None:
        runs = {run.id: run for run in self.runs.list_unshipped()}
        assert not self.runs.store.unreadable, f"can't be read: {self.runs.store.unreadable}"
        for id, known in self.known.items():
            run = runs.get(id)
            if run is None:
                assert known.may_be_gone, f"{id} is lost"
                continue
            assert owns(run.owner, known.token), f"{id} is another's"
            assert run.label in known.labels, f"{id} is called {run.label!r}, and not {known.labels}"
            is_put_back = run.message and run.message.key in HUNG and self.world.is_busy  # by a thread that has not had its time yet
            if run.status in ("failed", "diverged") and not (is_put_back or known.may_be_gone):
                raise AssertionError(f"{id} {run.status}: {run.message and (run.message.key, run.message.values)}")
            if not run.working:
                assert run.step >= known.saved, f"{id} is back at step {run.step} from {known.saved}"
            if run.status == "paused" and run.checkpoint_step == run.step > known.damaged and not self.disk.refusals:
                known.saved = max(known.saved, run.step)
            self._check_curve(run, known)
        for token in VISITORS:
            ids = {run.id for run in self.runs.list_owned(token)}
            assert ids <= {id for id, known in self.known.items() if known.token == token}, "a visitor has a run of another's"
        assert set(threading.enumerate()) <= self.threads, "a thread was left"  # one of an earlier test may end meanwhile

    def _check_curve(self, run: Run, known: Known) -> None:
        if known.experiment is not None and "history" in run.parts:
            twin, _ = alone(known.experiment)
            rows = list(zip(*curve(run), strict=True))
            assert rows == list(zip(*curve(twin), strict=True))[: len(rows)], f"{run.id} is not the run it would have been"

    def finish(self) -> None:
        self.disk.heal()
        for process in self.world.processes:
            process.dies_in = process.hangs_in = None
        self.log.append("finish")
        self.world.round()
        for token in VISITORS:
            for _ in range(TURNS):
                ready = sorted((run for run in self.runs.list_owned(token) if run.resumable), key=lambda run: not run.unfinished)
                for run in ready[:2]:
                    with suppress(Refusal):  # of others there may be too many, until they have come to their end
                        self.runs.resume(run.id, token)
                if not ready and not any(run.working for run in self.runs.list_owned(token)):
                    break
                for _ in range(10):
                    if not self.world.turn():
                        self.world.round()
                for run in self.runs.list_owned(token):
                    run.mark_seen()
        self.check()
        for run in self.runs.list_unshipped():
            known = self.known[run.id]
            assert run.status == "done" or known.may_be_gone, f"{run.id} does not come to its end: {run.status} at step {run.step}"
            if known.experiment is not None and run.status == "done":
                twin, _ = alone(known.experiment)
                assert curve(run) == curve(twin), f"the curve of {run.id}"
                assert same_parameters(run.snapshot.parameters, twin.snapshot.parameters), f"the weights of {run.id}"
                assert same_replay(run, twin), f"the replay of {run.id}"
        self._start_again(killed=False)
        self.check()
        self._check_resources()

    def _check_resources(self) -> None:
        """Deleted, runs leave nothing: no memory, no open file, no folder."""
        for id, known in list(self.known.items()):
            self.runs.delete(id, known.token)
        assert self.world.scheduler.count() | {"alive": 0} == {"training": 0, "waiting": 0, "alive": 0, "replaced": 0, "lost": 0}
        assert (self.world.scheduler.reserved, list(self.runs.store.root.iterdir())) == (0, [])
        gc.collect()
        assert open_files(self.runs.store.root) == 0

    # drawing

    @property
    def runs(self):
        return self.world.runs

    def _draw(self) -> tuple[str, Known]:
        there = [(id, known) for id, known in self.known.items() if self.runs.find(id)]
        if not there:
            raise Refusal("runs.unknown")
        return self.random.choice(there)

    def _new_id(self) -> str:
        self._ids += 1
        return f"run-{self.random.randrange(10**6):06}-number-{self._ids:04}"

    def _label(self) -> str:
        return f"label {self.random.randrange(1000)}"

    def _state(self, run: Run) -> tuple:
        return run.status, run.label, run.owner == owner_of(self.known[run.id].token), run.id in {r.id for r in self.runs.list_unshipped()}


def card(folder: Path) -> dict:
    return files.parse_json((folder / "run.json").read_bytes(), "run.json")


def is_whole(folder: Path) -> bool:
    """Whether every file of a save is there as its run.json says."""
    try:
        entries = card(folder)["files"]
        return all(files.digest((folder / name).read_bytes()) == entry.get("sha256") for name, entry in entries.items())
    except (OSError, Refusal):
        return False


def open_files(folder: Path) -> int:
    """File descriptors of this process that lead below a folder."""
    count = 0
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):  # closed meanwhile
            count += link.exists() and folder in link.readlink().parents
    return count
