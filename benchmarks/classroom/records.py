"""Records of a class: how long each thing took, the errors, and the secrets that another person heard."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from benchmarks.tables import percentile

MARK = "zq"  # how every canary begins; no sentence that is drawn for a task in these benchmarks holds it by chance in a run's examples
CANARY = re.compile(rb"zq(?:name|token|words)[a-z]{10}")


class Canaries(NamedTuple):
    """The secrets of a person: their name, their token, and the words they typed."""

    name: str
    token: str
    words: str

    @classmethod
    def of(cls, person: int, drawn: str) -> Canaries:
        """`drawn`: eight letters of this run of the benchmark; two more say whose they are."""
        letters = drawn + "".join(chr(ord("a") + digit) for digit in divmod(person, 26))
        return cls(*(f"{MARK}{kind}{letters}" for kind in cls._fields))


class Records:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: dict[str, list[float]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self.leaks: Counter[str] = Counter()
        self.bytes = 0

    def took(self, kind: str, seconds: float) -> None:
        with self._lock:
            self._times[kind].append(seconds)

    def failed(self, kind: str, why: str) -> None:
        with self._lock:
            self.errors[f"{kind}: {why}"] += 1

    def heard(self, body: bytes, allowed: Iterable[str]) -> None:
        """Records the bytes sent to a person who may know the canaries `allowed`."""
        matches = {match.decode() for match in CANARY.findall(body)} - set(allowed)
        with self._lock:
            self.bytes += len(body)
            for canary in matches:
                self.leaks[re.match(f"{MARK}(name|token|words)", canary)[1]] += 1

    def times(self) -> dict[str, Mapping[str, float]]:
        """{kind: {"count", "median", "p95", "p99"}} in seconds."""
        shares = {"median": 0.5, "p95": 0.95, "p99": 0.99}
        with self._lock:
            return {
                kind: {"count": len(times)} | {name: percentile(times, share) for name, share in shares.items()}
                for kind, times in self._times.items()
            }
