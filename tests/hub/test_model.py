"""What from_pretrained gives is the run: logits to the bit, and the same sentences out."""

import json
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.choices import VARIANTS
from playground.config import Experiment, ModelConfig, Refusal
from playground.hub.model import HubTransformer
from playground.runs.disk.folder import Folder
from playground.runs.model_cache import ModelCache
from playground.runs.registry import SHIPPED
from playground.variants import build

FILES = {"config.json", "model.safetensors", "src_tokenizer.json", "tgt_tokenizer.json", "README.md"}


@pytest.fixture(scope="module")
def run():
    return Folder(SHIPPED / "reverse").run


def logits(model, source=((5, 6, 7, 2),), target=((1, 7, 6, 5),)):
    with torch.no_grad():
        return model(torch.tensor(source), torch.tensor(target)).logits


@pytest.mark.trust
def test_a_folder_that_was_saved_gives_the_logits_of_the_run_to_the_bit(run, tmp_path):
    HubTransformer.from_run(run).save_pretrained(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= FILES
    back = HubTransformer.from_pretrained(tmp_path)
    assert not back.training
    assert torch.equal(logits(back), logits(ModelCache().get(run, None).model))
    assert [one.to_bytes() for one in back.tokenizers] == [one.to_bytes() for one in run.tokenizers]
    back.save_pretrained(tmp_path / "again")
    assert torch.equal(logits(HubTransformer.from_pretrained(tmp_path / "again")), logits(back))


@given(st.sampled_from(sorted(VARIANTS)), st.sampled_from(["none", "all"]))
@settings(max_examples=10)
def test_every_variant_and_a_shared_matrix_come_back(variant, shared):
    knobs = {"d_model": 16, "n_heads": 2, "d_ff": 8, "variant": variant, "share_embeddings": shared, "zero_init": False}
    model = HubTransformer(src_vocab=12, tgt_vocab=12, **knobs).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand_like(parameter))  # none below 0: some are variances
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        assert torch.equal(logits(HubTransformer.from_pretrained(folder)), logits(model))
    assert model.state_dict().keys() == build(Experiment().with_(**knobs).model, 12, 12).state_dict().keys()
    assert HubTransformer(8, 8).config == ModelConfig()


def test_a_config_that_lies_is_refused_before_a_model_is_made(run, tmp_path):
    HubTransformer.from_run(run).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config.keys() == {*Experiment().flat(), "src_vocab", "tgt_vocab", "longest_target"}
    lies = {
        "config.json": {"tgt_vocab": 10**9}, "model.safetensors": {"d_model": 512}, "d_model": {"d_model": 17},
        "auto_map": {"auto_map": "evil.Model"},
    }  # fmt: skip
    for named, lie in lies.items():
        (tmp_path / "config.json").write_text(json.dumps(config | lie))
        with pytest.raises(Refusal, match=named):
            HubTransformer.from_pretrained(tmp_path)


def test_no_repository_is_read_as_pickle(hub):
    repo = hub.folder / "model" / "ada" / "old"
    repo.mkdir(parents=True)
    (repo / "config.json").write_text('{"src_vocab": 8, "tgt_vocab": 8}')
    (repo / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(Exception, match=r"model\.safetensors"):
        HubTransformer.from_pretrained("ada/old")
    assert "pytorch_model.bin" not in hub.read
