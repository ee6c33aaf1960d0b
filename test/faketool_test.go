//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// fakeTool is a program that does what OpenTofu does with a configuration of one resource, in no time: it keeps its
// state at the address of its backend, under the lock, and writes into the file LEDGER what it creates and destroys.
func fakeTool() {
	if err := (&fake{file: ".terraform/fake.json"}).do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fake is a call of it.
type fake struct {
	file   string
	Config map[string]string
}

const fakeLock = `{"ID":%q,"Operation":"OperationTypeApply","Info":"","Who":"fake","Version":"1",` +
	`"Created":"2026-01-01T00:00:00Z","Path":""}`

func (f *fake) do(args []string) error {
	if args[0] == "init" {
		f.Config = map[string]string{}
		for _, arg := range args {
			if pair, ok := strings.CutPrefix(arg, "-backend-config="); ok {
				name, value, _ := strings.Cut(pair, "=")
				f.Config[name] = value
			}
		}
		text, err := json.Marshal(f.Config)
		if err == nil {
			err = os.MkdirAll(".terraform", 0o700)
		}
		if err == nil {
			err = os.WriteFile(f.file, text, 0o600)
		}
		fmt.Println("Initializing the backend...")
		return err
	}
	text, err := os.ReadFile(f.file)
	if err == nil {
		err = json.Unmarshal(text, &f.Config)
	}
	if err != nil {
		return err
	}
	if args[0] == "output" {
		state, err := f.state()
		fmt.Println(string(state.Outputs))
		return err
	}
	id := uuid.NewString()
	lock := fmt.Sprintf(fakeLock, id)
	if _, err := f.call(f.Config["lock_method"], f.Config["lock_address"], lock); err != nil {
		return err
	}
	if err := f.change(args[0], id); err != nil {
		return err
	}
	_, err = f.call(f.Config["unlock_method"], f.Config["unlock_address"]+"?ID="+id, lock)
	fmt.Println("complete!")
	return err
}

// fakeState is what is read of a state.
type fakeState struct {
	Serial    int             `json:"serial"`
	Outputs   json.RawMessage `json:"outputs"`
	Resources []any           `json:"resources"`
}

func (f *fake) state() (s fakeState, err error) {
	s.Outputs = json.RawMessage(`{}`)
	text, err := f.call("GET", f.Config["address"], "")
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

// change makes the resource, or destroys it, unless that was done, under a lock.
func (f *fake) change(command, lock string) error {
	s, err := f.state()
	if err != nil {
		return err
	}
	outputs := `{"said":{"value":"done","type":"string"}}`
	resource := `{"mode":"managed","type":"t","name":"r","provider":"provider[\"x/y/z\"]","instances":[{"attributes":{}}]}`
	if command == "destroy" {
		outputs, resource = `{}`, ""
	}
	if (len(s.Resources) > 0) == (resource != "") {
		return nil
	}
	ledger, err := os.OpenFile(os.Getenv("LEDGER"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer ledger.Close()
	where, err := os.Getwd()
	if err != nil {
		return err
	}
	fmt.Fprintln(ledger, command, filepath.Base(where))
	state := fmt.Sprintf(`{"version":4,"terraform_version":"1.9.0","serial":%d,"lineage":"fake","outputs":%s,`+
		`"resources":[%s]}`, s.Serial+1, outputs, resource)
	fmt.Println("t.r: at work...")
	_, err = f.call("POST", f.Config["address"]+"?ID="+lock, state)
	return err
}

func (f *fake) call(method, address, body string) ([]byte, error) {
	r, err := http.NewRequest(method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(f.Config["username"], os.Getenv("TF_HTTP_PASSWORD"))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusNoContent {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s %s", method, address, answer.Status, text)
	}
	return text, nil
}
