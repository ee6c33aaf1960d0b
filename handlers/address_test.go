package handlers

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// Routes have a state's name as one segment, whatever its slashes are sent as.
func TestRoutedPath(t *testing.T) {
	for given, want := range map[string]string{
		"prod":                           "prod",
		"prod/network":                   "prod%2Fnetwork",
		"prod%2Fnetwork":                 "prod%2Fnetwork",
		"prod/eu%2Fwest/network":         "prod%2Feu%2Fwest%2Fnetwork",
		"prod/network/-/versions/7/diff": "prod%2Fnetwork/-/versions/7/diff",
		"prod%2Fnetwork/-/versions/7":    "prod%2Fnetwork/-/versions/7",
		"prod/-/nothing":                 "prod/-/nothing",
		"prod/-/-/lock":                  "prod/-/-/lock",
		"prod/-":                         "prod%2F-",
		"prod/versions":                  "prod/-/versions",
		"prod/versions/7":                "prod/-/versions/7",
		"prod/versions/7/diff":           "prod/-/versions/7/diff",
		"prod/versions/7/network":        "prod%2Fversions%2F7%2Fnetwork",
		"prod/versions/":                 "prod%2Fversions%2F",
		"prod%2Fversions":                "prod%2Fversions",
		"prod%2Fnetwork/lock":            "prod%2Fnetwork/-/lock",
		"prod/network/lock":              "prod%2Fnetwork/-/lock",
		"a/b/c/d/lock":                   "a%2Fb%2Fc%2Fd/-/lock",
		"prod/outputs/lock":              "prod%2Foutputs/-/lock",
		"prod/lock":                      "prod/-/lock",
		"lock/lock":                      "lock/-/lock",
		"lock":                           "lock",
		"/lock":                          "%2Flock",
		"prod/-/outputs/lock":            "prod/-/outputs/lock",
		"prod/network%2Flock":            "prod%2Fnetwork%2Flock",
		"prod/network/lock/release":      "prod%2Fnetwork%2Flock%2Frelease",
		"prod/lock/release":              "prod/-/lock/release",
		"prod/undelete":                  "prod/-/undelete",
		"prod/outputs/vpc":               "prod/-/outputs/vpc",
		"prod/candidates/0123/promote":   "prod/-/candidates/0123/promote",
		"prod/outputs/a%2Fb":             "prod/-/outputs/a%2Fb",
		"prod//network":                  "prod%2F%2Fnetwork",
		"prod/":                          "prod%2F",
		"../prod":                        "..%2Fprod",
		"":                               "",
	} {
		if got := routedPath(statesPath + given); got != statesPath+want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	for _, other := range []string{"/api/v1/states", "/terraform/state/prod/lock", "/api/v1/resources/a/history", "/"} {
		if got := routedPath(other); got != other {
			t.Errorf("%s: %s", other, got)
		}
	}
}

// Whatever the address: what is spelt as routes have it stays so, its name is the same in
// both spellings, and the request that came is left alone.
func FuzzAddress(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add("prod/network/-/versions/7")
	f.Add("prod%2Fversions/versions")
	f.Add("a/-/b/-/c%2f%")
	f.Add("-/versions") // the state - has versions too
	f.Fuzz(func(t *testing.T, rest string) {
		address, err := url.ParseRequestURI(statesPath + rest)
		if err != nil {
			return
		}
		asked := &http.Request{URL: address, Method: http.MethodGet}
		before := *address
		routed := Router{}.asRouted(asked)
		if *address != before {
			t.Errorf("%q was changed to %q", before.String(), address.String())
		}
		path := routed.URL.EscapedPath()
		if again := routedPath(path); again != path {
			t.Errorf("%q becomes %q, and that %q", rest, path, again)
		}
		if !slices.Equal(named(routed.URL.Path), named(before.Path)) {
			t.Errorf("%q has become %q", before.Path, routed.URL.Path)
		}
		if routed.URL.RawQuery != before.RawQuery {
			t.Errorf("the query %q has become %q", before.RawQuery, routed.URL.RawQuery)
		}
	})
}

// named is path's segments without the - that stands between a state's name and what it has.
func named(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(segment string) bool { return segment == "-" })
}

// What isn't an address of a state is served as it came.
func TestRouterPassesOn(t *testing.T) {
	asked := httptest.NewRequest(http.MethodGet, "/upload?x=1", nil)
	if (Router{}).asRouted(asked) != asked {
		t.Error("a request was copied for nothing")
	}
}
