"""A run that was pushed is what is on the disk, and whatever goes wrong is said in one sentence."""

import json
import socket

import pytest
import torch
from huggingface_hub import constants

from playground.cli import main
from playground.config import Refusal
from playground.export.taken import find
from playground.hub import push, remote
from playground.hub.model import HubTransformer
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.runs.registry import SHIPPED
from tests.hub.stand_in import READ_ONLY, TOKEN
from tests.hub.test_model import FILES, logits
from tests.runs.tiny import alone, tiny


def test_a_run_is_pushed_and_read_back(hub, capsys):
    assert main(["push", "reverse", "ada/reverse", "--private"]) == 0
    assert capsys.readouterr().out == f"{hub.url}/ada/reverse\n"
    assert hub.repos["models/ada/reverse"].keys() - {".gitattributes"} >= FILES
    assert hub.stored, "the weights went where binary files go"
    assert hub.created["models/ada/reverse"]["visibility"] == "private"
    back, run = HubTransformer.from_pretrained("ada/reverse"), find("reverse")
    assert torch.equal(logits(back), logits(HubTransformer.from_run(run)))
    assert [one.to_bytes() for one in back.tokenizers] == [one.to_bytes() for one in run.tokenizers]


@pytest.mark.night
def test_a_second_push_in_several_commits_renews_the_first(hub, monkeypatch):
    """The way that huggingface_hub goes by itself where hf_xet is installed; what Xet stores is not imitated."""
    push.push("sort", "ada/model")
    assert "visibility" not in hub.created["models/ada/model"]
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    hub.takes_binary = True
    push.push("reverse", "ada/model")
    assert json.loads(hub.repos["models/ada/model"]["config.json"])["task"] == "reverse"
    assert torch.equal(logits(HubTransformer.from_pretrained("ada/model")), logits(HubTransformer.from_run(find("reverse"))))


def test_a_run_is_found_by_its_folder_its_name_its_label_and_its_id(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    run, _ = alone(tiny())
    folder = tmp_path / "runs" / run.id
    folder.parent.mkdir()
    write_run(folder, run, train_inline.contents(run))
    assert {find(name).id for name in (str(folder), run.id, run.name)} == {run.id}
    assert find("reverse").experiment.data.task == find("checkpoints/reverse").experiment.data.task == "reverse"
    with pytest.raises(Refusal, match="nothing-like-it"):
        find("nothing-like-it")


NAMES = ("ada", "ada/", "/x", "a/b/c", "ada/x.git", "ada/-", "ada/a--b", "ada/a..b", "ada/ x", "ada/x\n", "阿/x")


@pytest.mark.parametrize(
    ("arguments", "token", "key"),
    [
        *((("no such run", name), TOKEN, "hub.not_a_name") for name in NAMES),  # before any run is read
        (("nothing", "ada/reverse"), TOKEN, "export.no_run"), (("reverse", "grace/reverse"), TOKEN, "hub.no_right"),
        (("reverse", "ada/reverse"), READ_ONLY, "hub.no_right"), (("reverse", "ada/reverse"), "hf_wrong", "hub.bad_token"),
        (("reverse", "ada/reverse"), "", "hub.no_token"),
    ],
)  # fmt: skip
def test_what_can_not_be_pushed_is_refused(hub, arguments, token, key, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(Refusal) as refusal:
        push.push(*arguments)
    assert refusal.value.key == key
    assert not hub.repos
    assert key != "hub.not_a_name" or not hub.asked


def test_a_failure_of_the_hub_or_the_network_is_one_sentence(hub, capsys, monkeypatch):
    hub.status = 400
    assert main(["push", "reverse", "ada/reverse"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "refused “ada/reverse”: Something is wrong here." in err
    for hub.status, key in ((402, "hub.not_free"), (404, "hub.no_right")):
        with pytest.raises(Refusal) as refusal:
            remote.upload(SHIPPED, "ada/space", "space", "x", space_sdk="gradio")
        assert refusal.value.key == key
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(Refusal) as refusal:
            push.push("reverse", "ada/reverse")
        assert refusal.value.key == "hub.unreachable"
