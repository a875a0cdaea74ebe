// An operator on controller-runtime: each Backup gets a Job, which is deleted a week after its end;
// the status of the Backup follows.
package main

import (
	"context"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const week = 7 * 24 * 3600

var kind = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Backup"}

func backup() *unstructured.Unstructured {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kind)
	return found
}

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	owner := backup()
	if err := r.Get(ctx, request.NamespacedName, owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	phase, _, _ := unstructured.NestedString(owner.Object, "status", "phase")
	job := &batchv1.Job{}
	err := r.Get(ctx, request.NamespacedName, job)
	switch {
	case apierrors.IsNotFound(err) && (phase == "Done" || phase == "Expired"):
		return ctrl.Result{}, r.report(ctx, owner, phase, "Expired")
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, client.IgnoreAlreadyExists(r.Create(ctx, jobFor(owner)))
	case err != nil:
		return ctrl.Result{}, err
	case job.Status.Succeeded > 0:
		return ctrl.Result{}, r.report(ctx, owner, phase, "Done")
	}
	return ctrl.Result{}, r.report(ctx, owner, phase, "Running")
}

func (r *reconciler) report(
	ctx context.Context, owner *unstructured.Unstructured, before, after string,
) error {
	if before == after {
		return nil
	}
	if err := unstructured.SetNestedField(owner.Object, after, "status", "phase"); err != nil {
		return err
	}
	return r.Status().Update(ctx, owner)
}

func jobFor(owner *unstructured.Unstructured) *batchv1.Job {
	after := int32(week)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            owner.GetName(),
			Namespace:       owner.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: &after,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name: "backup", Image: "example.dev/backup", Command: []string{"sleep", "60"},
				}},
			}},
		},
	}
}

func main() {
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  clientgoscheme.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		panic(err)
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(backup()).Owns(&batchv1.Job{}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		panic(err)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
