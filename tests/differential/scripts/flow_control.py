"""API priority and fairness: what is there of it, and what responses say of it."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.script import script

GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
SHOWN = ["metadata.uid", "metadata.annotations", "metadata.generation", "spec", "status"]
SCHEMAS = (
    *("exempt", "probes", "system-leader-election", "system-node-high", "system-nodes"),
    *("kube-controller-manager", "kube-scheduler", "kube-system-service-accounts"),
    *("service-accounts", "global-default", "catch-all"),
)
LEVELS = (
    *("exempt", "catch-all", "system", "node-high", "leader-election"),
    *("workload-high", "workload-low", "global-default"),
)


@script(
    "Responses name the FlowSchema and the priority level of their client.", ["4.16"], fair=True
)
def flows(c: Dialogue) -> None:
    for name in SCHEMAS:
        c.raw("GET", f"{GROUP}/flowschemas/{name}", show=SHOWN)
    for name in LEVELS:
        c.raw("GET", f"{GROUP}/prioritylevelconfigurations/{name}", show=SHOWN)
    pods = f"/api/v1/namespaces/{c.namespace}/pods"
    c.raw("GET", pods, label="a list", flow=True, show=["kind"])
    c.raw("GET", f"{pods}/none", label="nothing", flow=True)
    c.raw("POST", pods, {}, label="an invalid object", flow=True, show=["code"])
    c.raw("GET", "/version", label="a path", flow=True, show=["major"])
    c.raw("GET", pods, user="limited", label="a list without rights", flow=True, show=["code"])
    c.raw("GET", "/version", user="limited", label="a path of all", flow=True, show=["major"])
    account = [("Impersonate-User", "system:serviceaccount:kube-system:a")]
    c.raw("GET", pods, sent=account, label="an impersonated one", flow=True, show=["code"])
    c.raw("GET", pods, token="none", label="nobody", flow=True)
