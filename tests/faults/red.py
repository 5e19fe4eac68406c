"""What each test of the table of faults is for: taken out of the code, it fails. `python -m tests.faults --red` takes it out of a copy of
the tree, one after the other, and says which tests have seen that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COPIED = ("playground", "tests", "benchmarks", "app.py", "pyproject.toml", "package.json", "tsconfig.json", "eslint.config.js")
LINKED = ("checkpoints", "node_modules")  # nobody changes these
SECONDS = 600  # after which a test that waits for what never comes has seen it too


class Break(NamedTuple):
    """`without` says what is gone once `old`, which stands in the file once, is `new`."""

    without: str
    file: str
    old: str
    new: str


def _in(folder: str, *breaks: tuple[str, str, str, str, str]) -> dict[str, Break]:
    return {test: Break(without, f"playground/{folder}/{file}", old, new) for test, without, file, old, new in breaks}


NOBODY_IS_BACK = "whoever comes back is noticed", "cut_off.py", "        if id in self._left:\n", "        if False:\n"
CUT = "        else:\n            self.transport.abort()"
LATE_IS_LATE = "a line that is late is cut", "connections.py", CUT, "        else:\n            pass"
ENDS_WAIT = "an end waits for space", "queue/saving.py", "self.store.save_later(self.run, contents, rest)", "pass"
COMES_BACK = "a run outlives its process", "queue/jobs.py", "return not self._given_up and self._fall_back(lost)", "return False"
MAY_RAISE = "a turn may raise anything", "queue/jobs.py", "BaseException as error:  # whoever", "KeyError as error:  # whoever"
JUMP_LASTS = "a jump must last to count", "steady_clock.py", "elif even - self._jump[0] >= LASTING_SECONDS:", "elif True:"

RED: dict[str, Break] = {
    **_in(
        "runs",
        ("test_a_lesson_of_six_survives_a_kill_and_keeps_everybodys_secrets", *NOBODY_IS_BACK),
        ("test_a_run_goes_on_by_itself_on_a_page_that_stayed_open", *NOBODY_IS_BACK),
        ("test_whoever_looks_finds_it_going_on_and_it_becomes_what_it_would_have_become", *NOBODY_IS_BACK),
        ("test_what_a_person_paused_or_stopped_stays_as_it_is", "only what was cut off goes on", "cut_off.py",
         'return run.status == "interrupted" and not run.shipped and run.message and run.message.key in GOES_ON', "return not run.shipped"),
        ("test_without_a_place_it_waits_until_there_is_one", "a refusal is tried again", "cut_off.py",
         "if refusal.key not in NEVER:", "if False:"),
        ("test_a_run_that_brings_the_server_down_does_not_do_so_for_ever", "the tries are counted", "cut_off.py",
         '"runs.cut_off_often" if tries >= most else ', ""),
        ("test_twenty_five_visitors_with_six_paused_runs_each_block_nobody", "those unseen for longest go first", "admission.py",
         "key=lambda run: run.seen_at)[:lacking]", "key=lambda run: -run.seen_at)[:lacking]"),
        ("test_new_tokens_at_one_address_get_no_more_than_its_share", "an address is asked about", "admission.py",
         "if near and near + more > most:", "if False:"),
        ("test_where_the_teacher_looks_outlives_the_server", "what waits for a round is written at the end", "housekeeping.py",
         "        _do(*self._others)\n\n", "\n"),
        ("test_a_room_stays_open_as_long_as_it_was_to_be_and_codes_can_be_tried_no_sooner", *JUMP_LASTS),
        ("test_a_run_trains_on_and_none_is_deleted", *JUMP_LASTS),
        ("test_what_nobody_has_asked_for_longest_goes_whichever_share_it_is_in", "the oldest of all shares goes", "memory.py",
         "share = min((share for mine", "share = max((share for mine"),
        ("test_what_a_run_at_rest_has_in_memory_goes_when_nobody_looks", "runs at rest are a share of the memory", "housekeeping.py",
         'memory.add("runs", self._loaded)', "pass"),
    ),
    **_in(
        "runs/disk",
        ("test_wherever_the_space_ends_the_old_folder_stands_and_nothing_is_left_over", "what is half written is deleted", "files.py",
         "        shutil.rmtree(new, ignore_errors=True)\n        raise", "        raise"),
        ("test_killed_the_run_is_what_it_would_have_been", "the save before comes back to its place", "files.py",
         "        gone.rename(old)", "        pass"),
        ("test_a_delete_that_is_cut_brings_no_save_of_before_back", "the folder itself goes last", "files.py",
         "for folder in (old, damaged, new, gone):", "for folder in (path, old, damaged, new, gone):"),
        ("test_after_a_restart_it_is_what_the_disk_has", "the disk is told that the end is missing", "store.py",
         "self.note(run, *saves.PROGRESS, rest=(", "dict(rest=("),
        ("test_the_second_server_ends_with_one_sentence", "a folder that is locked is refused", "store.py",
         'raise Refusal("runs.folder_in_use", folder=str(folder)) from error', "return None"),
        ("test_a_run_with_a_save_before_is_shown_as_it_was_then", "a read goes back to the save before", "kept.py",
         "if not saves.is_damage(refusal) or not self._step_back(run, refusal):", "if True:"),
        ("test_the_save_before_is_used_when_the_newest_is_damaged", "a start goes back to the save before", "kept.py",
         "            folder = saves.step_back(path)\n", "            folder = None\n"),
        ("test_a_run_of_a_later_version_is_left_exactly_as_it_is", "versions are looked at first", "kept.py",
         "        saves.check_versions(path)\n", ""),
        ("test_when_both_are_damaged_nothing_is_thrown_away", "the save before is read before it is used", "saves.py",
         "    if not is_whole(before):\n        return None\n", ""),
        ("test_a_pickle_is_not_opened_under_any_name", "nothing but JSON and safetensors is read", "files.py",
         '    try:\n        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)',
         "    try:\n        import pickle\n\n        return pickle.loads(data)"),
        ("test_an_absurd_config_is_refused_before_a_model_is_made", "the size is counted before anything is built", "parameters.py",
         "if numbers != parameter_count(model, src_vocab, tgt_vocab) + variant_of(model).extra_parameters(model):", "if False:"),
    ),
    **_in(
        "runs",
        ("test_a_run_that_ends_on_a_full_disk_says_that_it_is_not_there_and_is_written_later", *ENDS_WAIT),
        ("test_a_real_full_disk", *ENDS_WAIT),
        ("test_what_an_owner_changes_on_a_full_disk_is_a_sentence", "an error of the disk becomes a sentence", "registry.py",
         '            raise Refusal("runs.change_not_saved") from error', "            raise"),
        ("test_a_run_whose_only_save_is_damaged_says_so_on_every_route", "a stream tells what can't be read", "updates.py",
         "    except Refusal as refusal:  # damaged", "    except KeyError as refusal:  # damaged"),
        ("test_a_run_that_diverges_says_so_and_keeps_the_last_good_step", "a run that diverged is finished", "queue/jobs.py",
         'status in ("done", "stopped", "diverged")', 'status in ("done", "stopped")'),
        ("test_an_exception_in_the_model_fails_one_run_only", *MAY_RAISE),
        ("test_an_exception_while_it_ends_still_ends_it", *MAY_RAISE),
        ("test_nobody_looks", "a run that nobody looks at is stopped", "queue/jobs.py",
         "if run.unseen_seconds > self.limits.idle_seconds:", "if False:"),
        ("test_closed_while_it_is_warmed_up_the_interpreter_is_not_aborted", "the interpreter waits for the warm-up", "queue/warmup.py",
         "        waited_for.submit(lambda: (warm_up(device), measured(device))).result()", "        warm_up(device), measured(device)"),
        ("test_who_hangs_takes_no_place_from_those_who_ask_later", "readers that hang are replaced", "queue/parallel.py",
         "            self._replace(HUNG * seconds)\n", ""),
        ("test_a_warm_up_that_fails_is_logged_and_the_worker_goes_on", "a warm-up may raise anything", "queue/scheduler.py",
         "except BaseException:  # whoever trains", "except KeyError:  # whoever trains"),
        ("test_a_worker_outlives_an_error_in_its_own_bookkeeping", "bookkeeping may raise anything", "queue/scheduler.py",
         "            except BaseException:\n                log.exception(\"a turn could",
         "            except ZeroDivisionError:\n                log.exception(\"a turn could"),
        ("test_a_step_that_hangs_on_every_worker_is_given_up_and_all_others_go_on", "a turn that is overdue is found", "queue/watchdog.py",
         "lambda turn: self._is_overdue(turn, now)", "lambda turn: False"),
        ("test_a_server_with_a_hung_step_can_be_closed", "a turn is waited for only so long", "queue/workers.py",
         "scheduler.close(max(0.0, until - self._runtime.monotonic()))", "scheduler.close()"),
        ("test_a_dead_worker_is_replaced_and_every_job_gets_its_turns", "a worker that died is replaced", "queue/scheduler.py",
         "                    self._threads[number] = self._started(number)\n", ""),
        ("test_a_training_waits_for_memory_that_something_else_has_taken", "what is measured counts too", "queue/scheduler.py",
         "return job.bytes + self.reserved + self._unaccounted() <= self.memory", "return job.bytes + self.reserved <= self.memory"),
        ("test_whenever_its_process_dies_a_run_is_its_solitary_twin", *COMES_BACK),
        ("test_killed_or_stuck_a_process_is_replaced_and_its_runs_go_on", *COMES_BACK),
        ("test_with_its_node_a_run_loses_no_more_than_it_did_since_its_last_save", *COMES_BACK),
        ("test_a_run_that_ends_every_process_ends_with_a_sentence", "the processes that it cost are counted", "queue/jobs.py",
         "if self._losses[self.run.step] > MAX_LOSSES:", "if False:"),
        ("test_where_there_is_no_memory_left_a_process_that_grows_is_replaced", "a process that grows is ended", "housekeeping.py",
         "            self._workers.end_what_grows()\n", "            pass\n"),
        ("test_processes_end_with_the_one_that_asks_them", "a process hears that its server has ended", "engines/children.py",
         "    with suppress(EOFError, BrokenPipeError, ConnectionResetError):\n        connection.send(None)",
         "    while True:\n        connection.send(None)\n        threading.Event().wait()"),
        ("test_an_engine_that_dies_at_random_costs_no_more_than_one_interval_of_saves", "its curve begins where the save ends",
         "engines/remote.py", "        run.hold(**parts, tokenizers=tokenizers)",
         "        run.hold(**parts | {'history': run.history}, tokenizers=tokenizers)"),
        ("test_without_the_way_there_runs_go_on_here_until_there_is_one_again", "a cluster that is lost is left", "engines/cluster.py",
         "                self._lose(error)\n", ""),
    ),
    **_in(
        "training",
        ("test_nan_in_the_numbers_themselves", "a loss must be finite", "loop.py",
         "        if not (math.isfinite(loss) and math.isfinite(grad_norm)):\n            self._restore()",
         "        if False:\n            self._restore()"),
    ),
    **_in(
        "rooms",
        ("test_a_crash_in_the_middle_of_a_write_leaves_the_old_room", "a room is written beside the old one", "store.py",
         "        files.write_file(path, data)\n        with", "        path.write_bytes(b''), files.write_file(path, data)\n        with"),
        ("test_whoever_has_the_code_of_a_damaged_room_is_told", "a room that was set aside is known", "store.py",
         "return FILE.fullmatch(f\"{code}.json\") is not None and self", "return False and self"),
        ("test_a_damaged_room_is_read_from_its_copy", "a room has a copy", "store.py",
         "            files.write_file(self._copies / path.name, data)", "            pass"),
    ),
    **_in(
        "ui",
        ("test_one_visitor_is_told_to_wait_and_how_long", "a visitor's requests are counted", "guard.py",
         "self._each.take(token, cost) if token else 0.0", "0.0"),
        ("test_a_new_token_for_each_request_helps_nobody", "an address' requests are counted", "guard.py",
         "self._address.take(address, cost)", "0.0"),
        ("test_so_many_streams_and_no_more", "open streams are counted", "guard.py",
         "if not refusal and self._open.full(most):", "if False:"),
        ("test_uploads_are_counted_for_an_address", "uploads are counted", "bodies.py", "self._files.take(address, files)", "0.0"),
        ("test_half_a_request_is_hung_up_on", *LATE_IS_LATE),
        ("test_one_byte_now_and_then_buys_no_time", *LATE_IS_LATE),
        ("test_chunks_without_end_are_not_taken_for_ever", "a body may be so long", "bodies.py",
         "self._too_long() if self.length + len(data) > self._most else", ""),
        ("test_half_open_connections_give_way_and_visitors_are_served", "who asks nothing gives way", "connections.py",
         "idle.transport.abort()", "return False"),
        ("test_who_does_not_read_is_hung_up_on", "an answer must be read", "connections.py",
         "self._unread or self.loop.call_later(self.unread_seconds, self.transport.abort)", "None"),
        ("test_everything_is_saved_in_time_whoever_asks_and_however_often", "SIGTERM is heard", "ending.py",
         'SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")', 'SIGNALS = ("SIGINT",)'),
        ("test_what_the_process_was_started_deaf_to_it_stays_deaf_to", "nohup is asked about", "ending.py",
         "if signal.getsignal(number) is not signal.SIG_IGN:", "if True:"),
        ("test_two_hundred_tabs_leave_what_thirty_left", "so many tabs are remembered", "server.py",
         "state_session_capacity=sessions.MOST", "state_session_capacity=10_000"),
        ("test_the_tab_that_came_last_stays", "the oldest tab goes", "sessions.py",
         "oldest = min(holder.time_last_used, key", "oldest = max(holder.time_last_used, key"),
        ("test_what_one_visitor_holds_open_slows_down_nobody", "visitors count, not what they hold", "pace.py",
         "here = Counter(where for where, _ in list(self._asked))",
         "here = Counter(where for where, _ in list(self._asked)) + Counter(home=self.streams)"),
        ("test_a_line_that_was_gone_leaves_no_gap_in_the_curve", "a stream goes on from where it was cut", "routes.py",
         '_number(request.headers.get("Last-Event-ID", since))', "runs.get(id).version"),
        ("test_who_listens_comes_before_who_left", "who listens comes first", "fair_queue.py",
         "unheard, address = not _is_heard(event, listeners), ", "unheard, address = False, "),
        ("test_a_full_queue_has_room_while_nobody_listens_to_a_part_of_it", "who left makes room", "fair_queue.py",
         "await queue.remove_from_queue(_first_to_go(unheard)._id)", "pass"),
    ),
    **_in(
        "ui/static",
        ("a second press of Train while the first is on its way makes no second run", "a second press means nothing", "actions.js",
         "  if (busy.has(action)) return;\n", ""),
        ("after the computer slept a run is listened to anew, from where it was", "whoever wakes listens anew", "live.js",
         "pg-waking", "pg-nothing"),
        ("test_two_tabs_train_at_once", "the other tabs hear of a new run", "storage.js", "event.key === RUNS && act()", "false"),
        ("after an hour's sleep everybody is told once", "a sleep is noticed", "waking.js", "  if (isLate) tell();\n", ""),
    ),
}  # fmt: skip


def broken(name: str, root: Path) -> None:
    """Takes out of the tree at `root` what this test is for."""
    taken = RED[name]
    path = root / taken.file
    text = path.read_text(encoding="utf-8")
    if text.count(taken.old) != 1:
        raise ValueError(f"{name}: {taken.file} has it {text.count(taken.old)} times")
    path.write_text(text.replace(taken.old, taken.new), encoding="utf-8")


def seen(tests: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(name, "red" or what came instead) of each of the tests, which are addresses by their names."""
    for name, address in tests.items():
        with tempfile.TemporaryDirectory(prefix="red-") as folder:
            root = Path(folder)
            for one in COPIED:
                if (ROOT / one).is_dir():
                    shutil.copytree(ROOT / one, root / one, ignore=shutil.ignore_patterns("__pycache__"))
                elif (ROOT / one).exists():
                    shutil.copy(ROOT / one, root / one)
            for one in LINKED:
                if (ROOT / one).exists():
                    (root / one).symlink_to((ROOT / one).resolve())
            broken(name, root)
            yield name, _told(root, name, address)


def _told(root: Path, name: str, address: str) -> str:
    file, _, test = address.partition("::")
    if file.endswith(".js"):
        command = ["node", "--test", f"--test-name-pattern={name}", file]
    else:
        command = [sys.executable, "-m", "pytest", f"{file}::{test}", "-m", "", "-n0", "-q", "-x", "-p", "no:cacheprovider"]
    try:
        environment = os.environ | {"PYTHONPATH": str(root)}
        ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "red: it waits for ever"
    if ended.returncode == 1:
        return "red"
    if ended.returncode == 0 and " skipped" in ended.stdout and " passed" not in ended.stdout:
        return "skipped: something is not installed that it needs"
    return "GREEN" if ended.returncode == 0 else f"ended with {ended.returncode}: {ended.stdout[-300:]}"
