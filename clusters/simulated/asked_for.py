"""The objects that updates and patches ask for."""

from __future__ import annotations

from clusters.simulated.patches.patching import patched
from clusters.simulated.reading import in_version
from clusters.simulated.scale import scale_of, scaled
from clusters.simulated.strategy import Strategy
from vocabulary import requests as rq
from vocabulary.objects import Object


def asked_for(request: rq.Update | rq.Patch, old: Object, strategy: Strategy) -> Object:
    """The object that an update or a patch asks for, before anything is made of it."""
    if request.subresource == "scale":
        scale = scale_of(old, strategy)
        if isinstance(request, rq.Update):
            return scaled(old, request.object, strategy)
        return scaled(old, patched(scale, request, strategic=True), strategy)
    if isinstance(request, rq.Update):
        return request.object
    old = in_version(old, request.kind, strategy)
    return patched(old, request, strategic=strategy.strategic_merge)
