"""The operator as a reference program, and its bugs as mutants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reference_controller.manifests import Manifests
from reference_controller.reference_program import ReferenceProgram

from .bugs import BUGS
from .controller import SITE, SiteController, SiteRules, with_title


@dataclass(frozen=True)
class NoConfig:
    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> NoConfig:
        del data
        return cls()


PROGRAM: Final = ReferenceProgram(
    name="planted",
    config=NoConfig,
    controllers=lambda _config, rules: (SiteController(rules),),
    webhooks=lambda _config, rules, _asking: {SITE: with_title(rules)},
    kinds=(SITE,),
    manifests=Manifests(package="assay_planted.manifests", crds=("crd.yaml",), rbac=("rbac.yaml",)),
    rules=SiteRules,
    mutants=BUGS,
)
