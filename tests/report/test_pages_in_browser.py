"""The HTML pages in headless Chromium: the script runs, keys step, hostile text stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.report.build import build_report
from conformance.report.folder import write_folder
from conformance.report.pages.failure_page import failure_page
from conformance.report.run_result import RunResult
from tests.report.browser import Browser, find_chromium
from tests.report.hostile import HOSTILE, hostile_run
from tests.report.sample_claims import CLAIMS, QUOTA
from tests.report.sample_run import failing_run, sample_suite

pytestmark = pytest.mark.browser

WIDTHS = (1400, 420)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("needs Chromium: install the package chromium")
    with Browser(program) as running:
        yield running


def _page_of(run: RunResult, folder: Path) -> Path:
    path = folder / "page.html"
    text = failure_page([(QUOTA, run.verdicts[0])], run, command="assay replay .assay/aw-015.yaml")
    path.write_text(text, encoding="utf-8")
    return path


def _selected(browser: Browser) -> int:
    return int(browser.evaluate("document.documentElement.dataset.selected"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_draws_its_lanes_and_its_script_runs_without_complaint(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    page = _page_of(failing_run(), tmp_path)
    browser.open(page, width=width, dark=dark)
    assert browser.problems == []
    assert browser.requests == [page.as_uri()]
    assert browser.evaluate("document.querySelectorAll('.lane').length") >= 20
    assert browser.evaluate("document.querySelectorAll('.band rect').length") >= 40
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) is dark


def test_the_page_begins_at_the_contradiction_with_its_lane_and_cursor_in_view(
    browser: Browser, tmp_path: Path
) -> None:
    run = failing_run()
    browser.open(_page_of(run, tmp_path), width=420)
    assert _selected(browser) == run.verdicts[0].violations[0].at
    assert browser.evaluate(
        "(() => { const box = document.querySelector('.lanes').getBoundingClientRect();"
        "const at = document.getElementById('cursor').getBoundingClientRect();"
        "return at.left > box.left && at.right < box.right; })()"
    )


def test_on_a_narrow_screen_nothing_of_a_page_lies_beyond_its_edge(
    browser: Browser, tmp_path: Path
) -> None:
    suite = sample_suite()
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    files = write_folder(tmp_path / "out", suite, report, CLAIMS)
    for path, boxes in ((files.failures[0].page, ".lines, .replay code"), (files.index, ".tests")):
        assert path is not None
        browser.open(path, width=420)
        browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert browser.evaluate(f"document.querySelectorAll('{boxes}').length") > 0
        hidden = f"[...document.querySelectorAll('{boxes}')]"
        hidden += ".filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
        assert browser.evaluate(hidden) == []


def test_no_text_of_the_quota_lane_stands_upon_another(browser: Browser, tmp_path: Path) -> None:
    browser.open(_page_of(failing_run(), tmp_path))
    texts = (
        "[...document.querySelectorAll('svg[aria-label=\"quota / used\"] text')]"
        ".map(text => text.getBoundingClientRect())"
    )
    assert browser.evaluate(f"{texts}.length") >= 2
    assert browser.evaluate(
        f"{texts}.every((a, n, all) => all.every((b, m) => n >= m || a.bottom <= b.top + 1"
        " || b.bottom <= a.top + 1 || a.right <= b.left || b.right <= a.left))"
    )


def test_keys_step_event_by_event_and_stop_at_the_ends(browser: Browser, tmp_path: Path) -> None:
    run = failing_run()
    violation = run.verdicts[0].violations[0]
    browser.open(_page_of(run, tmp_path))
    browser.press("j")
    assert _selected(browser) == violation.at + 1
    browser.press("ArrowLeft")
    browser.press("k")
    assert _selected(browser) == violation.at - 1
    browser.press("Home")
    browser.press("k")
    assert _selected(browser) == 0
    browser.press("End")
    browser.press("ArrowRight")
    assert _selected(browser) == len(run.entries) - 1
    browser.press("v")
    assert _selected(browser) == violation.at
    browser.press("e")
    assert _selected(browser) == violation.evidence[0]


def test_the_selected_event_is_spoken_marked_and_its_changes_open_on_a_key(
    browser: Browser, tmp_path: Path
) -> None:
    browser.open(_page_of(failing_run(), tmp_path))
    assert "QuotaReserved True → False" in browser.evaluate(
        "document.getElementById('line').textContent"
    )
    assert browser.evaluate("document.getElementById('diff').hidden")
    browser.press("d")
    changes = browser.evaluate("document.getElementById('diff').innerText")
    assert "status.conditions[QuotaReserved].status" in changes
    assert browser.evaluate("document.querySelectorAll('tr[aria-current]').length") == 1


def test_an_address_with_an_event_opens_the_page_there(browser: Browser, tmp_path: Path) -> None:
    browser.open(_page_of(failing_run(), tmp_path), hash_="#e12")
    assert _selected(browser) == 12


def test_a_click_on_a_lane_selects_the_nearest_event(browser: Browser, tmp_path: Path) -> None:
    browser.open(_page_of(failing_run(), tmp_path))
    browser.evaluate(
        "(() => { const track = document.querySelectorAll('.lane:not(.axis) .track')[2];"
        "const box = track.getBoundingClientRect();"
        "track.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + 1,"
        "clientY: box.top + 2})); })()"
    )
    assert _selected(browser) == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_cluster_wrote_stays_text_in_every_place(
    browser: Browser, tmp_path: Path, text: str
) -> None:
    run = hostile_run(text)
    suite = sample_suite(run)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    files = write_folder(tmp_path / "out", suite, report, CLAIMS)
    page = files.failures[0].page
    assert page is not None
    for path in (page, files.index):
        browser.open(path)
        browser.press("d")
        for _ in range(3):
            browser.press("j")
        assert browser.problems == []
        assert browser.requests == [path.as_uri()]
        assert browser.evaluate("window.hacked === undefined")
        assert browser.evaluate("document.querySelectorAll('img, iframe, b[id]').length") == 0
        assert browser.evaluate("document.scripts.length") == 2, "the page's own, and its data"


def test_the_index_filters_claims_by_word_and_outcome(browser: Browser, tmp_path: Path) -> None:
    suite = sample_suite()
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    files = write_folder(tmp_path / "out", suite, report, CLAIMS)
    browser.open(files.index)
    assert browser.problems == []
    shown = "Number(document.documentElement.dataset.shown)"
    assert browser.evaluate(shown) == len(report.claims)
    assert _filter(browser, "outcome", "failed") == 1
    assert _filter(browser, "outcome", "") == len(report.claims)
    assert _filter(browser, "text", "retrypauseperiod must") == 1
    browser.open(files.index, hash_="#outcome=inconclusive")
    assert browser.evaluate(shown) == 1
    browser.open(files.index, hash_="#AW-015")
    assert browser.evaluate("document.getElementById('AW-015').open")


def _filter(browser: Browser, name: str, value: str) -> Any:
    return browser.evaluate(
        f"(() => {{ const field = document.getElementById('filters').elements['{name}'];"
        f"field.value = '{value}'; field.dispatchEvent(new Event('input', {{bubbles: true}}));"
        "return Number(document.documentElement.dataset.shown); })()"
    )


def test_a_page_of_a_passed_verdict_has_no_contradiction_to_jump_to(
    browser: Browser, tmp_path: Path
) -> None:
    run = failing_run()
    passed = run.verdicts[1]
    path = tmp_path / "passed.html"
    path.write_text(
        failure_page([(CLAIMS[passed.claim], passed)], run, command="assay check x"),
        encoding="utf-8",
    )
    browser.open(path)
    assert browser.problems == []
    assert browser.evaluate("document.getElementById('to-violation').hidden")


def test_an_empty_history_still_gives_a_page(browser: Browser, tmp_path: Path) -> None:
    run = failing_run()
    empty = msgspec.structs.replace(run, entries=())
    browser.open(_page_of(empty, tmp_path))
    assert browser.problems == []
