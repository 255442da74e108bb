package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain is a worker, too, of a kind that the environment names.
func TestMain(m *testing.M) {
	switch os.Getenv("MUSTER_TEST_WORKER") {
	case "":
		os.Exit(m.Run())
	case "good":
		c, rest, err := ReadCall(os.Stdin)
		if err != nil {
			panic(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			rest()
			cancel()
		}()
		if c.Tool == "wait" {
			json.NewEncoder(os.Stdout).Encode(message{SoFar: "it waits"})
			<-ctx.Done()
			json.NewEncoder(os.Stdout).Encode(message{Answer: &Answer{Text: "cancelled\n"}})
			return
		}
		explain := func(topic string) (string, error) { return "about " + topic + "\n", nil }
		if err := Work(ctx, c, os.Stdout, explain, func(string) {}); err != nil {
			panic(err)
		}
	case "panics":
		panic("a mistake")
	case "limited":
		fmt.Fprintln(os.Stderr, "muster: incomplete: the memory limit of 5 bytes ran out (--limit-memory), and there is no report; until then: nothing")
		os.Exit(exitIncomplete)
	case "silent":
	case "garbage":
		fmt.Println("{}\nno JSON at all")
		fmt.Fprintln(os.Stderr, "it is broken")
		os.Exit(4)
	case "deaf": // hears of no cancellation
		json.NewEncoder(os.Stdout).Encode(message{SoFar: "one thing"})
		select {}
	}
}

// TestProcess: whatever a call's process does, there is an answer or an error.
func TestProcess(t *testing.T) {
	run := Process(os.Args[0])
	for _, x := range []struct{ worker, text, err string }{
		{"good", "about x\n", ""},
		{"panics", "", "a mistake"},
		{"limited", "incomplete: the memory limit of 5 bytes ran out (the server's --limit-memory), and there is no report; until then: nothing\n", ""},
		{"silent", "", "muster failed"},
		{"garbage", "", "it is broken"},
	} {
		t.Setenv("MUSTER_TEST_WORKER", x.worker)
		a, err := run(t.Context(), "", Call{Tool: "explain", Arguments: json.RawMessage(`{"topic":"x","chars":1000}`), Seconds: 30, Memory: 1 << 30}, func(string) {})
		switch {
		case x.err != "":
			if err == nil || !strings.Contains(err.Error(), x.err) || len(err.Error()) > 5000 {
				t.Errorf("%s: %v", x.worker, err)
			}
		case err != nil || a.Text != x.text:
			t.Errorf("%s: %v, %+v", x.worker, err, a)
		}
	}
	if _, err := Process("/no/such/command")(t.Context(), "", Call{}, func(string) {}); err == nil {
		t.Error("no error of a command that is not there")
	}
}

// TestProcessCancelled: a process that hears of the cancellation answers, one that does not is
// ended, and what it told last stands for its answer.
func TestProcessCancelled(t *testing.T) {
	for worker, want := range map[string]string{"good": "cancelled\n", "deaf": "incomplete: cancelled; until then: one thing\n"} {
		t.Setenv("MUSTER_TEST_WORKER", worker)
		ctx, cancel := context.WithCancel(t.Context())
		a, err := Process(os.Args[0])(ctx, "", Call{Tool: "wait", Seconds: 600, Memory: 1 << 30}, func(string) { cancel() })
		if err != nil || a.Text != want {
			t.Errorf("%s: %v, %+v", worker, err, a)
		}
		if worker == "deaf" && !bytes.Contains(a.Data, []byte(`"incomplete"`)) {
			t.Errorf("%s", a.Data)
		}
	}
}
