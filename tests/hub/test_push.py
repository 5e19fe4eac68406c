"""A run that was pushed is what is on the disk, and whatever goes wrong is said in one sentence."""

import base64
import json
import socket

import pytest
import torch
from huggingface_hub import constants
from huggingface_hub.utils import get_session

from playground.cli import main
from playground.config import Refusal
from playground.export.taken import find
from playground.hub import push, remote
from playground.hub.model import HubTransformer
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.runs.registry import SHIPPED
from tests.hub.stand_in import READ_ONLY
from tests.hub.test_model import FILES, logits
from tests.runs.tiny import alone, tiny


def test_a_run_is_pushed_and_read_back(hub, capsys):
    assert main(["push", "reverse", "ada/reverse"]) == 0
    assert capsys.readouterr().out == f"{hub.url}/ada/reverse\n"
    pushed = hub.repos["models/ada/reverse"]
    assert pushed.keys() - {".gitattributes"} >= FILES
    assert hub.stored  # the weights went where binary files go
    assert "visibility" not in hub.created["models/ada/reverse"]
    run = find("reverse")
    assert torch.equal(logits(HubTransformer.from_pretrained("ada/reverse")), logits(HubTransformer.from_run(run)))


@pytest.mark.night
def test_the_upload_in_several_commits_ends_the_same(hub, monkeypatch):
    """The way that huggingface_hub goes by itself where hf_xet is installed; what Xet stores is not imitated."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    hub.takes_binary = True
    push.push("reverse", "ada/reverse")
    assert torch.equal(logits(HubTransformer.from_pretrained("ada/reverse")), logits(HubTransformer.from_run(find("reverse"))))


@pytest.mark.night
def test_a_second_push_renews_the_first(hub, tmp_path):
    push.push("reverse", "ada/model")
    push.push("sort", "ada/model")
    assert json.loads(hub.repos["models/ada/model"]["config.json"])["task"] == "sort"


def test_a_private_one_is_created_as_such(hub):
    assert main(["push", "checkpoints/sort", "ada/sort", "--private"]) == 0
    assert hub.created["models/ada/sort"]["visibility"] == "private"


def test_a_run_is_found_by_its_folder_its_name_its_label_and_its_id(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_DATA", str(tmp_path))
    run, _ = alone(tiny())
    folder = tmp_path / "runs" / run.id
    folder.parent.mkdir()
    write_run(folder, run, train_inline.contents(run))
    for said in (str(folder), run.id, run.name):
        assert find(said).id == run.id
    assert find("reverse").experiment.data.task == "reverse"
    with pytest.raises(Refusal, match="nothing-like-it"):
        find("nothing-like-it")


@pytest.mark.night
def test_every_failure_is_one_sentence(hub, capsys, monkeypatch):
    def told(*arguments):
        assert main(["push", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err
        return err

    assert "no run “nothing”" in told("nothing", "ada/reverse")
    assert "OWNER/NAME" in told("reverse", "reverse")
    assert "may not write to “grace/reverse”" in told("reverse", "grace/reverse")
    monkeypatch.setenv("HF_TOKEN", READ_ONLY)
    assert "may not write to “ada/reverse”" in told("reverse", "ada/reverse")
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "does not know this token" in told("reverse", "ada/reverse")
    monkeypatch.delenv("HF_TOKEN")
    assert "No token" in told("reverse", "ada/reverse")
    assert not hub.repos


def test_a_hub_that_is_out_of_order_is_quoted(hub):
    hub.status = 400
    with pytest.raises(Refusal, match=r"refused “ada/reverse”: Something is wrong here\."):
        push.push("reverse", "ada/reverse")


def test_a_network_that_is_down_is_said_at_once(hub, monkeypatch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        with pytest.raises(Refusal, match="can’t be reached"):
            push.push("reverse", "ada/reverse")


@pytest.mark.parametrize("name", ["ada", "ada/", "/x", "a/b/c", "ada/x.git", "ada/-", "ada/a--b", "ada/a..b", "ada/ x", "ada/x\n", "阿/x"])
def test_what_can_be_no_name_is_refused_before_anything_is_asked(hub, name):
    with pytest.raises(Refusal) as refusal:
        push.push("reverse", name)
    assert refusal.value.key == "hub.not_a_name"
    assert hub.asked == []


def test_a_name_is_looked_at_before_any_run_is_read(hub):
    """Which takes most of a second."""
    with pytest.raises(Refusal) as refusal:
        push.push("no such run", "ada")
    assert refusal.value.key == "hub.not_a_name"


def test_the_stand_in_refuses_what_the_hub_refuses(hub):
    """Binary files in a commit, as plain git would bring them."""
    push.push("reverse", "ada/reverse")
    lines = [{"key": "header", "value": {}}, {"key": "file", "value": {"path": "x.png", "content": base64.b64encode(b"\0").decode()}}]
    url, headers = f"{hub.url}/api/models/ada/reverse/commit/main", {"Authorization": "Bearer hf_write"}
    said = get_session().post(url, headers=headers, content="\n".join(map(json.dumps, lines)))
    assert (said.status_code, "binary" in said.text) == (400, True)


def test_payment_is_told_from_permission(hub):
    hub.status = 402
    with pytest.raises(Refusal) as refusal:
        remote.upload(SHIPPED, "ada/space", "space", "x", space_sdk="gradio")
    assert refusal.value.key == "hub.not_free"
