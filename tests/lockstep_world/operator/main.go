// Answers each ConfigMap named "ask-X" with one named "answer-X", a while after it has seen it.
// Names of what it creates end in SUFFIX, so that several of them do not meet.
//
// It lists and watches as clients of Kubernetes do, tries again a second after a failure, ends when
// asked for "ask-end", and admits ConfigMaps by a webhook that labels them, which takes a second
// for one named "slow", a minute for "stuck", and for "informed" until it has seen "ask-first"; asked about one named "pair", it creates two Secrets at once first. On SIGTERM it creates "goodbye" a second later, and ends; after it was
// asked for "ask-stay", it goes on. Asked for "ask-block", it has a goroutine in a system call for
// good, and for "ask-work", a process that works for seconds. "ask-file" it answers if a file of a
// constant name in /tmp is its own, and "ask-port" if a constant port is. Asked for "ask-call-X", it calls the Service X once a minute until that answers.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

var (
	server = os.Getenv("SERVER")
	path   = server + "/api/v1/namespaces/default/"
	suffix = os.Getenv("SUFFIX")
	wait   time.Duration
	seen   = map[string]bool{}
)

func main() {
	var err error
	if wait, err = time.ParseDuration(os.Getenv("WAIT")); err != nil {
		panic(err)
	}
	go serve()
	go end()
	for {
		if err := follow(); err != nil {
			fmt.Println("again:", err)
		}
		time.Sleep(time.Second)
	}
}

func end() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
	if seen["ask-stay"] {
		return
	}
	time.Sleep(time.Second)
	create("ConfigMap", "goodbye")
	os.Exit(0)
}

func serve() {
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {})
	http.HandleFunc("/label", func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID    string         `json:"uid"`
				Object map[string]any `json:"object"`
			} `json:"request"`
		}
		json.NewDecoder(r.Body).Decode(&review)
		metadata := review.Request.Object["metadata"].(map[string]any)
		response := map[string]any{"uid": review.Request.UID, "allowed": true}
		switch metadata["name"] {
		case "slow":
			time.Sleep(time.Second)
		case "stuck":
			time.Sleep(time.Minute)
		case "informed":
			for !seen["ask-first"] {
				time.Sleep(time.Millisecond)
			}
		case "pair":
			var both sync.WaitGroup
			for _, name := range []string{"first", "second"} {
				both.Add(1)
				go func() {
					defer both.Done()
					create("Secret", name)
				}()
			}
			both.Wait()
		}
		switch {
		case strings.HasPrefix(metadata["name"].(string), "bad"):
			response["allowed"] = false
			response["status"] = map[string]any{"code": 422, "message": "a bad name"}
		case metadata["labels"] == nil:
			patch := `[{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]`
			response["patchType"] = "JSONPatch"
			response["patch"] = base64.StdEncoding.EncodeToString([]byte(patch))
		}
		json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response,
		})
	})
	folder := os.Getenv("CERTIFICATES")
	go func() {
		late, _ := time.ParseDuration(os.Getenv("WEBHOOKS_AFTER"))
		time.Sleep(late)
		http.ListenAndServeTLS(
			"127.0.0.1:"+os.Getenv("WEBHOOK_PORT"), folder+"/tls.crt", folder+"/tls.key", nil)
	}()
	http.ListenAndServe("127.0.0.1:"+os.Getenv("HEALTH_PORT"), nil)
}

func follow() error {
	var list struct {
		object
		Items []object `json:"items"`
	}
	if err := get(path+"configmaps", &list); err != nil {
		return err
	}
	for _, each := range list.Items {
		consider(each.Metadata.Name)
	}
	reply, err := http.Get(path + "configmaps?watch=1&resourceVersion=" + list.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	for decoder := json.NewDecoder(reply.Body); ; {
		var event struct {
			Type   string `json:"type"`
			Object object `json:"object"`
		}
		if err := decoder.Decode(&event); err != nil {
			return err
		}
		if event.Type == "ADDED" {
			consider(event.Object.Metadata.Name)
		}
	}
}

func consider(name string) {
	asked, found := strings.CutPrefix(name, "ask-")
	if !found || seen[name] {
		return
	}
	seen[name] = true
	switch asked {
	case "block":
		var ends [2]int
		syscall.Pipe(ends[:])
		go syscall.Read(ends[0], make([]byte, 1))
	case "file":
		file, err := os.OpenFile("/tmp/operator", os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			fmt.Println(err)
			return
		}
		file.Close()
	case "port":
		if _, err := net.Listen("tcp", ":18080"); err != nil {
			fmt.Println(err)
			return
		}
	case "namespace":
		own, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
		if err != nil {
			fmt.Println(err)
			return
		}
		asked = string(own)
	case "work":
		go exec.Command("sleep", "3").Run()
	case "end":
		fmt.Println("as asked", server, ":"+os.Getenv("HEALTH_PORT"), os.Getenv("CERTIFICATES"))
		os.Exit(7)
	}
	go func() {
		if service, found := strings.CutPrefix(asked, "call-"); found {
			for !call("http://" + service + ":8265/api/jobs/") {
				time.Sleep(time.Minute)
			}
		}
		if target, found := strings.CutPrefix(asked, "proxy-"); found {
			kind, target, _ := strings.Cut(target, ".")
			url := path + kind + "/" + strings.Replace(target, ".", ":", 1) + "/proxy/api/jobs/"
			for err := get(url, new([]any)); err != nil; err = get(url, new([]any)) {
				fmt.Println(err)
				time.Sleep(time.Minute)
			}
		}
		for time.Sleep(wait); create("ConfigMap", "answer-"+asked) != nil; time.Sleep(time.Second) {
		}
	}()
}

func call(url string) bool {
	reply, err := http.Get(url)
	if err != nil {
		fmt.Println(err)
		return false
	}
	reply.Body.Close()
	return true
}

func get(url string, into any) error {
	reply, err := http.Get(url)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", reply.Status)
	}
	return json.NewDecoder(reply.Body).Decode(into)
}

func create(kind, name string) error {
	manifest := map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name + suffix},
	}
	if name == "answer-long" {
		manifest["data"] = map[string]any{"long": strings.Repeat("long", 230_000)}
	}
	body, _ := json.Marshal(manifest)
	reply, err := http.Post(path+strings.ToLower(kind)+"s", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 500 {
		return fmt.Errorf("%s", reply.Status)
	}
	return nil
}
