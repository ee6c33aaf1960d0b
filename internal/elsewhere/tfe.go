package elsewhere

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TFE has the states of an organization's workspaces in Terraform Enterprise, or in HCP Terraform.
type TFE struct {
	Web
	// Address is the service's, without a path.
	Address, Organization string
}

// tfeVersion is a state version as a list has it.
type tfeVersion struct {
	ID         string `json:"id"`
	Attributes struct {
		CreatedAt time.Time `json:"created-at"`
		Serial    uint64    `json:"serial"`
		Status    string    `json:"status"` // absent where there is but one
		Download  string    `json:"hosted-state-download-url"`
	} `json:"attributes"`
}

type tfeWorkspace struct {
	Attributes struct {
		Name string `json:"name"`
	} `json:"attributes"`
}

// tfePage is a page of a list, as JSON:API has it.
type tfePage[T any] struct {
	Data []T `json:"data"`
	Meta struct {
		Pagination struct {
			Next *int `json:"next-page"`
		} `json:"pagination"`
	} `json:"meta"`
}

// About implements Source.
func (t *TFE) About() string {
	return fmt.Sprintf("the organization %s at %s", t.Organization, t.Address)
}

func (t *TFE) api(path string) string { return strings.TrimSuffix(t.Address, "/") + "/api/v2" + path }

// tfePageSize is the largest page that the service sends.
const tfePageSize = "100"

// tfeList reads all pages of a list.
func tfeList[T any](ctx context.Context, t *TFE, path string, query url.Values) (all []T, err error) {
	been := cursors{}
	query.Set("page[size]", tfePageSize)
	for number := 1; ; {
		query.Set("page[number]", strconv.Itoa(number))
		body, _, err := t.get(ctx, t.api(path)+"?"+query.Encode())
		if err != nil {
			return nil, err
		}
		var page tfePage[T]
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("the answer is no list: %w", err)
		}
		all = append(all, page.Data...)
		if page.Meta.Pagination.Next == nil {
			return all, nil
		}
		number = *page.Meta.Pagination.Next
		if err := been.next(strconv.Itoa(number)); err != nil {
			return nil, err
		}
	}
}

// List implements Source.
func (t *TFE) List(ctx context.Context) ([]string, error) {
	all, err := tfeList[tfeWorkspace](ctx, t, "/organizations/"+url.PathEscape(t.Organization)+"/workspaces", url.Values{})
	var names []string
	for _, w := range all {
		names = append(names, w.Attributes.Name)
	}
	slices.Sort(names)
	return names, err
}

// Versions implements Source. The service lists the newest first. What is not finalized has no bytes yet, or
// was discarded.
func (t *TFE) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	all, err := tfeList[tfeVersion](ctx, t, "/state-versions",
		url.Values{"filter[workspace][name]": {name}, "filter[organization][name]": {t.Organization}})
	if statusOf(err) == http.StatusNotFound {
		err = ErrNone
	}
	if err != nil {
		return failed(err)
	}
	all = slices.DeleteFunc(all, func(v tfeVersion) bool {
		return v.Attributes.Status != "" && v.Attributes.Status != "finalized"
	})
	// One that is made while pages are read moves the others on, so that the next page begins with what is known.
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(v tfeVersion) bool {
		twice := v.ID != "" && seen[v.ID]
		seen[v.ID] = true
		return twice
	})
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b tfeVersion) int { return a.Attributes.CreatedAt.Compare(b.Attributes.CreatedAt) })
	return func(yield func(Version, error) bool) {
		for _, v := range all {
			body, err := t.download(ctx, v.Attributes.Download)
			version := Version{At: v.Attributes.CreatedAt, Label: fmt.Sprintf("%s, serial %d", v.ID, v.Attributes.Serial),
				Body: body}
			if !yield(version, err) || err != nil {
				return
			}
		}
	}
}

// maxRedirects is how often a download is sent elsewhere.
const maxRedirects = 3

// download asks for the bytes, which may be at another service under an address that is a secret itself. The
// token goes to the service that it is for, and nowhere else.
func (t *TFE) download(ctx context.Context, address string) ([]byte, error) {
	home, err := url.Parse(t.Address)
	if err != nil {
		return nil, err
	}
	for range maxRedirects + 1 {
		at, err := url.Parse(address)
		if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != home.Scheme {
			return nil, errors.New("the service names no address to download the state from")
		}
		from := &Web{client: t.client}
		if at.Scheme == home.Scheme && at.Host == home.Host {
			from = &t.Web
		}
		body, header, err := from.get(ctx, address)
		if status := statusOf(err); status/100 != 3 || header.Get("Location") == "" {
			return body, err
		}
		next, err := at.Parse(header.Get("Location"))
		if err != nil {
			return nil, errors.New("the service sends on to what is no address")
		}
		address = next.String()
	}
	return nil, errors.New("the service sends on in a circle")
}
