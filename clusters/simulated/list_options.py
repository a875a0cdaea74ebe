"""Options for the revision of a list: allowed values, and contradictions."""

from __future__ import annotations

from typing import Final

from clusters.simulated.field_errors import FieldError, forbidden, invalid, not_supported
from clusters.simulated.revisions import no_revision
from vocabulary.errors import ApiError
from vocabulary.requests import List

EXACT: Final = "Exact"
ANY: Final = "0"
"""The resourceVersion of a list that may be of any revision."""
_NOT_OLDER: Final = "NotOlderThan"


def check_list_options(request: List, *, chooses_initial_events: bool = False) -> None:
    """Refuse a list whose revision, match and page cannot go together (422 or 400)."""
    match, revision = request.resource_version_match, request.resource_version
    errors: list[FieldError] = []
    field = "resourceVersionMatch"
    if match and not revision:
        because = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        errors.append(forbidden(field, because))
    if match and request.continue_:
        because = "resourceVersionMatch is forbidden when continue is provided"
        errors.append(forbidden(field, because))
    if match not in ("", EXACT, _NOT_OLDER):
        errors.append(not_supported(field, match, (EXACT, _NOT_OLDER, "")))
    if match == EXACT and revision == ANY:
        because = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        errors.append(forbidden(field, because))
    if chooses_initial_events:
        because = "sendInitialEvents is forbidden for list"
        errors.append(forbidden("sendInitialEvents", because))
    if errors:
        raise invalid("ListOptions.meta.k8s.io", "", errors)
    if request.continue_ and revision not in ("", ANY):
        raise _bad("specifying resource version is not allowed when using continue")
    because = no_revision(revision) if revision else ""
    if because:
        raise _bad(f"invalid resource version: {because}")


def check_watch_options(
    chooses_initial_events: bool, match: str, continue_: str, revision: str
) -> None:
    """Refuse a watch whose options cannot go together (422)."""
    if not match and not chooses_initial_events and revision in ("", ANY):
        # Such a watch begins with the existing objects: the server sets both options.
        chooses_initial_events, match = True, _NOT_OLDER
    errors: list[FieldError] = []
    field = "resourceVersionMatch"
    if chooses_initial_events and match != _NOT_OLDER:
        because = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(forbidden(field, because))
    if match and not chooses_initial_events:
        because = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(forbidden(field, because))
    if match not in ("", _NOT_OLDER):
        errors.append(not_supported(field, match, (_NOT_OLDER,)))
    if match and continue_:
        because = "resourceVersionMatch is forbidden when continue is provided"
        errors.append(forbidden(field, because))
    if errors:
        raise invalid("ListOptions.meta.k8s.io", "", errors)


def _bad(because: str) -> ApiError:
    return ApiError(400, "BadRequest", because)
