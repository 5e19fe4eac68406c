"""torch.nn.Transformer in the manner of PyTorch's own translation tutorial: embeddings, sinusoids, a projection, Adam at a constant rate.

The tutorial is pytorch/tutorials, beginner_source/translation_transformer.py, "Language Translation with nn.Transformer and torchtext".
"""

import math

import torch
from torch import Tensor, nn

from benchmarks.peers.common import Setting, Task
from playground.config import MAX_POSITIONS, PAD
from playground.data.batches import Batch
from playground.model.positions import sinusoids

OWN = Setting(d_model=512, n_heads=8, layers=3, d_ff=512, dropout=0.1, pairs=128)
ADAM = {"lr": 1e-4, "betas": (0.9, 0.98), "eps": 1e-9}


class Plain(nn.Module):
    """Around nn.Transformer stands what the tutorial puts there: embeddings times the root of their width, sinusoids, dropout on their
    sum, and a projection of its own for the output. Every matrix starts as Xavier's uniform draw. nn.Transformer ends each stack with a
    norm; it is left there.
    """

    def __init__(self, src_vocab: int, tgt_vocab: int, d_model: int, n_heads: int, layers: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.src_embedding = nn.Embedding(src_vocab, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab, d_model)
        self.dropout = nn.Dropout(dropout)
        self.transformer = nn.Transformer(d_model, n_heads, layers, layers, d_ff, dropout, batch_first=True)
        self.generator = nn.Linear(d_model, tgt_vocab)
        self.register_buffer("positions", sinusoids(MAX_POSITIONS, d_model), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Logits of every next token: (B, S), (B, T) -> (B, T, V)."""
        padded, length = src == PAD, tgt_in.shape[1]
        states = self.transformer(
            self._embed(self.src_embedding, src),
            self._embed(self.tgt_embedding, tgt_in),
            tgt_mask=torch.ones(length, length, dtype=torch.bool, device=src.device).triu(1),  # True where a query may not look
            src_key_padding_mask=padded,
            tgt_key_padding_mask=tgt_in == PAD,
            memory_key_padding_mask=padded,
        )
        return self.generator(states)

    def _embed(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        """(B, L) -> (B, L, D)."""
        return self.dropout(table(tokens) * math.sqrt(table.embedding_dim) + self.positions[: tokens.shape[1]])


class Learner:
    """The tutorial's training: Adam at a constant rate, cross-entropy that leaves padding out; it neither clips nor smooths labels."""

    def __init__(self, task: Task) -> None:
        torch.manual_seed(task.seed)
        size = task.setting
        self.model = Plain(task.vocabulary, task.vocabulary, size.d_model, size.n_heads, size.layers, size.d_ff, size.dropout)
        self._optimiser = torch.optim.Adam(self.model.parameters(), **ADAM)
        self._loss = nn.CrossEntropyLoss(ignore_index=PAD)

    def logits(self, batch: Batch) -> Tensor:
        return self.model(batch.src, batch.tgt_in)

    def update(self, batch: Batch) -> int:
        self._optimiser.zero_grad()
        self._loss(self.logits(batch).flatten(0, 1), batch.tgt_out.flatten()).backward()
        self._optimiser.step()
        return batch.src.numel() + batch.tgt_in.numel()
