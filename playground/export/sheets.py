"""The sheets of a workbook: one for each part of the paper's figure 1, each stage of `record` an array formula of named ranges.

`=MMULT(src_positions,W_Q_enc1)+b_Q_enc1` reads like the paper's. The stage's own values are written beside the formula, for programs that
don't calculate when they open a file.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from playground.config import BOS, PAD, SPECIAL_TOKENS, UNK
from playground.data.tokenizers import Tokenizer
from playground.export.cells import Area, CellWriter
from playground.inspection.activations import Stage
from playground.inspection.edits import norm_module
from playground.inspection.formulas import formula
from playground.model.positions import BASE, sinusoids
from playground.model.transformer import Transformer
from playground.words import say

SUFFIXES = {"encoder.self_attention": "enc", "decoder.self_attention": "dec", "decoder.cross_attention": "cross"}
SUFFIXES |= {"encoder.feed_forward": "encff", "decoder.feed_forward": "decff"}
# stage -> the beginning of its name in formulas, where it isn't the stage's own
SYMBOLS = {"q": "Q", "k": "K", "v": "V", "scores": "QK", "weights": "A", "mixed": "head", "hidden": "h", "W_o": "MultiHead", "W_2": "FFN"}
# stage -> its matrix and bias as in the paper, and the model's module
LINEAR = {
    "q": ("W_Q", "b_Q", "W_q"), "k": ("W_K", "b_K", "W_k"), "v": ("W_V", "b_V", "W_v"), "W_o": ("W_O", "b_O", "W_o"),
    "hidden": ("W_1", "b_1", "W_1"), "W_2": ("W_2", "b_2", "W_2"), "logits": ("W_logits", "b_logits", "projection"),
}  # fmt: skip
ACTIVATIONS = {"relu": "IF({x}>0,{x},0)", "gelu": "{x}*NORMSDIST({x})", "none": "{x}"}  # GELU(x) = x times the normal distribution
HIDDEN = {"S": "TRANSPOSE(src_ids)=0", "T": "(TRANSPOSE(tgt_ids)=0)+(TRANSPOSE(tgt_pos)>tgt_pos)>0"}  # keys -> where no query may attend
MEMORY = {"whole": "{x}", "cut": "0*{x}", "mean": "MMULT(TRANSPOSE(1*(src_ids>0)),{x})/SUM(1*(src_ids>0))+0*{x}"}
SINUSOIDS = f"IF(MOD(dims,2)=0,SIN({{side}}_pos/{BASE}^(dims/d_model)),COS({{side}}_pos/{BASE}^((dims-1)/d_model)))"
SOFTMAX = "EXP({row}-MAX({row}))/SUM(EXP({row}-MAX({row})))"
# cross-entropy, log of the sum of exp minus the right logit; 0 at a token that doesn't count
LOSS = "({id}<>{pad})*(LN(SUM(EXP({row}-MAX({row}))))+MAX({row})-INDEX({row},1,{id}+1))"
NORM = "({row}-AVERAGE({row}))/SQRT(VARP({row})+0.00001)"
LOOK_UP = "IFERROR(INDEX(token_ids_{side},MATCH(TRUE,EXACT(tokens_{side},{cell}),0)),{unknown})"
# stage -> its formula: x and y are its inputs, those of a head where it has heads, MASK where no query may attend, side is src or tgt
FORMULAS = {
    "embedding": "MMULT(1*({x}=TRANSPOSE(token_ids_{side})),E_{side})",  # a look-up is a product with rows of one 1
    "positions": "{x}+PE_{side}", "scores": "MMULT({x},TRANSPOSE({y}))", "masked": "{x}+IF(MASK,-1E+30,0)", "mixed": "MMULT({x},{y})",
    "concat": "{x}", "residual": "{x}+{y}", "output": "{x}",
}  # fmt: skip
ROW_FORMULAS = {"weights": SOFTMAX, "probabilities": SOFTMAX, "norm": NORM}  # over each row of x


def find_suffix(address: str) -> str:
    """Returns the end of a sublayer's names: "encoder.0.self_attention.q" -> "_enc1", "encoder.norm" -> "_encoder", "logits" -> ""."""
    stack, *rest = address.split(".")
    return f"_{SUFFIXES[f'{stack}.{rest[1]}']}{int(rest[0]) + 1}" if len(rest) == 3 else f"_{stack}" if rest else ""


def name_stage(stage: Stage, head: int | None = None) -> str:
    """Returns a stage's name in formulas: "Q_enc1", of one head "Q_2_enc1", "src_ids", "norm_encoder", "logits"."""
    if stage.address.startswith(("src.", "tgt.")):
        return stage.address.replace(".", "_")
    return SYMBOLS.get(stage.name, stage.name) + ("" if head is None else f"_{head + 1}") + find_suffix(stage.address)


class Sheets:
    """The sheets of one model and one sentence."""

    def __init__(
        self, cells: CellWriter, model: Transformer, tokenizers: tuple[Tokenizer, Tokenizer], stages: dict[str, Stage],
        right: Sequence[int], language: str,
    ) -> None:  # fmt: skip
        """`right` are the ids of the target, EOS last: fed to the decoder, one place later, and scored."""
        self.cells, self.config, self.stages, self.right, self.say = cells, model.config, stages, right, partial(say, language)
        self.parameters = {name: parameter.detach().cpu().numpy() for name, parameter in model.named_parameters(remove_duplicate=False)}
        self.areas: dict[str, tuple[Area, str, bool]] = {}  # of each matrix by its name in the model: cells, symbol, whether transposed
        self.placed: dict[str, list[Area]] = {}  # of each stage, by head where it has heads
        self.vocabularies = {side: _name_tokens(tokenizer) for side, tokenizer in zip(("src", "tgt"), tokenizers, strict=True)}
        self.target = [self.vocabularies["tgt"][token] for token in right]
        source = [self.vocabularies["src"][token] for token in stages["src.ids"].values]
        # axis -> the range that holds its names, and these
        self.labels = {"S": ("src_tokens", source), "T": ("tgt_tokens", [SPECIAL_TOKENS[BOS], *self.target[:-1]])}
        self.labels["V"] = ("tokens_tgt", self.vocabularies["tgt"])

    def write(self) -> float:
        """Writes all sheets in the order of computation; returns the loss."""
        for side in ("src", "tgt"):
            self.write_vocabulary(side)
        title = ""
        for address, stage in self.stages.items():
            if title != (title := self.title_sheet(address)):
                self.cells.open_sheet(title)
            (self.write_tokens if stage.name == "ids" else self.write_stage)(stage)
        return self.write_losses()

    def title_sheet(self, address: str) -> str:
        """Returns the title of the sheet of a stage: one for each sublayer, both inputs and both outputs."""
        stack, *rest = address.split(".")
        if len(rest) == 3:
            return self.say(f"workbook.sheet_{stack}_{rest[1]}", layer=int(rest[0]) + 1)
        names = {"src": "src", "tgt": "tgt", "encoder": "memory", "memory": "memory"}
        return self.say(f"workbook.sheet_{names.get(stack, 'output')}")

    def write_vocabulary(self, side: str) -> None:
        """Writes tokens, ids and embeddings; a table of embeddings that both sides share once."""
        cells, names, parameter = self.cells, self.vocabularies[side], f"{side}_embedding.weight"
        cells.open_sheet(self.say(f"workbook.sheet_vocabulary_{side}"))
        cells.write_title(f"tokens_{side}, token_ids_{side}, E_{side}")
        cells.place([[name] for name in names], 0, style="label", name=f"tokens_{side}")
        cells.place([[token] for token in range(len(names))], 1, style="label", name=f"token_ids_{side}")
        if side == "tgt" and self.config.share_embeddings == "all":
            cells.define("E_tgt", self.areas["src_embedding.weight"][0])
        else:
            self.areas[parameter] = cells.place(self.parameters[parameter], 2, name=f"E_{side}"), f"E_{side}", False

    def write_tokens(self, stage: Stage) -> None:
        """Writes a row for each token: itself, its id and its position; of the target also the next token, the right one, and its id."""
        cells, side, (tokens, names) = self.cells, stage.address[:3], self.labels[stage.axes]
        cells.write_title(self.say(f"workbook.tokens_{side}"))
        formula, begin = None, f'"{SPECIAL_TOKENS[BOS]}"'
        if side == "tgt":
            right = cells.place([[name] for name in self.target], 3, name="right_tokens")
            cells.place([[token] for token in self.right], 4, self.look_up(side, right), name="right_ids")

            def formula(row: int) -> str:
                return right.part(row - 1).here if row else begin

        area = cells.place([[name] for name in names], 0, formula, name=tokens)
        self.placed[stage.address] = [cells.place(stage.values[:, None], 1, self.look_up(side, area), name=name_stage(stage))]
        cells.place([[pos] for pos in range(len(names))], 2, style="label", name=f"{side}_pos")
        cells.advance(area)

    def look_up(self, side: str, tokens: Area) -> Callable[[int], str]:
        """Returns the formula of a row's id: upper and lower case differ, a token outside the vocabulary is UNK."""
        return lambda row: LOOK_UP.format(side=side, cell=tokens.part(row).here, unknown=UNK)

    def write_parameter(self, symbol: str, parameter: str, transposed: bool = False) -> None:
        """Writes a matrix (in, out), or a vector as one row."""
        values = np.atleast_2d(self.parameters[parameter])
        self.cells.write_title(symbol)
        self.areas[parameter] = self.cells.place(values.T if transposed else values, name=symbol), symbol, transposed
        self.cells.advance(self.areas[parameter][0])

    def write_stage(self, stage: Stage) -> None:
        """Writes a stage's parameters, its title with the paper's formula, and its values, of several heads side by side."""
        cells, symbol, axis = self.cells, name_stage(stage), stage.axes[-1]
        make, (key, words) = self.make_formula(stage), formula(self.config, stage)
        kind = "scaled_embedding" if stage.name == "scaled" and stage.layer is None else stage.name
        cells.write_title(f"{symbol}: {self.say(f'map.stage_{kind}')}, {self.say(key, **words)}")
        heads = stage.values if stage.axes[0] == "H" else stage.values[None]
        number, _, width = heads.shape
        starts = [1 + head * (width + (axis in self.labels)) for head in range(number)]
        if axis in self.labels:
            tokens, names = self.labels[axis]
            for start in starts:
                cells.place([names], start, f"TRANSPOSE({tokens})", "label")
            cells.row += 1
        tokens, names = self.labels[stage.axes[-2]]
        cells.place([[name] for name in names], 0, tokens, "label")
        if stage.name in ("q", "k", "v"):  # one product for all heads
            whole = cells.place(np.concatenate(heads, axis=-1), formula=make(0))
            areas = [whole.columns(head * width, width) for head in range(number)]
        else:
            areas = [cells.place(values, start, make(head)) for head, (start, values) in enumerate(zip(starts, heads, strict=True))]
            whole = areas[0].columns(0, starts[-1] - 1 + width)
        if stage.axes[0] == "H":
            for head, area in enumerate(areas):
                cells.define(name_stage(stage, head), area)
        if axis not in self.labels or stage.axes[0] != "H":
            cells.define(symbol, whole)
        if stage.name in ("weights", "probabilities"):
            cells.colour(whole)
        self.placed[stage.address] = areas
        cells.advance(whole)

    def make_formula(self, stage: Stage) -> Callable[[int], str | Callable[[int], str]]:
        """Writes the parameters of a stage; returns its formula for a head, or that of each row."""
        suffix, side, name = find_suffix(stage.address), "src" if stage.axes[0] == "S" else "tgt", stage.name
        inputs = [self.stages[address] for address in stage.inputs]

        def fill(template: str, head: int, **more: str) -> str:
            names = [name_stage(each, head if each.axes[0] == stage.axes[0] == "H" else None) for each in inputs]
            return template.format(side=side, **dict(zip("xy", names, strict=False)), **more)

        if name in ROW_FORMULAS:
            template = ROW_FORMULAS[name] + (self.write_norm(stage, suffix) if name == "norm" else "")
            areas = self.placed[stage.inputs[0]]
            at = "full" if areas[0].sheet != self.cells.sheet.name else "here"
            return lambda head: lambda row: fill(template, head, row=getattr(areas[head].part(row, 0, areas[head].width), at))
        template = self.write_linear(stage, suffix) if name in LINEAR else FORMULAS.get(name, "")
        if name == "positions":
            self.write_positions(side, stage)
        elif name == "masked":
            template = template.replace("MASK", HIDDEN["T" if stage.axes[1:] == "TT" else "S"])
        elif name == "memory":
            template = MEMORY[self.config.memory_mode]
        elif name == "activated":
            template = ACTIVATIONS[self.config.activation]
        elif name == "scaled":
            template = "{x}*SQRT(d_model)" if stage.layer is None else f"{{x}}/d_k^{self.config.attention_scale}"
        return partial(fill, template)

    def write_linear(self, stage: Stage, suffix: str) -> str:
        """Writes matrix and bias of x W + b; returns the formula. A projection that shares the embeddings uses their table."""
        matrix, bias, module = LINEAR[stage.name]
        module = module if stage.name == "logits" else f"{stage.address.rpartition('.')[0]}.{module}"
        symbol = f"{matrix}{suffix}"
        if stage.name == "logits" and self.config.share_embeddings != "none":
            symbol = "TRANSPOSE(E_tgt)"
        else:
            self.write_parameter(symbol, f"{module}.weight", transposed=True)
        if not self.config.bias:
            return f"MMULT({{x}},{symbol})"
        self.write_parameter(f"{bias}{suffix}", f"{module}.bias")
        return f"MMULT({{x}},{symbol})+{bias}{suffix}"

    def write_norm(self, stage: Stage, suffix: str) -> str:
        """Writes scale and shift of a layer norm; returns the end of its formula."""
        module = norm_module(stage.address)
        self.write_parameter(f"gamma{suffix}", f"{module}.weight")
        if not self.config.bias:
            return f"*gamma{suffix}"
        self.write_parameter(f"beta{suffix}", f"{module}.bias")
        return f"*gamma{suffix}+beta{suffix}"

    def write_positions(self, side: str, stage: Stage) -> None:
        """Writes the encoding of the sentence's positions: sinusoids as a formula, learned vectors as numbers."""
        cells, (length, width) = self.cells, stage.values.shape
        cells.write_title(f"PE_{side}")
        if self.config.encoding.added == "learned":
            area = cells.place(self.parameters[f"{side}_positions.table"][:length], name=f"PE_{side}")
        else:
            if side == "src":
                cells.place([range(width)], style="label", name="dims")
                cells.row += 1
            area = cells.place(sinusoids(length, width).numpy(), formula=SINUSOIDS.format(side=side), name=f"PE_{side}")
        cells.advance(area)

    def write_losses(self) -> float:
        """Writes for each token the likeliest one, the right one, its probability and its cross-entropy in nats; returns their mean."""
        cells, logits, chances = self.cells, self.placed["logits"][0], self.placed["probabilities"][0]
        rows = range(len(self.right))
        values, shares = self.stages["logits"].values, self.stages["probabilities"].values[rows, self.right]
        best = [[self.vocabularies["tgt"][token]] for token in values.argmax(axis=-1)]
        losses = F.cross_entropy(torch.tensor(values), torch.tensor(self.right), reduction="none").numpy()
        id_cells = [f"INDEX(right_ids,{row + 1})" for row in rows]
        logit_rows, chance_rows = ([area.part(row, 0, area.width).here for row in rows] for area in (logits, chances))
        cells.write_title(self.say("workbook.losses"))
        cells.place([[name] for name in self.labels["T"][1]], 0, "tgt_tokens", "label")
        cells.place(best, 1, lambda row: f"INDEX(tokens_tgt,MATCH(MAX({logit_rows[row]}),{logit_rows[row]},0))")
        cells.place([[name] for name in self.target], 2, "right_tokens")
        cells.place(shares[:, None], 3, lambda row: f"INDEX({chance_rows[row]},1,{id_cells[row]}+1)")
        area = cells.place(losses[:, None], 4, lambda row: LOSS.format(row=logit_rows[row], id=id_cells[row], pad=PAD), name="losses")
        cells.advance(area)
        cells.write_title(self.say("workbook.loss"))
        cells.place([[float(losses.mean())]], 1, lambda row: f"SUM(losses)/SUM(1*(right_ids<>{PAD}))", name="loss")
        return float(losses.mean())

def _name_tokens(tokenizer: Tokenizer) -> list[str]:
    """Returns a different text for each id: the token, with its id where another has the same text."""
    names = [tokenizer.piece(token) for token in range(tokenizer.size)]
    return [name if name and names.index(name) == token else f"{name}#{token}" for token, name in enumerate(names)]
