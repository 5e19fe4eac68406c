"""Ways to a host that the tests share: one in this process, one that dies, and processes."""

import multiprocessing
import pickle
import random
from contextlib import contextmanager

from playground.runs.engines.children import Child
from playground.runs.engines.choice import PRELOADED
from playground.runs.engines.host import Host
from playground.runs.engines.trainer import Lost


class Near:
    """A link to a host in this process; everything goes through pickle, as on the way to another."""

    def __init__(self):
        self.host = Host()

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
