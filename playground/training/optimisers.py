"""The optimiser: turns gradients into an update, by Adam (section 5.3), AdamW or Muon; and the learning rate of each step."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

from playground.choices import OPTIMISERS
from playground.config import TrainingConfig
from playground.knobs import declared
from playground.model.transformer import Transformer


class ParameterGroups:
    """Parameters in groups with their settings, and the state of an update rule: {parameter: {name of the moment: tensor}}."""

    def __init__(self, groups: Iterable[dict[str, Any]], **settings: Any) -> None:
        self.param_groups = [{**settings, **group} for group in groups]
        self.state: dict[Tensor, dict[str, Tensor]] = {parameter: {} for group in self.param_groups for parameter in group["params"]}


class Adam(ParameterGroups):
    """Adam (Kingma and Ba 2015); `decoupled` makes it AdamW, whose weight decay does not pass through the moments (Loshchilov and Hutter
    2019). `capturable` lets a CUDA graph record the step.

    torch.optim.Adam does the same, but its first step in a process imports torch's compiler: two seconds and 70 MB.
    """

    def __init__(
        self, groups: Iterable[dict[str, Any]], beta1: float, beta2: float, eps: float, weight_decay: float, decoupled: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(groups, weight_decay=weight_decay)
        self._settings = {"beta1": beta1, "beta2": beta2, "eps": eps, "decoupled_weight_decay": decoupled, "capturable": capturable}

    @torch.no_grad()
    def step(self) -> None:
        """Updates all parameters of a group by one kernel; every parameter must have a gradient and every group a learning rate, "lr"."""
        for group in self.param_groups:
            parameters = group["params"]
            for parameter in parameters:
                if not self.state[parameter]:
                    zeros = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
                    self.state[parameter] = {"step": torch.zeros((), dtype=torch.float32, device=parameter.device), **zeros}
            moments = ([self.state[parameter][name] for parameter in parameters] for name in ("exp_avg", "exp_avg_sq"))
            steps = [self.state[parameter]["step"] for parameter in parameters]
            adam(
                parameters, [parameter.grad for parameter in parameters], *moments, [], steps, fused=True, amsgrad=False, maximize=False,
                lr=group["lr"], weight_decay=group["weight_decay"], **self._settings,
            )  # fmt: skip


ITERATIONS = OPTIMISERS["muon"].newton_schulz
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Jordan's quintic: steep at 0, so small values grow fast


def orthogonalise(matrices: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Runs the Newton-Schulz iteration: keeps the singular vectors and brings the singular values towards 1. (N, A, B) -> same; products
    are computed in `dtype`."""
    a, b, c = COEFFICIENTS
    wide = matrices.shape[-2] <= matrices.shape[-1]
    x = matrices if wide else matrices.mT
    x = (x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)).to(dtype)
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    x = x.to(matrices.dtype)
    return x if wide else x.mT


class Muon(ParameterGroups):
    """Each matrix moves by the orthogonal matrix nearest to its averaged gradient (Jordan et al. 2024): Nesterov momentum, then
    orthogonalise. The step of an (A, B) matrix is lr * sqrt(max(1, A / B)), as in torch.optim.Muon.

    torch.optim.Muon does the same, one matrix after the other and in bfloat16, which on a CPU takes longer than the rest of a training
    step. Here all matrices of one shape go through the iteration together, in bfloat16 only where the whole step uses it: there bfloat16 is
    several times faster, and the iteration corrects its own rounding.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float, momentum: float = 0.9, weight_decay: float = 0.0) -> None:
        self.dtype = torch.float32  # of the products
        super().__init__(groups, lr=lr, momentum=momentum, weight_decay=weight_decay)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(f"Muon moves matrices, not a parameter of shape {tuple(parameter.shape)}")
                self.state[parameter]["momentum"] = torch.zeros_like(parameter)

    def step(self) -> None:
        """Updates all parameters; every one must have a gradient."""
        for move in self.moves():
            move()

    def moves(self) -> list[Callable[[], None]]:
        """Returns the update as independent calls: one for all matrices of one shape, transposed or not."""
        same_shape = defaultdict(list)
        for group in self.param_groups:
            for parameter in group["params"]:
                same_shape[id(group), frozenset(parameter.shape)].append((parameter, group))
        return [partial(self._move, [parameter for parameter, _ in group], group[0][1]) for group in same_shape.values()]

    @torch.no_grad()
    def _move(self, parameters: list[Tensor], group: dict) -> None:
        gradients = [parameter.grad for parameter in parameters]
        momenta = [self.state[parameter]["momentum"] for parameter in parameters]
        torch._foreach_lerp_(momenta, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, momenta, group["momentum"])
        wide = [matrix if matrix.shape[0] <= matrix.shape[1] else matrix.mT for matrix in ahead]
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        for parameter, update in zip(parameters, orthogonalise(torch.stack(wide), self.dtype).unbind(), strict=True):
            rows, columns = parameter.shape
            parameter.sub_((update if rows <= columns else update.mT) * (group["lr"] * math.sqrt(max(1, rows / columns))))


def _adam(decoupled: bool, groups: list[dict], config: TrainingConfig, device: torch.device) -> Adam:
    capturable = device.type == "cuda"  # so that a step can be recorded
    return Adam(groups, config.beta1, config.beta2, 1e-9, config.weight_decay, decoupled, capturable)


def _muon(groups: list[dict], config: TrainingConfig, device: torch.device) -> Muon:
    """Returns a Muon whose momentum is beta1."""
    return Muon(groups, config.learning_rate, momentum=config.beta1, weight_decay=config.weight_decay)


# Factories by the names of OPTIMISERS in playground/choices.py: (groups of parameters, config, device) -> optimiser.
MAKERS: dict[str, Callable[[list[dict], TrainingConfig, torch.device], ParameterGroups]] = {
    "adam": partial(_adam, False),
    "adamw": partial(_adam, True),
    "muon": _muon,
}


class Optimiser:
    """One update rule for all parameters; or one for the hidden matrices, and another for the rest: embeddings, projection, positions,
    norms and biases. State is read and written by parameter name. Raises Refusal for an optimiser that has no factory."""

    def __init__(self, config: TrainingConfig, model: Transformer, precision: str = "float32") -> None:
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        (own, rule), *rest = config.update_rules.items()
        statistics = [p for p, name in self.names.items() if name.endswith((".mean", ".variance"))]  # of a batch norm: nothing to decay
        learnt = [p for p in self.names if not any(p is other for other in statistics)]
        takes = [(own, learnt, statistics, 1.0)]
        if rest:
            hidden = [p for p in learnt if p.ndim == 2 and self.names[p].startswith(("encoder.", "decoder.", "layers."))]
            remaining = [p for p in learnt if not any(p is other for other in hidden)]
            takes = [(own, hidden, [], 1.0), (rest[0][0], remaining, statistics, rule.rest_rate)]
        device = model.generator.device
        self.parts = [  # each with its factor of the learning rate
            (declared("optimiser", MAKERS, name)(_groups(moved, still), config, device), share) for name, moved, still, share in takes
        ]
        for muon in (part for part, _ in self.parts if isinstance(part, Muon)):
            muon.dtype = getattr(torch, precision)

    def step(self, learning_rate: float | Tensor, parallel_map: Callable[[Callable, Iterable], Iterable] = map) -> None:
        """Applies one update and clears the gradients. `parallel_map` works on independent parts of it, like `map`."""
        for optimiser, share in self.parts:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate * share
        kinds = [optimiser for optimiser, _ in self.parts]
        moves = [move for kind in kinds for move in (kind.moves() if isinstance(kind, Muon) else [kind.step])]
        for _ in parallel_map(lambda move: move(), moves):
            pass
        for parameter in self.names:
            parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """Returns copies of all moments, as {"parameter/moment": tensor}."""
        return {
            f"{self.names[parameter]}/{moment}": tensor.detach().clone()
            for optimiser, _ in self.parts
            for parameter, moments in optimiser.state.items()
            for moment, tensor in moments.items()
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Loads moments that `state` returned."""
        by_parameter: dict[str, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, moment = key.split("/")
            by_parameter.setdefault(name, {})[moment] = tensor
        for optimiser, _ in self.parts:
            for parameter in (p for group in optimiser.param_groups for p in group["params"]):
                moments = by_parameter.get(self.names[parameter], {})
                optimiser.state[parameter] = {moment: tensor.to(parameter.device).clone() for moment, tensor in moments.items()}


def _groups(parameters: list[Tensor], statistics: list[Tensor]) -> list[dict]:
    """Returns the parameter groups; `statistics` get no weight decay."""
    return [{"params": parameters}, *([{"params": statistics, "weight_decay": 0.0}] if statistics else [])]


# ---- learning rate schedules (section 5.3, and current practice) ----

REWARMED = 5  # steps before a fresh optimiser's running averages rise above the batch noise


def rewarm_factor(step: int, fresh_at: int) -> float:
    """Returns a factor for the learning rate of update `step` when a trained model continues with an optimiser that was fresh after step
    `fresh_at`: rises to 1 in REWARMED steps. Adam's first steps move every parameter by the whole learning rate, whatever its gradient:
    harmless at random, but it would destroy much of what was learnt. `fresh_at` 0 is a new model: always 1."""
    return min((step - fresh_at) / REWARMED, 1.0) if fresh_at else 1.0


def learning_rate(config: TrainingConfig, d_model: int, step: int) -> float:
    """Returns the learning rate of update number `step`, counted from 1.

    paper: learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5), equation 3 with a factor in front.
    linear: up in a straight line to learning_rate during warmup, then in a straight line down to 0 just after the last step.
    constant: up during warmup, then learning_rate.
    """
    warmup = max(config.warmup, 1)
    rise = min(step / warmup, 1.0)
    if config.schedule == "paper":
        return config.learning_rate * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    if config.schedule == "linear":
        left = (config.steps + 1 - step) / max(config.steps + 1 - config.warmup, 1)
        return config.learning_rate * max(min(rise, left), 0.0)
    return config.learning_rate * rise
