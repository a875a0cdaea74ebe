"""The `/scale` subresource: how many replicas are wanted and there are, for any kind."""

from __future__ import annotations

from typing import Any

from clusters.simulated.field_errors import invalid, value_invalid
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.objects import Object, get_path, with_path
from vocabulary.selectors import to_text


def scale_of(obj: Object, strategy: Strategy) -> dict[str, Any]:
    """The object as an autoscaling/v1 Scale."""
    assert strategy.scale_paths is not None
    paths = strategy.scale_paths
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: dict[str, Any] = {"replicas": get_path(obj, paths.status_replicas, 0)}
    selector = get_path(obj, paths.selector) if paths.selector else None
    if isinstance(selector, str) and selector:
        status["selector"] = selector
    elif isinstance(selector, dict):
        status["selector"] = to_text(selector.get("matchLabels") or {})
    spec = {}
    replicas = get_path(obj, paths.spec_replicas)
    if replicas:
        spec["replicas"] = replicas
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {field: metadata[field] for field in kept if field in metadata},
        "spec": spec,
        "status": status,
    }


def require_replicas(obj: Object, strategy: Strategy) -> None:
    """Refuse to show the scale of an object that does not say how many replicas it wants (500)."""
    assert strategy.scale_paths is not None
    path = strategy.scale_paths.spec_replicas
    if get_path(obj, path) is None:
        because = f'the spec replicas field ".{path}" does not exist'
        raise ApiError(
            500,
            "InternalError",
            f"Internal error occurred: {because}",
            {"causes": [{"message": because}]},
        )


def scaled(obj: Object, scale: Object, strategy: Strategy) -> dict[str, Any]:
    """The object with as many replicas wanted as the Scale says; 422 if fewer than none."""
    assert strategy.scale_paths is not None
    if scale.get("kind", "Scale") != "Scale":
        raise ApiError(
            400, "BadRequest", f"expected a Scale for the scale subresource, got {scale['kind']}"
        )
    replicas = get_path(scale, "spec.replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        error = value_invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid("Scale.autoscaling", obj["metadata"]["name"], [error])
    changed = with_path(obj, strategy.scale_paths.spec_replicas, replicas)
    claimed = (scale.get("metadata") or {}).get("resourceVersion")
    if claimed:
        changed["metadata"] = {**changed["metadata"], "resourceVersion": claimed}
    return changed
