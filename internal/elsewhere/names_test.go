package elsewhere

import (
	"encoding/xml"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	for key, want := range map[string]string{
		"web.tfstate": "web", "prod/web.tfstate": "prod/web", "prod/terraform.tfstate": "prod",
		"terraform.tfstate":     "terraform",
		"env:/prod/web.tfstate": "prod/web", "env:/prod/live/terraform.tfstate": "prod/live",
		"terraform.tfstate.d/prod/terraform.tfstate": "prod", "web/terraform.tfstate.d/prod/terraform.tfstate": "web/prod",
	} {
		if got := nameOfKey(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// S3 lists the newest first, of which several may have the same time.
func TestVersionsComeOldestFirst(t *testing.T) {
	const list = `<ListVersionsResult><Name>b</Name><IsTruncated>false</IsTruncated>
<Version><Key>a.tfstate</Key><VersionId>3</VersionId><IsLatest>true</IsLatest><LastModified>2024-01-01T00:00:01.000Z</LastModified></Version>
<DeleteMarker><Key>a.tfstate</Key><VersionId>m</VersionId><IsLatest>false</IsLatest><LastModified>2024-01-01T00:00:01.000Z</LastModified></DeleteMarker>
<Version><Key>a.tfstate</Key><VersionId>1</VersionId><IsLatest>false</IsLatest><LastModified>2024-01-01T00:00:00.000Z</LastModified></Version></ListVersionsResult>`
	for _, reversed := range []bool{false, true} {
		var page s3Page
		if err := xml.Unmarshal([]byte(list), &page); err != nil {
			t.Fatal(err)
		}
		var versions []s3Version
		for _, v := range page.VersionsOrMarkers {
			if v.Key != "" {
				versions = append(versions, v)
			}
		}
		if reversed {
			versions[0], versions[2] = versions[2], versions[0]
		}
		oldestFirst(versions)
		got := versions[0].VersionID + versions[1].VersionID + versions[2].VersionID
		if got != "1m3" || !versions[1].isMarker() || versions[0].isMarker() ||
			!versions[0].LastModified.Equal(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("reversed %v: %s", reversed, got)
		}
	}
}
