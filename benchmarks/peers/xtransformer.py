"""x-transformers' encoder-decoder, built and trained as in the package's own example of copying.

The example is lucidrains/x-transformers, examples/toy_tasks/enc_dec_copy.py: XTransformer with learned positions, one table of embeddings
for both sides, no dropout, Adam at a constant rate, 32 pairs an update.
"""

import torch
from torch import Tensor

from benchmarks.peers.common import Setting, Task
from playground.config import PAD
from playground.data.batches import Batch

OWN = Setting(d_model=512, n_heads=8, layers=3, d_ff=2048, dropout=0.0, pairs=32)
RATE = 3e-4


class Learner:
    """`XTransformer.forward` computes the loss itself, from targets with both BOS and EOS, and computes the column of EOS for nothing.
    A head is as wide as d_model / heads, which is the package's 64 at the example's size."""

    def __init__(self, task: Task) -> None:
        from x_transformers import XTransformer  # optional, written for 2.31.10

        torch.manual_seed(task.seed)
        size = task.setting
        side = {"num_tokens": task.vocabulary, "depth": size.layers, "heads": size.n_heads, "max_seq_len": task.longest + 1}
        side |= {"attn_dim_head": size.d_model // size.n_heads, "ff_mult": size.d_ff / size.d_model}
        side |= dict.fromkeys(("emb_dropout", "attn_dropout", "ff_dropout"), size.dropout)
        both = {f"{prefix}_{name}": value for prefix in ("enc", "dec") for name, value in side.items()}
        self.model = XTransformer(dim=size.d_model, tie_token_emb=True, ignore_index=PAD, pad_value=PAD, **both)
        self._optimiser = torch.optim.Adam(self.model.parameters(), lr=RATE)

    def logits(self, batch: Batch) -> Tensor:
        mask = batch.src != PAD
        memory = self.model.encoder(batch.src, mask=mask, return_embeddings=True)
        return self.model.decoder.net(batch.tgt_in, context=memory, context_mask=mask)

    def update(self, batch: Batch) -> int:
        whole = torch.cat((batch.tgt_in[:, :1], batch.tgt_out), dim=1)
        self.model(batch.src, whole, mask=batch.src != PAD).backward()
        self._optimiser.step()
        self._optimiser.zero_grad()
        return batch.src.numel() + whole.numel()
