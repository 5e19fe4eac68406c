"""Which parameters a model has, and in what shapes. That files with others are refused is tested with the folders they are in."""

import torch

from playground.config import ModelConfig
from playground.model.size import parameter_count
from playground.runs.disk.parameters import parameter_shapes


def test_parameter_shapes_are_the_models():
    for config in (ModelConfig(), ModelConfig(share_embeddings="all", norm="pre", bias=False, positions="learned")):
        shapes = parameter_shapes(config, 20, 20)
        assert sum(torch.Size(shape).numel() for shape in shapes.values()) == parameter_count(config, 20, 20)
