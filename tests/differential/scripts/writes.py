"""Creating, replacing, patching: identity, versions, conflicts, and what changes nothing."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.plane import GADGET, WIDGET
from tests.differential.predicates import events
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, gadget, job, pod, widget
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, JOB, POD


@script("A new object gets its uid, creation time and version from the server.", ["4.5"])
def create_sets_identity(c: Dialogue) -> None:
    c.create(
        config_map(
            "a",
            {"k": "v"},
            uid="11111111-1111-1111-1111-111111111111",
            creationTimestamp="2001-01-01T00:00:00Z",
            generation=7,
            deletionTimestamp="2001-01-01T00:00:00Z",
            deletionGracePeriodSeconds=5,
        )
    )
    c.get(CONFIG_MAP, "a")


@script("An object cannot be created with a resourceVersion.", ["4.5"])
def create_with_version(c: Dialogue) -> None:
    c.create(config_map("a", resourceVersion="1"))
    c.create(config_map("a", resourceVersion="0"))
    c.get(CONFIG_MAP, "a")


@script("Finalizers and owner references survive creation.", ["4.5"])
def create_keeps_finalizers(c: Dialogue) -> None:
    c.create(config_map("a", finalizers=["tests.assay.dev/hold", "foregroundDeletion"]))
    c.create(config_map("b", finalizers=["orphan"]))
    c.create(config_map("c", finalizers=["orphan", "foregroundDeletion"]))
    c.create(config_map("d", finalizers=["no-domain"]))
    c.create(config_map("e", finalizers=["kubernetes", "kubernetes"]))
    c.create({**widget("f"), "metadata": {"name": "f", "finalizers": ["no-domain"]}})


@script("An existing name is rejected, and its object unchanged.", ["4.4", "4.16"])
def create_twice(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "1"}))
    c.create(config_map("a", {"k": "2"}))
    c.create(widget("a"))
    c.create(widget("a", "large"))
    c.get(CONFIG_MAP, "a")


@script("Recreating a deleted object under its name gives it another uid.", ["4.5", "4.16"])
def recreate_changes_uid(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    c.delete(CONFIG_MAP, "a")
    second = c.create(config_map("a"))
    c.note("the uid is another", first.uid != second.uid)
    c.note("the version is later", int(second.revision) > int(first.revision))


@script("A generated name is its prefix and five characters.", ["4.5"])
def generated_names(c: Dialogue) -> None:
    one = c.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}})
    c.note("five characters", len(one.body["metadata"]["name"]) == len("a-") + 5)
    long = "a" * 60
    two = c.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": long}})
    c.note("length of a long one", len(two.body["metadata"]["name"]))
    c.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "generateName": "x-"}}
    )


@script("Invalid names, labels and annotations are rejected, each error with its field.", ["4.5"])
def invalid_metadata(c: Dialogue) -> None:
    c.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    c.create(config_map("Upper_Case"))
    c.create(config_map("a" * 254))
    c.create(job("a" * 64))
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "1-a"},
            "spec": {"ports": [{"port": 80}]},
        }
    )
    c.create(config_map("a", labels={"bad key!": "v"}))
    c.create(config_map("a", labels={"k": "bad value!"}))
    c.create(config_map("a", annotations={"/": "v"}))
    c.create(config_map("a", {"bad key!": "v"}))
    c.create({**widget("a"), "metadata": {"name": "UPPER", "labels": {"k": "-"}}})


@script("A body with another kind, name or namespace than its path is rejected.", ["4.5"])
def body_against_path(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace)
    c.raw("POST", path, {**config_map("a"), "kind": "Secret"})
    c.raw("POST", path, {**config_map("a"), "apiVersion": "apps/v1"})
    c.raw("POST", path, config_map("a", namespace="elsewhere"))
    c.create(config_map("a"))
    c.raw("PUT", f"{path}/a", config_map("b"))
    c.raw("PUT", f"{path}/a", config_map("a", namespace="elsewhere"))
    c.raw("POST", f"{path}/a", config_map("a"))
    c.raw("PUT", path, config_map("a"))
    c.raw("POST", WIDGET.path(c.namespace), {**widget("a"), "kind": "Gadget"})


@script("An object cannot be created in a namespace that does not exist.", ["4.5"])
def absent_namespace(c: Dialogue) -> None:
    c.raw("POST", CONFIG_MAP.path("nowhere"), config_map("a"))
    c.raw("POST", WIDGET.path("nowhere"), widget("a"))
    c.raw("GET", CONFIG_MAP.path("nowhere"))
    c.raw("DELETE", CONFIG_MAP.path("nowhere", "a"))


@script("Kinds that are not served are not found.", ["4.5"])
def unknown_resources(c: Dialogue) -> None:
    c.raw("GET", "/api/v1/namespaces/default/gizmos")
    c.raw("GET", "/apis/none.example.org/v1/gizmos")
    c.raw("GET", "/apis/tests.assay.dev/v9/widgets")
    c.get(CONFIG_MAP, "absent")
    c.get(WIDGET, "absent")
    c.patch(CONFIG_MAP, "absent", {"data": {}})
    c.update(config_map("absent"))
    c.update(widget("absent"))
    c.delete(JOB, "absent")


@script(
    "A replacement drops omitted fields, and requires the current resourceVersion.", ["4.5", "4.16"]
)
def update_replaces(c: Dialogue) -> None:
    first = c.create(config_map("a", {"k": "1", "l": "2"}, labels={"x": "y"}))
    c.update(config_map("a", {"k": "2"}, resourceVersion=first.revision))
    c.update(config_map("a", {"k": "3"}, resourceVersion=first.revision))
    c.update(config_map("a", {"k": "4"}))
    c.update(config_map("a", {"k": "5"}, uid="11111111-1111-1111-1111-111111111111"))
    c.update(config_map("a", {"k": "6"}, resourceVersion="nonsense"))
    c.get(CONFIG_MAP, "a")


@script("Replacing a custom resource requires its resourceVersion.", ["4.5", "4.16"])
def custom_update_needs_version(c: Dialogue) -> None:
    first = c.create(widget("a"))
    c.update(widget("a", "medium"))
    again = widget("a", "medium")
    again["metadata"]["resourceVersion"] = first.revision
    c.update(again)
    c.update(again)
    again["metadata"]["resourceVersion"] = "0"
    c.update(again)


@script("A no-op write keeps the resourceVersion, and sends no event.", ["4.16"])
def no_op_writes(c: Dialogue) -> None:
    first = c.create(config_map("a", {"k": "v"}))
    c.update(config_map("a", {"k": "v"}))
    c.patch(CONFIG_MAP, "a", {"data": {"k": "v"}})
    c.patch(CONFIG_MAP, "a", {"data": {"k": "v"}}, "strategic")
    c.patch(CONFIG_MAP, "a", [{"op": "replace", "path": "/data/k", "value": "v"}], "json")
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {}}})
    made = c.create(widget("w"))
    same = {**widget("w", replicas=1, nested={"colour": "grey"})}
    same["metadata"]["resourceVersion"] = made.revision
    c.update(same)
    c.patch(CONFIG_MAP, "a", {"data": {"k": "w"}})

    c.watch(CONFIG_MAP, events(1), name="a", since=first.revision)


@script("Identity cannot be changed by an update.", ["4.5"])
def immutable_identity(c: Dialogue) -> None:
    c.create(config_map("a"))
    c.patch(CONFIG_MAP, "a", {"metadata": {"name": "b"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"namespace": "b"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"uid": "11111111-1111-1111-1111-111111111111"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"generation": 9}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"generateName": "x-"}})
    c.patch(CONFIG_MAP, "a", {"kind": "Secret"})
    c.patch(CONFIG_MAP, "a", {"apiVersion": "v2"})
    c.create(widget("w"))
    c.patch(
        WIDGET, "w", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9}}
    )
    c.patch(WIDGET, "w", {"metadata": {"uid": "11111111-1111-1111-1111-111111111111"}})


@script("The generation counts changes of the desired state, and of nothing else.", ["4.16"])
def generation(c: Dialogue) -> None:
    show = ["metadata.generation", "metadata.resourceVersion", "metadata.uid"]
    c.create(widget("a"), show=show)
    c.patch(WIDGET, "a", {"metadata": {"labels": {"k": "v"}}}, show=show)
    c.patch(WIDGET, "a", {"spec": {"size": "large"}}, show=show)
    c.patch(WIDGET, "a", {"status": {"phase": "Busy"}}, subresource="status", show=show)
    c.create(gadget("g"), show=show)
    c.patch(GADGET, "g", {"status": {"phase": "Busy"}}, show=show)
    c.patch(GADGET, "g", {"metadata": {"annotations": {"k": "v"}}}, show=show)
    c.create(
        {**job("j"), "spec": {**job("j")["spec"], "suspend": True, "managedBy": "example.org/x"}},
        show=show,
    )
    c.patch(JOB, "j", {"spec": {"parallelism": 2}}, show=show)
    c.patch(JOB, "j", {"metadata": {"labels": {"k": "v"}}}, show=show)
    c.create(pod("p", schedulerName="nobody"), show=show)
    c.patch(
        POD,
        "p",
        {"spec": {"containers": [{"name": "main", "image": "example.org/other"}]}},
        "strategic",
        show=show,
    )
    c.create(config_map("c", {"k": "v"}), show=show)
    c.patch(CONFIG_MAP, "c", {"data": {"k": "w"}}, show=show)
    c.delete(WIDGET, "a", "Background", show=show)
    c.create(
        {**widget("b"), "metadata": {"name": "b", "finalizers": ["tests.assay.dev/hold"]}},
        show=show,
    )
    c.delete(WIDGET, "b", "Background", show=show)
    c.patch(WIDGET, "b", {"metadata": {"finalizers": None}}, show=show)


@script("Spec and status are written separately if there is a status subresource.", ["4.16"])
def status_isolation(c: Dialogue) -> None:
    c.create({**widget("a"), "status": {"phase": "Busy"}})
    c.patch(WIDGET, "a", {"spec": {"size": "large"}, "status": {"phase": "Busy"}})
    both = {
        "spec": {"size": "small"},
        "metadata": {"labels": {"k": "v"}, "annotations": {"k": "v"}},
        "status": {"phase": "Busy"},
    }
    c.patch(WIDGET, "a", both, subresource="status")
    current = c.get(WIDGET, "a").body
    c.update({**current, "spec": {"size": "medium"}, "status": {"phase": "Idle"}})
    current = c.get(WIDGET, "a").body
    c.update(
        {**current, "spec": {"size": "large"}, "status": {"phase": "Idle"}}, subresource="status"
    )
    c.create({**gadget("g"), "status": {"phase": "Busy"}})
    c.patch(GADGET, "g", {"status": {"phase": "Idle"}}, subresource="status")
    c.create({**pod("p", schedulerName="nobody"), "status": {"phase": "Running"}})
    c.patch(POD, "p", {"status": {"phase": "Running"}})
    c.patch(
        POD,
        "p",
        {
            "status": {"phase": "Running"},
            "spec": {"nodeName": "x"},
            "metadata": {"labels": {"k": "v"}},
        },
        subresource="status",
    )


@script("A dry run responds like a write, and has no effect.", ["4.16"])
def dry_run(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "v"}), dry_run=True)
    c.get(CONFIG_MAP, "a")
    c.create(config_map("a", {"k": "v"}))
    c.patch(CONFIG_MAP, "a", {"data": {"k": "w"}}, dry_run=True)
    c.update(config_map("a", {"k": "x"}), dry_run=True)
    c.delete(CONFIG_MAP, "a", dry_run=True)
    c.get(CONFIG_MAP, "a")


@script("Unknown fields are dropped silently.", ["4.16"])
def unknown_fields(c: Dialogue) -> None:
    c.create({**config_map("a", {"k": "v"}), "unknown": 1})
    c.create({**pod("p", schedulerName="nobody", unknown={"x": 1})})
    c.patch(CONFIG_MAP, "a", {"unknown": {"x": 1}, "data": {"k": "w"}})
    c.raw(
        "POST",
        CONFIG_MAP.path(c.namespace) + "?fieldValidation=Strict",
        {**config_map("b"), "unknown": 1},
    )


@script("Values of the wrong type are rejected.", ["4.16"])
def wrong_types(c: Dialogue) -> None:
    c.create({**config_map("a"), "data": {"k": 1}})
    c.create({**job("a"), "spec": {**job("a")["spec"], "parallelism": "two"}})
    c.create({**widget("a"), "spec": {"size": 3}})
    c.raw("POST", CONFIG_MAP.path(c.namespace), ["a"])


@script("Deployments, Jobs and Pods come back with their defaults filled in.", ["4.16", "5.1"])
def built_in_defaults(c: Dialogue) -> None:
    labels = {"app": "a"}
    template = {
        "metadata": {"labels": labels},
        "spec": {
            "schedulerName": "nobody",
            "containers": [
                {
                    "name": "m",
                    "image": "example.org/a:1",
                    "ports": [{"containerPort": 80}],
                    "env": [
                        {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
                    ],
                    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                }
            ],
            "volumes": [
                {"name": "v", "configMap": {"name": "a"}},
                {"name": "e", "emptyDir": {}},
                {"name": "s", "secret": {"secretName": "a"}},
            ],
        },
    }
    c.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": template["spec"]}
    )
    show = ["spec"]
    c.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a"},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
        },
        show=show,
    )
    c.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "a"},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
        },
        show=show,
    )
    c.create(
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "a"},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
        },
        show=show,
    )
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "a"},
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        },
        show=show,
    )
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "b"},
            "spec": {"clusterIP": "None", "selector": labels},
        },
        show=show,
    )
    c.delete(DEPLOYMENT, "a")


@script("A kind without namespaces is not served in one, and its objects lose one.", ["4.5"])
def namespace_of_cluster_scoped(c: Dialogue) -> None:
    collection = "/apis/scheduling.k8s.io/v1/priorityclasses"
    within = f"/apis/scheduling.k8s.io/v1/namespaces/{c.namespace}/priorityclasses"
    name = "differential-scope"
    obj = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "namespace": "elsewhere"},
        "value": 1,
    }
    c.raw("POST", within, obj, label="create in a namespace")
    c.raw("POST", collection, obj, label="create with a namespace", show=["metadata.namespace"])
    c.raw("GET", f"{within}/{name}", label="get in a namespace")
    c.raw("PUT", f"{collection}/{name}", obj, label="update with a namespace")
    patch = {"metadata": {"namespace": "elsewhere"}}
    merge = "application/merge-patch+json"
    c.raw("PATCH", f"{collection}/{name}", patch, content_type=merge, label="patch a namespace")
    c.raw("PATCH", f"{within}/{name}", patch, content_type=merge, label="patch in a namespace")
    c.raw("DELETE", f"{within}/{name}", label="delete in a namespace")
    c.raw("DELETE", f"{collection}/{name}", label="delete", show=["status"])
