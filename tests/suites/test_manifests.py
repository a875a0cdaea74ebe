"""Manifests of scenarios: what other readers of YAML take silently is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.manifests import load_manifests
from vocabulary.safe_yaml import YamlError

STORY = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: fail-jobset-example
spec:
  replicatedJobs:
  - name: buggy-job
    template:
      spec:
        template:
          spec:
            containers:
            - name: main
              image: bash:latest
              image: docker.io/library/bash:5
"""


def test_a_key_that_occurs_twice_is_refused_with_the_line_of_the_second(tmp_path: Path) -> None:
    path = tmp_path / "story1.yaml"
    path.write_text(STORY)
    with pytest.raises(YamlError, match=r"story1\.yaml:15:15: key 'image' occurs twice"):
        load_manifests(path)


def test_a_manifest_without_the_second_image_is_read(tmp_path: Path) -> None:
    path = tmp_path / "story1.yaml"
    path.write_text(STORY.replace("              image: bash:latest\n", ""))
    (found,) = load_manifests(path)
    assert found["metadata"]["name"] == "fail-jobset-example"
