"""Adam (Kingma and Ba 2015; section 5.3), and AdamW, whose weight decay does not pass through the moments (Loshchilov and Hutter 2019).

torch.optim.Adam does the same, but its first step in a process imports torch's compiler: two seconds and 70 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam


class ParameterGroups:
    """Parameters in groups with their settings, and the state of an update rule: {parameter: {name of the moment: tensor}}."""

    def __init__(self, groups: Iterable[dict[str, Any]], **settings: Any) -> None:
        self.param_groups = [{**settings, **group} for group in groups]
        self.state: dict[Tensor, dict[str, Tensor]] = {parameter: {} for group in self.param_groups for parameter in group["params"]}


class Adam(ParameterGroups):
    """Adam; `decoupled` makes it AdamW, `capturable` lets a CUDA graph record the step."""

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
