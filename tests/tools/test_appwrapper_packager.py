"""appwrapper-packager: the guide's sample, all of YAML that users have, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlbatch_tools.appwrapper_packager import package
from mlbatch_tools.manifests import read_file
from mlbatch_tools.pytorch_generator.generate import app_wrapper
from mlbatch_tools.pytorch_generator.values import read_values
from reference_controller.appwrapper.admission import validate
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.runtime.admission_review import UserInfo
from tests.cli.command import assay

HERE = Path(__file__).parent
SAMPLE = HERE / "manifests" / "sample-pod.yaml"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
PLAIN_POD = yaml.safe_load(POD)


def packed(text: str | bytes, folder: Path, name: str = "aw") -> dict[str, Any]:
    """The AppWrapper of a file with this text, read as any YAML is."""
    file = folder / "given.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    written = package([file], name, "default-queue").text
    wrapper: dict[str, Any] = yaml.safe_load(written)
    return wrapper


def templates(text: str | bytes, folder: Path) -> list[Any]:
    return [each["template"] for each in packed(text, folder)["spec"]["components"]]


def test_the_guides_pod_is_wrapped_as_the_guide_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    output = tmp_path / "wrapped-pod.yaml"
    command = ("tools", "appwrapper-packager", "-i", SAMPLE, "-n", "wrapped-pod", "-o", output)
    ended = assay(monkeypatch, capsys, *command)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert output.read_text() == (HERE / "expected" / "wrapped-pod.yaml").read_text()


SCRIPT = "set -e\n\necho one\n\n\necho two\n"
CONFIG_MAP = f"""\
# only a comment
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: scripts}}  # kept
data:
  run.sh: |
    {SCRIPT.replace(chr(10), chr(10) + "    ").rstrip()}
  kept: |+
    a

---
{POD}"""


def test_block_scalars_keep_their_empty_lines_and_comments_stay(tmp_path: Path) -> None:
    config, pod = templates(CONFIG_MAP, tmp_path)
    assert config["data"] == {"run.sh": SCRIPT, "kept": "a\n\n"}
    assert pod == PLAIN_POD
    text = package([tmp_path / "given.yaml"], "aw", "default-queue").text
    assert "metadata: {name: scripts}  # kept\n" in text
    assert "only a comment" not in text  # of a document without an object


LIST = {"apiVersion": "v1", "kind": "List", "items": [PLAIN_POD]}
PODS = {
    "apiVersion": "v1",
    "kind": "PodList",
    "items": [{k: PLAIN_POD[k] for k in ("metadata", "spec")}],
}


@pytest.mark.parametrize(
    "text",
    [
        POD.replace("\n", "\r\n"),
        "\ufeff" + POD,
        "%YAML 1.1\n---\n" + POD + "...\n",
        "# first\n%YAML 1.2\n---\n" + POD + "...\n# end\n",
        POD.replace("\n", "\r"),
        "---\n---\n" + POD + "---\n# end\n",
        "--- # first\n" + POD,
        "\n\n" + POD.removesuffix("\n"),
        "--- " + json.dumps(PLAIN_POD),
        json.dumps(PLAIN_POD, indent="\t"),
        json.dumps(LIST),
        yaml.safe_dump(LIST),
        yaml.safe_dump(PODS),
        json.dumps([PLAIN_POD]),
    ],
)
def test_a_pod_is_a_pod_however_it_is_written(text: str, tmp_path: Path) -> None:
    assert templates(text, tmp_path) == [PLAIN_POD]


def test_text_that_readers_of_yaml_take_differently_is_quoted(tmp_path: Path) -> None:
    words = ["1e3", "yes", "0o17", "012", "1_000", "null", "~", "12:30", "- a", "a: b", "x\ty"]
    text = json.dumps(
        {**PLAIN_POD, "apiVersion": "a/v1", "data": {each: each for each in words}}
    ) + json.dumps(PLAIN_POD)
    written = package([_written(tmp_path, text)], "aw", "").text
    for word in words:
        assert f"{json.dumps(word)}: {json.dumps(word)}\n" in written
    assert "kueue.x-k8s.io" not in written


def test_names_that_readers_of_yaml_take_differently_are_quoted_too(tmp_path: Path) -> None:
    text = POD.replace("name: p", "name: p, namespace: 'no'")
    metadata = packed(text, tmp_path, name="1e3")["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("1e3", "no")
    gang = {"apiVersion": "a/v1", "kind": "Gang", "metadata": {"name": "g"}}
    odd = json.dumps({**gang, "a: #b": {"template": {"spec": {"containers": []}}}})
    (component,) = packed(odd, tmp_path)["spec"]["components"]
    assert component["podSets"] == [{"path": "template.a: #b.template", "replicas": 1}]


def _written(folder: Path, text: str) -> Path:
    file = folder / "given.yaml"
    file.write_text(text)
    return file


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]) | st.just("\n"))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_STYLES = st.sampled_from([None, '"', "'", "|", ">"])


@given(
    data=st.lists(st.dictionaries(_TEXT, _VALUES, max_size=4), min_size=1, max_size=3),
    style=_STYLES,
    flow=st.sampled_from([None, True, False]),
    indent=st.integers(2, 9),
    as_list=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_components_say_what_the_documents_said(
    data: list[dict[str, Any]],
    style: str | None,
    flow: bool | None,
    indent: int,
    as_list: bool,
    line_end: str,
    tmp_path: Path,
) -> None:
    objects = [
        {"apiVersion": "a/v1", "kind": "Any", "metadata": {"name": f"c{index}"}, "data": each}
        for index, each in enumerate(data)
    ] + [PLAIN_POD]
    documents = [{"apiVersion": "v1", "kind": "List", "items": objects}] if as_list else objects
    text = yaml.safe_dump_all(
        documents,
        default_style=style,
        default_flow_style=flow,
        indent=indent,
        allow_unicode=True,
        width=40,
    )
    file = tmp_path / "given.yaml"
    file.write_bytes(text.replace("\n", line_end).encode())
    meant = [found.obj for found in read_file(file)]
    wrapper = tmp_path / "aw.yaml"
    wrapper.write_text(package([file], "aw", "default-queue").text)
    ((found, _),) = read_file(wrapper)
    assert [each["template"] for each in found["spec"]["components"]] == meant


def test_pod_sets_are_declared_for_kinds_that_the_controller_does_not_know(tmp_path: Path) -> None:
    groups = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g"},
        "spec": {
            "replicas": 3,
            "leaderWorkerTemplate": {
                "workerTemplate": {"spec": {"containers": [{"name": "c", "image": "i"}]}}
            },
        },
    }
    text = json.dumps(PLAIN_POD) + json.dumps(groups)
    pod, group = packed(text, tmp_path)["spec"]["components"]
    assert "podSets" not in pod
    assert group["podSets"] == [
        {"path": "template.spec.leaderWorkerTemplate.workerTemplate", "replicas": 3}
    ]
    remarks = package([tmp_path / "given.yaml"], "aw", "").remarks
    assert len(remarks) == 2
    assert "the guide does not list this kind" in remarks[0]
    assert "3 pods are taken to come from template.spec.leaderWorkerTemplate" in remarks[1]


def test_the_reference_admits_what_the_tools_write(tmp_path: Path) -> None:
    """Of kinds that it knows, and of others by the podSets that are declared."""
    pod = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    specs = {
        ("batch/v1", "Job"): {"parallelism": 2, "template": pod},
        ("batch/v1", "CronJob"): {"jobTemplate": {"spec": {"parallelism": 3, "template": pod}}},
        ("apps/v1", "StatefulSet"): {"replicas": 2, "template": pod},
        ("ray.io/v1", "RayCluster"): {
            "headGroupSpec": {"template": pod},
            "workerGroupSpecs": [{"replicas": 2, "numOfHosts": 2, "template": pod}],
        },
        ("example.com/v1", "Gang"): {"roles": [{"replicas": 2, "template": pod}]},
    }
    objects = [
        {"apiVersion": version, "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}
        for (version, kind), spec in specs.items()
    ]
    wrapper = packed("".join(map(json.dumps, objects)), tmp_path)
    declared = {
        each["template"]["kind"]: each["podSets"]
        for each in wrapper["spec"]["components"]
        if "podSets" in each
    }
    assert declared == {
        "CronJob": [{"path": "template.spec.jobTemplate.spec.template", "replicas": 3}],
        "Gang": [{"path": "template.spec.roles[0].template", "replicas": 2}],
    }
    values, _ = read_values(HERE / "manifests" / "train-values.yaml")
    for made in (wrapper, app_wrapper(values, "v")):
        config = OperatorConfig(user_rbac_admission_check=False)
        assert validate("CREATE", made, None, UserInfo("ann"), config) == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\tb: c", "FILE:2:1: is not YAML: found character"),
        ("- 1", "FILE[0]: is int, no object; write a mapping"),
        ("# nothing", "there is no object to wrap"),
        ("kind: Pod", "FILE: apiVersion is None; write that of a Kubernetes object"),
        ("{apiVersion: v1, kind: Pod}", "FILE: Pod : metadata.name is missing"),
        (POD.replace("{name: p}", "{name: p, uid: u}"), "FILE: Pod p: metadata.uid is that of"),
        (
            "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {name: a}}",
            "FILE: AppWrapper a: kind is AppWrapper, and one cannot be nested in another",
        ),
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: a}}",
            "FILE: Namespace a: kind is Namespace, which is in no namespace",
        ),
        (
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
            "the objects have 0 pod templates; Kueue admits 1 to 8 in one AppWrapper",
        ),
        ("---\n".join([POD] * 2), "FILE[1]: Pod p is in FILE[0] too"),
        (
            "---\n".join(POD.replace("name: p", f"name: p, namespace: {n}") for n in "ab"),
            "the objects are of the namespaces a, b; an AppWrapper's components are all in its own",
        ),
        (
            POD.replace("kind: Pod", "kind: Group").replace("spec:", "spec: {replicas: x}\nof:"),
            "FILE: Group p: spec.replicas is 'x'; write a whole number",
        ),
        (
            POD.replace("image", "imge"),
            "FILE: Pod p: spec.containers[0].imge is an unknown field; did you mean image?",
        ),
        (
            POD.replace("image: i", "command: [a]"),
            "FILE: Pod p: spec.containers[0].image is missing; write one",
        ),
        (
            POD.replace("image: i", "image: i, tty: 'yes'"),
            "FILE: Pod p: spec.containers[0].tty is 'yes'; write true or false",
        ),
        (
            POD.replace("image: i", "image: i, command: run"),
            "FILE: Pod p: spec.containers[0].command is 'run'; write a list",
        ),
        (
            POD.replace("image: i", "image: i, env: [{name: A, value: 1}]"),
            "FILE: Pod p: spec.containers[0].env[0].value is 1; write text, in quotes",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nimage: i\nspec: {containers: []}",
            "FILE: Pod p: image is an unknown field; remove it, or correct its name or level",
        ),
        (
            "apiVersion: example.com/v1\nkind: Gang\nmetadata: {name: g}\nspec: {roles: ["
            "{other: 1, template: {spec: {containers: [{name: c, image: i, imag: j}]}}}]}",
            "FILE: Gang g: spec.roles[0].template.spec.containers[0].imag is an unknown field",
        ),
        ("a: &b 1\nc: *b", "FILE:1:4: anchor &b is not allowed; write the value out"),
    ],
)
def test_what_no_cluster_would_take_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = _written(tmp_path, text)
    with pytest.raises(ValueError, match=r".") as raised:
        package([file], "aw", "")
    assert str(raised.value).replace(str(file), "FILE").startswith(message)


def test_a_tab_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="write spaces for the tab"):
        packed("a:\n\tb: c", tmp_path)


def test_an_input_is_never_overwritten(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = _written(tmp_path, POD)
    ended = assay(monkeypatch, capsys, "tools", "appwrapper-packager", "-i", file, "-o", file)
    assert (ended.code, file.read_text()) == (2, POD)
    assert ended.err == f"assay: {file} is an input; name another file with --output\n"
    ended = assay(monkeypatch, capsys, "tools", "appwrapper-packager", "-i", file, "-n", "A b")
    assert (ended.code, ended.err.partition(";")[0]) == (2, "assay: --name is 'A b'")
