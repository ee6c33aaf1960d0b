package elsewhere

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/bucket"
)

// S3 has the objects of a bucket that end in .tfstate, with their versions where the bucket keeps
// them. A state is called by its key as by a file's path; env:/NAME/KEY, which is how clients keep
// a workspace, is NAME/KEY.
type S3 struct {
	// Endpoint is the service's address, without the bucket.
	Endpoint, Region, Bucket string
	Prefix                   string // of keys
	// Key, Secret and Session are the credentials; Session may be empty.
	Key, Secret, Session string

	web   Web
	known map[string][]s3Version // by the state's name, the oldest first
}

// s3Version is an object's version in a list, or a marker that it was deleted.
type s3Version struct {
	XMLName      xml.Name
	Key          string
	VersionID    string `xml:"VersionId"`
	LastModified time.Time
	IsLatest     bool
}

func (v s3Version) isMarker() bool { return v.XMLName.Local == "DeleteMarker" }

// s3Page is a page of a list of versions, which has objects and markers in one order.
type s3Page struct {
	Truncated         bool        `xml:"IsTruncated"`
	NextKey           string      `xml:"NextKeyMarker"`
	NextVersion       string      `xml:"NextVersionIdMarker"`
	VersionsOrMarkers []s3Version `xml:",any"`
}

// About implements Source.
func (s *S3) About() string { return fmt.Sprintf("the bucket %s at %s", s.Bucket, s.Endpoint) }

// get asks with a signature of version 4.
func (s *S3) get(ctx context.Context, key string, query url.Values) ([]byte, error) {
	from := bucket.Bucket{Endpoint: s.Endpoint, Region: s.Region, Name: s.Bucket, Key: s.Key, Secret: s.Secret,
		Session: s.Session}
	request, err := from.Request(ctx, http.MethodGet, key, query, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.web.do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readAll(response.Body)
}

// List implements Source.
func (s *S3) List(ctx context.Context) ([]string, error) {
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	var names []string
	for name, versions := range s.known {
		if !versions[len(versions)-1].isMarker() { // deleted there
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (s *S3) look(ctx context.Context) error {
	if s.known != nil {
		return nil
	}
	been, known, keys := cursors{}, map[string][]s3Version{}, map[string]string{}
	query := url.Values{"versions": {""}, "prefix": {s.Prefix}}
	for {
		body, err := s.get(ctx, "", query)
		if err != nil {
			return err
		}
		var page s3Page
		if err := xml.Unmarshal(body, &page); err != nil {
			return fmt.Errorf("the list of the bucket's versions: %w", err)
		}
		for _, v := range page.VersionsOrMarkers {
			if v.XMLName.Local != "Version" && !v.isMarker() || !strings.HasSuffix(v.Key, stateEnd) {
				continue
			}
			name := nameOfKey(v.Key)
			if other, had := keys[name]; had && other != v.Key {
				return fmt.Errorf("the keys %q and %q stand for the same state; name one with --prefix", other, v.Key)
			}
			keys[name], known[name] = v.Key, append(known[name], v)
		}
		if !page.Truncated {
			for _, versions := range known {
				oldestFirst(versions)
			}
			s.known = known
			return nil
		}
		if err := been.next(page.NextKey + page.NextVersion); err != nil {
			return err
		}
		query.Set("key-marker", page.NextKey)
		query.Set("version-id-marker", page.NextVersion)
	}
}

// oldestFirst orders the versions of a key. S3 lists the newest first, others the other way round;
// their times have whole seconds, so that those alone don't tell.
func oldestFirst(versions []s3Version) {
	if versions[0].IsLatest {
		slices.Reverse(versions)
	}
	slices.SortStableFunc(versions, func(a, b s3Version) int { return a.LastModified.Compare(b.LastModified) })
}

func nameOfKey(key string) string { return nameOfFile(strings.TrimPrefix(key, "env:/")) }

// Versions implements Source.
func (s *S3) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	if err := s.look(ctx); err != nil {
		return failed(err)
	}
	versions, ok := s.known[name]
	if !ok {
		return failed(ErrNone)
	}
	return func(yield func(Version, error) bool) {
		for _, v := range versions {
			if v.isMarker() {
				continue
			}
			version, err := s.version(ctx, v)
			if !yield(version, err) || err != nil {
				return
			}
		}
	}
}

func (s *S3) version(ctx context.Context, v s3Version) (Version, error) {
	query, label := url.Values{}, v.Key
	if v.VersionID != "" && v.VersionID != "null" {
		query.Set("versionId", v.VersionID)
		label += " " + v.VersionID
	}
	body, err := s.get(ctx, v.Key, query)
	if err == nil && len(body) == 0 {
		err = errors.New("the object is empty")
	}
	return Version{At: v.LastModified, Label: label, Body: body}, err
}
