"""The report: what a suite found, as data first, and then as pages, tables and files.

A tour, in the order of the data:

- `run_result`: what the runner hands over, one struct per run.
- `conformance_report`: the report as types; `schema` makes the JSON schema of them.
- `build`: run results → report. Pure; sorts everything; equal runs give equal bytes.
- `failures`: the violations in it, the easiest of each claim first.
- `yaml_text`: the report's YAML, written and read.
- `folder`: the layout of the output folder; writes all of it.
- `verify`: a stored report against its own histories, judged again by today's checkers.

Renderings, none of which knows more than the data:

- `text`: the failure block and the tables of the terminal.
- `pages`: offline HTML, an index and a page per failure.
- `junit`, `allure`: for the tools that read those.

Below them, `untrusted` makes text from a cluster safe to print.
"""
