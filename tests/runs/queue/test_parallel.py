"""A map over several cores: results in order, errors raised, nobody left working."""

import threading
import time

import pytest
import torch

from playground.runs.queue.parallel import Helpers
from tests.thoroughness import every_case


@every_case("cores", [1, 2, 3])
@every_case("count", [0, 1, 2, 7])
def test_results_come_in_order(cores, count):
    with Helpers(2) as helpers:
        found = helpers.parallel_map(cores)(lambda n: (time.sleep(0.001 * (n % 3)), n * n)[1], range(count))
        assert list(found) == [n * n for n in range(count)]


def test_parts_are_worked_on_at_once_by_one_torch_thread_each():
    both = threading.Barrier(2)

    def work(_):
        both.wait(30)  # passes only when two are here
        return threading.get_ident(), torch.get_num_threads()

    with Helpers(1) as helpers:
        (one, threads), (other, others) = helpers.parallel_map(2)(work, range(2))
    assert one == threading.get_ident() != other
    assert threads == others == 1


def test_without_helpers_it_is_map():
    assert Helpers(0).parallel_map(4) is map
    with Helpers(1) as helpers:
        assert helpers.parallel_map(1) is map


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_error_is_raised_when_all_have_come_to_rest(wrong):
    finished = []

    def work(n):
        if n == wrong:
            raise ZeroDivisionError
        time.sleep(0.05)
        finished.append(n)

    with Helpers(1) as helpers:
        with pytest.raises(ZeroDivisionError):
            helpers.parallel_map(2)(work, range(2))
        assert finished == [1 - wrong]


def test_closing_leaves_no_thread():
    before = threading.active_count()
    with Helpers(2) as helpers:
        list(helpers.parallel_map(3)(lambda n: time.sleep(0.01), range(3)))
        assert threading.active_count() > before
    assert threading.active_count() == before
