//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
)

// tenant is an organization as its providers and readers see the server.
type tenant struct {
	id   uuid.UUID
	key  string
	base string
	http *http.Client
}

// addTenants makes organizations with keys in a new auth file.
func addTenants(t *testing.T, path string, count int) []*tenant {
	t.Helper()
	var all []*tenant
	err := authfile.Create(t.Context(), path, func(d *authfile.Document) error {
		for i := range count {
			id := uuid.New()
			if err := d.AddOrganization(id, fmt.Sprint("tenant ", i)); err != nil {
				return err
			}
			one, err := addTenant(d, id)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// addTenant gives an organization one more key.
func addTenant(d *authfile.Document, id uuid.UUID) (*tenant, error) {
	key := auth.NewKey(id)
	hash, err := authfile.HashKey(key)
	if err != nil {
		return nil, err
	}
	_, err = d.AddKey(id, hash, "test")
	return &tenant{id: id, key: key}, err
}

// upload sends a report as a provider does that was told what to do on 503: again, later,
// with the same key.
func (o *tenant) upload(u upload) error {
	body, err := json.Marshal(u)
	if err != nil {
		return err
	}
	// encoding/json escapes <, > and & in what it is given: those are other bytes.
	body = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(body)))
	key := uuid.NewString()
	return poll(func() error {
		answer, err := o.send("POST", "/api/v1/upload", body, "Idempotency-Key", key)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			return err
		case answer.StatusCode == http.StatusServiceUnavailable:
			wait, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			time.Sleep(time.Duration(wait) * time.Second)
			return fmt.Errorf("%s: %s", answer.Status, text)
		case answer.StatusCode != http.StatusOK ||
			!bytes.Contains(text, fmt.Appendf(nil, `"instances_count":%d,`, len(u.Instances))):
			return permanent{fmt.Errorf("%s: %s", answer.Status, text)}
		}
		return nil
	})
}

func (o *tenant) send(method, path string, body []byte, header ...string) (*http.Response, error) {
	r, err := http.NewRequest(method, o.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(o.id.String(), o.key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return o.http.Do(r)
}

// page is an answer of GET /api/v1/data.
type page struct {
	Data []struct {
		Timestamp string
		OrgID     uuid.UUID `json:"org_id"`
		Data      struct {
			Provider     string
			Category     string
			ResourceType string `json:"resource_type"`
			ResourceName string `json:"resource_name"`
			Attributes   json.RawMessage
		}
	}
	Next, Last string
}

func (o *tenant) page(values url.Values) (p page, err error) {
	err = poll(func() error {
		answer, err := o.send("GET", "/api/v1/data?"+values.Encode(), nil)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(answer.Body)
			return fmt.Errorf("%s: %s", answer.Status, text)
		}
		return json.NewDecoder(answer.Body).Decode(&p)
	})
	return p, err
}

// read pages through, and follows what is still being uploaded, until it has seen so many
// records. It checks that time goes forwards and that nothing is another organization's.
func (o *tenant) read(limit, until int) (all page, err error) {
	values, newest := url.Values{"limit": {strconv.Itoa(limit)}}, ""
	for deadline := time.Now().Add(5 * time.Minute); len(all.Data) < until; {
		if time.Now().After(deadline) {
			return all, fmt.Errorf("%d of %d records after five minutes", len(all.Data), until)
		}
		p, err := o.page(values)
		if err != nil {
			return all, err
		}
		for _, r := range p.Data {
			if r.OrgID != o.id || r.Timestamp < newest {
				return all, fmt.Errorf("a record of %s at %s, after one at %s", r.OrgID, r.Timestamp, newest)
			}
			newest = r.Timestamp
		}
		all.Data = append(all.Data, p.Data...)
		if p.Last != "" {
			values.Set("cursor", p.Last)
		}
		if p.Next == "" {
			time.Sleep(100 * time.Millisecond)
		}
	}
	return all, nil
}

// has compares what was read with what was uploaded: the same, each once, whole.
func (p page) has(uploads []upload) error {
	want := map[string]int{}
	for _, u := range uploads {
		for _, r := range u.Instances {
			want[strings.Join([]string{u.Provider, u.Category, u.ResourceType, r.Name, string(r.Attributes)}, "|")]++
		}
	}
	for _, r := range p.Data {
		d := r.Data
		want[strings.Join([]string{d.Provider, d.Category, d.ResourceType, d.ResourceName, string(d.Attributes)}, "|")]--
	}
	var faults []error
	for what, n := range want {
		if n != 0 && len(faults) < 3 {
			faults = append(faults, fmt.Errorf("%+d times too few: %s", n, what))
		}
	}
	return errors.Join(faults...)
}

// tenantsEnviron is the environment of a server or a command that works for them.
func tenantsEnviron(dir string, more ...string) []string {
	return append(freshEnviron(),
		append([]string{"HOLDFAST_AUTH_FILE=" + dir + "/auth.cfg", "STORAGE_PATH=" + dir + "/data",
			"HOLDFAST_NOTICE_NETWORKS=127.0.0.0/8", "PATH=" + os.Getenv("PATH")}, more...)...)
}
