package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// realState returns a version 4 state of about size bytes: identifiers that don't
// compress among much that does, as providers write it.
func realState(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":4,"terraform_version":"1.9.8","serial":1,"lineage":"3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65","outputs":{},"resources":[`)
	for i := 0; b.Len() < size-200; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"module":"module.service[\"blue-%d\"]","mode":"managed","type":"aws_instance","name":"node","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"index_key":%d,"schema_version":1,"attributes":{"ami":"ami-%s","arn":"arn:aws:ec2:eu-central-1:123456789012:instance/i-0%s","associate_public_ip_address":false,"availability_zone":"eu-central-1a","cpu_core_count":2,"disable_api_termination":false,"ebs_optimized":true,"id":"i-0%s","instance_type":"m5.large","private_ip":"10.0.%d.%d","subnet_id":"subnet-%s","tags":{"Environment":"production","Name":"node-%d","Team":"platform"},"vpc_security_group_ids":["sg-%s"]},"sensitive_attributes":[],"private":"eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==","dependencies":["module.network.aws_subnet.private","module.network.aws_vpc.main"]}]}`,
			i, i, token(8), token(8), token(8), i/256, i%256, token(8), i, token(8))
	}
	b.WriteString(`],"check_results":null}`)
	return b.Bytes()
}

func token(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// edited returns a copy of body that no other call returns, with the version it makes.
func edited(body []byte, serial uint64) ([]byte, state.Version) {
	body = bytes.Clone(body)
	copy(body[40:], fmt.Sprintf("%012d", serial))
	return body, state.Version{
		Serial: serial, Lineage: "3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65", TerraformVersion: "1.9.8",
		Size: int64(len(body)), Digest: sha256.Sum256(body), CreatedAt: time.Now(),
		Author: state.Author{KeyID: "ci", Address: "192.0.2.1", Request: "0198c0de-0000-7000-8000-000000000000",
			Who: "ann@laptop", Operation: "OperationTypeApply"},
	}
}

func accept(v state.Version) state.Decide {
	return func(h state.Head) (state.Change, error) {
		next := v
		next.Number = h.Version.Number + 1
		return state.Change{Version: &next}, nil
	}
}

func always(change state.Change) state.Decide {
	return func(state.Head) (state.Change, error) { return change, nil }
}

// put stores body in ref, or says why not.
func put(s *Store, ref state.Ref, body []byte) (state.Head, error) {
	return s.Update(context.Background(), ref, body, accept(describe(body)))
}

func describe(body []byte) state.Version {
	return state.Version{Serial: 1, Size: int64(len(body)), Digest: sha256.Sum256(body), CreatedAt: time.Now()}
}

func mustPut(t *testing.T, s *Store, ref state.Ref, body []byte) {
	t.Helper()
	if _, err := put(s, ref, body); err != nil {
		t.Fatal(err)
	}
}

func wantBody(t *testing.T, s *Store, ref state.Ref, want []byte) {
	t.Helper()
	got, err := s.Current(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Body, want) {
		t.Fatalf("%d bytes came back, not the %d that were stored", len(got.Body), len(want))
	}
}

func wantFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("error %v, want one with %s", err, code)
	}
}

func newRef(name state.Name) state.Ref { return state.Ref{Org: uuid.New(), Name: name} }

// setPragma changes the writing connection, which must be idle.
func setPragma(t *testing.T, s *Store, pragma string) {
	t.Helper()
	if _, err := s.session.conn.ExecContext(t.Context(), "PRAGMA "+pragma); err != nil {
		t.Fatal(err)
	}
}
