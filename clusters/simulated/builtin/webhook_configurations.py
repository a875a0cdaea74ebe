"""MutatingWebhookConfigurations and ValidatingWebhookConfigurations.

They are served where their webhooks are called, see `serve.registered_webhooks`.
"""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from clusters.simulated.builtin.affinity_validation import validate_label_selector
from clusters.simulated.builtin.ports import validate_service_port
from clusters.simulated.custom_resources import uris
from clusters.simulated.field_errors import (
    FieldError,
    duplicate,
    not_supported,
    required,
    too_many,
    value_invalid,
)
from clusters.simulated.names import dns_1035_label, dns_subdomain, qualified_name
from clusters.simulated.strategy import Strategy
from clusters.simulated.webhook_responses import REVIEW_VERSIONS
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import Object

GROUP: Final = "admissionregistration.k8s.io"
MUTATING_CONFIGURATION: Final = Kind(
    GROUP,
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
VALIDATING_CONFIGURATION: Final = Kind(
    GROUP,
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_FORM: Final = "; desired format: https://host[/path]"
_MAX_CONDITIONS: Final = 64
_DEFAULTS: Final[Object] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_Choices: TypeAlias = Sequence[tuple[str, Sequence[str]]]
_CHOICES: Final[_Choices] = (
    ("failurePolicy", ("Fail", "Ignore")),
    ("matchPolicy", ("Equivalent", "Exact")),
    ("sideEffects", ("None", "NoneOnDryRun")),
)
_REINVOCATION: Final[_Choices] = (("reinvocationPolicy", ("IfNeeded", "Never")),)


class WebhookConfigurationStrategy(Strategy):
    has_generation = True
    categories = ("api-extensions",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        webhooks = obj.pop("webhooks", None)
        if webhooks:
            obj["webhooks"] = [self._defaulted(each) for each in webhooks]

    def _defaulted(self, webhook: Object) -> dict[str, Any]:
        filled = {name: value for name, value in webhook.items() if value is not None}
        filled = {**_DEFAULTS, **filled}
        if self.kind == MUTATING_CONFIGURATION:
            filled.setdefault("reinvocationPolicy", "Never")
        rules = filled.pop("rules", None)
        if rules:
            filled["rules"] = [{"scope": "*", **rule} for rule in rules]
        client = filled.get("clientConfig") or {}
        if client.get("service"):
            client = {**client, "service": {"port": 443, **client["service"]}}
        return {**filled, "clientConfig": client}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        """There is nothing that a creator cannot decide."""

    def desires_other(self, new: Object, old: Object) -> bool:
        return new.get("webhooks") != old.get("webhooks")

    def validate(self, obj: Object) -> list[FieldError]:
        webhooks: Sequence[Object] = obj.get("webhooks") or ()
        errors = [
            error
            for index, webhook in enumerate(webhooks)
            for error in _validate(webhook, f"webhooks[{index}]")
        ]
        return [*errors, *_repeated(webhooks, "webhooks")]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)


def _validate(webhook: Object, path: str) -> Iterator[FieldError]:
    name = webhook.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif complaints := dns_subdomain(name):
        yield value_invalid(f"{path}.name", name, ",".join(complaints))
    elif name.count(".") < 2:
        because = "should be a domain with at least three segments separated by dots"
        yield value_invalid(f"{path}.name", name, because)
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from _validate_rule(rule, f"{path}.rules[{index}]")
    if webhook.get("sideEffects") is None:
        yield required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
    yield from _validate_choices(webhook, _CHOICES, path)
    seconds = webhook["timeoutSeconds"]
    if not 1 <= seconds <= 30:
        because = "the timeout value must be between 1 and 30 seconds"
        yield value_invalid(f"{path}.timeoutSeconds", seconds, because)
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_label_selector(webhook.get(field), f"{path}.{field}")
    yield from _validate_choices(webhook, _REINVOCATION, path)
    yield from _validate_client(webhook["clientConfig"], f"{path}.clientConfig")
    yield from _validate_conditions(webhook.get("matchConditions") or (), f"{path}.matchConditions")
    yield from _validate_review_versions(
        webhook.get("admissionReviewVersions") or (), f"{path}.admissionReviewVersions"
    )


def _validate_choices(webhook: Object, choices: _Choices, path: str) -> Iterator[FieldError]:
    for field, words in choices:
        if webhook.get(field) is not None and webhook[field] not in words:
            yield not_supported(f"{path}.{field}", webhook[field], words)


def _validate_rule(rule: Object, path: str) -> Iterator[FieldError]:
    yield from _validate_words(rule, "operations", "operations", path)
    for index, operation in enumerate(rule.get("operations") or ()):
        if operation not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS)
    yield from _validate_words(rule, "apiGroups", "API groups", path)
    yield from _validate_words(rule, "apiVersions", "API versions", path)
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            yield required(f"{path}.apiVersions[{index}]")
    yield from _validate_resources(rule.get("resources") or (), f"{path}.resources")
    if rule["scope"] not in ("*", "Cluster", "Namespaced"):
        yield not_supported(f"{path}.scope", rule["scope"], ("*", "Cluster", "Namespaced"))


def _validate_words(rule: Object, field: str, called: str, path: str) -> Iterator[FieldError]:
    values: Sequence[str] = rule.get(field) or ()
    if not values:
        yield required(f"{path}.{field}")
    if len(values) > 1 and "*" in values:
        because = f"if '*' is present, must not specify other {called}"
        yield value_invalid(f"{path}.{field}", list(values), because)


def _validate_resources(resources: Sequence[str], path: str) -> Iterator[FieldError]:
    """A resource that a wildcard covers must not be named beside it."""
    if not resources:
        yield required(path)
    with_any_subresource: set[str] = set()
    of_any_resource: set[str] = set()
    for index, named in enumerate(resources):
        if not named:
            yield required(f"{path}[{index}]")
        resource, slash, subresource = named.partition("/")
        if not slash:
            continue
        if resource in with_any_subresource:
            because = f"if '{resource}/*' is present, must not specify {named}"
            yield value_invalid(f"{path}[{index}]", named, because)
        if subresource in of_any_resource:
            because = f"if '*/{subresource}' is present, must not specify {named}"
            yield value_invalid(f"{path}[{index}]", named, because)
        if subresource == "*":
            with_any_subresource.add(resource)
        if resource == "*":
            of_any_resource.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        because = "if '*/*' is present, must not specify other resources"
        yield value_invalid(path, list(resources), because)
    if "*" in resources and any("/" not in each for each in resources if each not in ("", "*")):
        because = "if '*' is present, must not specify other resources without subresources"
        yield value_invalid(path, list(resources), because)


def _validate_client(client: Object, path: str) -> Iterator[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _validate_url(url, f"{path}.url")
    else:
        yield from _validate_service(service or {}, f"{path}.service")


def _validate_url(url: str, path: str) -> Iterator[FieldError]:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        because = uris.complaint(url) or str(error)
        yield required(path, f"url must be a valid URL: {because}{_FORM}")
        return
    if parts.scheme != "https":
        yield value_invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not parts.netloc:
        yield value_invalid(path, "", f"host must be specified{_FORM}")
    if parts.username is not None:
        because = "user information is not permitted in the URL"
        yield value_invalid(path, parts.netloc.rpartition("@")[0], because)
    for value, called in ((parts.fragment, "fragments"), (parts.query, "query parameters")):
        if value:
            yield value_invalid(path, value, f"{called} are not permitted in the URL")


def _validate_service(service: Object, path: str) -> Iterator[FieldError]:
    # A real server takes the one for the other.
    for field, blamed in (("namespace", "name"), ("name", "namespace")):
        if not service.get(field):
            yield required(f"{path}.{blamed}")
    yield from validate_service_port(service.get("port", 443), f"{path}.port")
    yield from _validate_path(service.get("path") or "/", f"{path}.path")


def _validate_path(value: str, path: str) -> Iterator[FieldError]:
    if value == "/":
        return
    if not value.startswith("/"):
        yield value_invalid(path, value, "must start with a '/'")
    for index, segment in enumerate(value[1:].removesuffix("/").split("/")):
        if not segment:
            yield value_invalid(path, value, f"segment[{index}] may not be empty")
        for complaint in dns_subdomain(segment) if segment else ():
            yield value_invalid(path, value, f"segment[{index}]: {complaint}")


def _validate_conditions(conditions: Sequence[Object], path: str) -> Iterator[FieldError]:
    if not conditions:
        return
    # The library takes longer to load than a cluster to start.
    from clusters.simulated.match_conditions import refusal

    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(path, len(conditions), _MAX_CONDITIONS)
    for index, condition in enumerate(conditions):
        text = (condition.get("expression") or "").strip()
        if not text:
            yield required(f"{path}[{index}].expression")
        elif because := refusal(text):
            yield value_invalid(f"{path}[{index}].expression", text, because)
        name = condition.get("name") or ""
        if not name:
            yield required(f"{path}[{index}].name")
        for complaint in qualified_name(name) if name else ():
            yield value_invalid(f"{path}[{index}].name", name, complaint)
    yield from _repeated(conditions, path)


def _validate_review_versions(versions: Sequence[str], path: str) -> Iterator[FieldError]:
    if not versions:
        yield required(path, f"must specify one of {', '.join(REVIEW_VERSIONS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield value_invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        for complaint in dns_1035_label(version):
            yield value_invalid(f"{path}[{index}]", version, complaint)
    if not set(versions) & set(REVIEW_VERSIONS):
        because = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        yield value_invalid(path, list(versions), because)


def _repeated(named: Iterable[Object], path: str) -> Iterator[FieldError]:
    seen: Counter[str] = Counter()
    for index, each in enumerate(named):
        name = each.get("name") or ""
        if name and seen[name]:
            yield duplicate(f"{path}[{index}].name", name)
        seen[name] += 1
