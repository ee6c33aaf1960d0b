package middleware

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// maxSignIn is how long what somebody signs in with may be, in bytes.
const maxSignIn = 4 << 10

// signInPatience is how long it may take to arrive: whose it is nobody knows yet.
const signInPatience = 10 * time.Second

// SignIn lets those pass who have sent good credentials in the body, which read reads. Login then
// returns what they are. It refuses what another site's page sends, so that nobody is signed in
// as somebody else without noticing.
func SignIn(sessions *Sessions, read func(body []byte) (auth.Credentials, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := signIn(c, sessions, read); err != nil {
			Fail(c, err)
			return
		}
		c.Next()
	}
}

func signIn(c *gin.Context, sessions *Sessions, read func([]byte) (auth.Credentials, error)) error {
	fromBrowser := c.GetHeader("Sec-Fetch-Site") != "" || c.GetHeader("Origin") != ""
	if fromBrowser {
		if err := sessions.CheckOrigin(c.Request); err != nil {
			return err
		}
	}
	body, err := readSmall(c)
	if err != nil {
		return err
	}
	given, err := read(body)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	p, login, err := sessions.Service.Prove(ctx, given, auth.Client{Address: clientOf(c), Request: RequestIDOf(ctx)})
	if err != nil {
		return err
	}
	infoOf(c).login = login
	return recognize(c, p, nil)
}

// LoginOf returns how the caller has just proved who they are; see SignIn.
func LoginOf(c *gin.Context) auth.Login { return infoOf(c).login }

// readSmall reads a body of nobody's yet: it is so small that it needs no place in memory.
func readSmall(c *gin.Context) ([]byte, error) {
	if err := checkMedia(c.Request.Header); err != nil {
		return nil, err
	}
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, fault.New(fault.MediaUnsupported, "what is signed in with is sent as it is, without a Content-Encoding")
	}
	if c.Request.ContentLength > maxSignIn {
		return nil, tooLarge(maxSignIn)
	}
	control := http.NewResponseController(c.Writer)
	_ = control.SetReadDeadline(time.Now().
		Add(signInPatience)) // a writer without deadlines, as in tests, reads without them
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxSignIn))
	if err != nil {
		return nil, explainSmall(err)
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

func explainSmall(err error) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge(maxSignIn)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.Wrap(err, fault.BodyTooSlow, "the body arrived too slowly, or not at all")
	}
	return fault.Wrap(err, fault.BodyUnreadable, "the connection broke off before the whole body arrived")
}
