"""The report: what a suite found, as data first, and then as pages, tables and files.

A tour, in the order of the data:

- `run_result`: what the runner hands over, one struct per run.
- `conformance_report`: the report as types; `schema` makes the JSON schema of them.
- `build`: run results → report. Pure; sorts everything; equal runs give equal bytes.
- `failures`: the violations in it, the easiest of each claim first.
- `uneventful`: the runs of campaigns of which nothing has to be reported: counted, not kept.
- `stored_report`: the report as its file has it, each run once.
- `yaml_text`: the report's YAML, written and read.
- `folder`: the layout of the output folder; writes all of it.
- `stored_run`: a run as far as its stored history tells it, judged again.
- `verify`: a stored report against its own histories, judged again by today's checkers.
- `rejudge`: a stored report made anew, by today's checkers.
- `comparison`: two reports, claim by claim: what a change gained, and what it lost.
- `submission`: a folder to hand in, with all that it takes to verify it.

Renderings, none of which knows more than the data:

- `end_diff`: the end of a run beside the undisturbed one, where claims compare them.
- `text`: the failure block and the tables of the terminal.
- `pages`: offline HTML, an index and a page per failure.
- `html`: the same pages of a stored report.
- `comparison_text`, `comparison_markdown`, `comparison_json`: a comparison for the terminal, for a
  pull request, and for programs.
- `junit`, `allure`, `sonobuoy`: for the tools that read those.
- `ai_conformance`: what a run says of the Kubernetes AI conformance checklist.

Below them, `untrusted` makes text from a cluster safe to print, and `counted` counts things.
"""
