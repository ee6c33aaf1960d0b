package elsewhere

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// paged serves the pages of a list by where the last one left off, and counts what was asked for.
func paged(t *testing.T, cursor func(*http.Request) string, pages map[string]string) (address string, asked *int) {
	asked = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		fmt.Fprint(w, pages[cursor(r)])
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func versionsPage(next string, entries ...string) string {
	if next != "" {
		key, version, _ := strings.Cut(next, " ")
		entries = append(entries, "<IsTruncated>true</IsTruncated><NextKeyMarker>"+key+
			"</NextKeyMarker><NextVersionIdMarker>"+version+"</NextVersionIdMarker>")
	}
	return "<ListVersionsResult>" + strings.Join(entries, "") + "</ListVersionsResult>"
}

func objectVersion(kind, key, version string, latest bool) string {
	return fmt.Sprintf("<%s><Key>%s</Key><VersionId>%s</VersionId><IsLatest>%v</IsLatest><LastModified>2024-01-02T03:04:05.000Z</LastModified></%[1]s>", kind, key, version, latest)
}

func byMarkers(r *http.Request) string {
	return strings.TrimSpace(r.URL.Query().Get("key-marker") + " " + r.URL.Query().Get("version-id-marker"))
}

// A key's versions go on on the next page, between others and between markers.
func TestVersionsOverPages(t *testing.T) {
	address, asked := paged(t, byMarkers, map[string]string{
		"": versionsPage("a.tfstate a4", objectVersion("Version", "a.tfstate", "a5", true),
			objectVersion("DeleteMarker", "a.tfstate", "a4", false)),
		"a.tfstate a4": versionsPage("b.tfstate b2", objectVersion("Version", "a.tfstate", "a3", false),
			objectVersion("Version", "a.tfstate", "a2", false), objectVersion("DeleteMarker", "b.tfstate", "b2", true)),
		"b.tfstate b2": versionsPage("", objectVersion("Version", "b.tfstate", "b1", false),
			objectVersion("Version", "c.tfstate", "null", true)),
	})
	s := &S3{Endpoint: address, Region: "eu-west-1", Bucket: "states", Key: "k", Secret: "s"}
	names, err := s.List(t.Context())
	if err != nil || !slices.Equal(names, []string{"a", "c"}) || *asked != 3 {
		t.Fatalf("%v, %v after %d pages", names, err, *asked)
	}
	var order []string
	for _, v := range s.known["a"] {
		order = append(order, v.VersionID)
	}
	if !slices.Equal(order, []string{"a2", "a3", "a4", "a5"}) {
		t.Errorf("the versions of a are %v, want the oldest first", order)
	}
}

// A list that never ends, or that doesn't say where it goes on, is none: half of one could pass for
// all that there is.
func TestListsThatLeadNowhere(t *testing.T) {
	one := objectVersion("Version", "a.tfstate", "a1", true)
	for name, pages := range map[string]map[string]string{
		"in a circle": {"": versionsPage("a 1", one), "a 1": versionsPage("b 2", one), "b 2": versionsPage("a 1", one)},
		"to itself":   {"": versionsPage("a 1", one), "a 1": versionsPage("a 1", one)},
		"nowhere":     {"": "<ListVersionsResult><IsTruncated>true</IsTruncated>" + one + "</ListVersionsResult>"},
	} {
		address, asked := paged(t, byMarkers, pages)
		s := &S3{Endpoint: address, Region: "eu-west-1", Bucket: "states", Key: "k", Secret: "s"}
		if names, err := s.List(t.Context()); err == nil || *asked > 3 {
			t.Errorf("%s: %v, %v after %d pages", name, names, err, *asked)
		}
	}
}

func TestProjectsThatLeadInACircle(t *testing.T) {
	next := map[string]string{"": "x", "x": "y", "y": "x"}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		body, _ := readAll(r.Body)
		for cursor, goesOn := range next {
			if strings.Contains(string(body), fmt.Sprintf(`"after":%q`, cursor)) {
				fmt.Fprintf(w, `{"data":{"project":{"terraformStates":{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":%q}}}}}`, goesOn)
			}
		}
	}))
	defer server.Close()
	if names, err := (&GitLab{Address: server.URL, Project: "group/project"}).List(t.Context()); err == nil || asked != 3 {
		t.Errorf("%v, %v after %d pages, want an error after 3", names, err, asked)
	}
}
