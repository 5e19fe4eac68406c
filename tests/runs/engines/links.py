"""Ways to a host that the tests share: one in this process, one that dies, and processes."""

import multiprocessing
import pickle
import random
from contextlib import contextmanager
from types import SimpleNamespace

from playground.runs.engines import Lost
from playground.runs.engines.children import Child
from playground.runs.engines.choice import PRELOADED
from playground.runs.engines.host import Host
from tests.runs.tiny import CORPORA


class Near:
    """A link to a host in this process; everything goes through pickle, as on the way to another."""

    node, up, where = None, True, {}

    def __init__(self, corpora=None):
        self.host = Host()
        self.host._corpora = corpora or self.host._corpora

    def ask(self, *asked):
        return pickle.loads(pickle.dumps(self.host.answer(*pickle.loads(pickle.dumps(asked)))))

    def close(self):
        self.host = Host()


class Dying(Near):
    """One whose host dies now and then, before it has done what was asked, or when it has and before it says so."""

    def __init__(self, seed, often=(15, 30)):
        super().__init__()
        self.random, self.often, self.deaths = random.Random(seed), often, 0
        self.left = self.random.randint(*often)  # calls

    def ask(self, *asked):
        self.left -= 1
        if self.left:
            return super().ask(*asked)
        if self.random.random() < 0.5:
            self.host.answer(*asked)
        self.host, self.left, self.deaths = Host(), self.random.randint(*self.often), self.deaths + 1
        raise Lost(guilty=True)


class Machines:
    """A driver of a cluster whose machines are in this process: each has one host."""

    def __init__(self, *names):
        self.alive, self.hosts, self.coming = list(names), {}, []

    def offer(self):
        return SimpleNamespace(gpus=False, count=len(self.alive), memory=dict.fromkeys(self.alive, 2**30))

    def begin(self, number):
        self.coming.append(number)

    def take_arrivals(self, seconds):
        free, came = [name for name in self.alive if name not in {name for name, _ in self.hosts.values()}], {}
        while free and self.coming:
            number, name = self.coming.pop(), free.pop()
            self.hosts[number] = name, Near(CORPORA)
            came[number] = SimpleNamespace(machine=name, address=f"10.0.0.{name}", gpu=None)
        return came

    def ask(self, number, question, seconds, machine):
        if number not in self.hosts:
            raise Lost(guilty=False)
        return self.hosts[number][1].ask(*question)

    def end(self, number):
        self.hosts.pop(number, None)

    def lose(self, machine):
        self.alive.remove(machine)
        self.hosts = {number: (name, host) for number, (name, host) in self.hosts.items() if name != machine}

    def close(self):
        self.hosts = {}


@contextmanager
def processes(count):
    """So many, ready."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    children = [Child(number, context, 120.0) for number in range(count)]
    try:
        for child in children:
            child.start()
        yield children
    finally:
        for child in children:
            child.close()
