package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// The headers of a notice, as the Standard Webhooks specification has them, so that what
// receivers have for others verifies these too.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// idOf is the same for every try of a notice, and of no other notice: a receiver tells doubles by
// it. The time is in it because a store that was restored from a backup gives a Sequence again.
func idOf(e audit.Event) string {
	name := strconv.FormatUint(e.Sequence, 10) + " " + strconv.FormatInt(e.At.UnixMicro(), 10)
	return uuid.NewSHA1(e.Org, []byte(name)).String()
}

// sign puts the ID and the time of this try into the headers, and a signature of both and of the
// body where there is a secret: what is sent again later by somebody who listened is too old.
func sign(header http.Header, secret []byte, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	header.Set(headerID, id)
	header.Set(headerTimestamp, timestamp)
	if len(secret) == 0 {
		return
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	header.Set(headerSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
