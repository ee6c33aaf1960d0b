package handlers_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/authfile"
	keyedits "github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/storage/memory"
)

// A key that was made is good when the answer comes, and one that was revoked is not, with the session
// that began with it.
func TestKeysThroughTheAPI(t *testing.T) {
	w := newSignInWorld(t)
	file, record := &memoryAuth{w.file("role = owner")}, memory.New(1<<20)
	t.Cleanup(func() { _ = record.Close() })
	edit := func(ctx context.Context, change func(*authfile.Document) error) error { return file.edit(ctx, change) }
	w.deps.KeyEdits = keyedits.NewService(keyedits.Deps{
		Edit: edit, Take: func(context.Context) error { w.use(file.text); return nil }, InForce: w.verifier.Keyring,
		Said: file.settings,
		Gate: audit.NewGate(record, w.now), Audit: record, Now: w.now,
	})
	w.deps.Now = w.now
	w.deps.KeyUses = func(uuid.UUID, string) (time.Time, string) { return w.now(), "192.0.2.9" }
	w.start()
	c, ctx := client.New(client.Options{Address: w.server.URL, Org: acme, Key: w.acme}), t.Context()

	made, err := c.MakeKey(ctx, api.KeyWanted{Name: "bob", Role: "reader", States: []string{"prod/*"}, Label: "for Bob"})
	if err != nil || made.Name != "bob" || made.Role != "reader" || made.Label != "2026-11-22 for Bob" || made.Old != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	cookie := w.signIn(made.Text, nil)
	w.want(w.ask("GET /api/v1/session", "", cookie), 200, `"key_name":"bob"`)
	w.want(w.ask("POST /api/v1/keys", `{"role":"reader"}`, cookie, ownPage), 403, "right_missing")
	if sessions, err := client.New(client.Options{Address: w.server.URL, Org: acme,
		Key: made.Text}).Sessions(ctx); err != nil || len(sessions) != 1 {
		t.Errorf("%+v, %v", sessions, err)
	}
	renewed, err := c.RotateKey(ctx, "bob", api.KeyRotation{})
	if err != nil || renewed.Old == nil || renewed.Old.ID != made.ID ||
		!renewed.Old.Expires.Equal(w.now().Add(7*24*time.Hour)) {
		t.Fatalf("%+v, %v", renewed, err)
	}
	all, err := c.Keys(ctx)
	if err != nil || len(all) != 3 || !all[0].Own || all[0].UsedFrom != "192.0.2.9" || all[1].Own {
		t.Errorf("%+v, %v", all, err)
	}
	if gone, err := c.RevokeKey(ctx, made.ID); err != nil || gone.Left != 2 {
		t.Errorf("%+v, %v", gone, err)
	}
	w.want(w.ask("GET /api/v1/session", "", cookie), 401, "session_over")
	got := w.ask("GET /api/v1/keys", "", nil, "Authorization: Bearer "+w.acme)
	if strings.Contains(got.body, "$2a$") || strings.Contains(got.body, renewed.Text) {
		t.Error("the list has a hash, or a key")
	}
	w.want(w.ask("POST /api/v1/keys", `{"role":"reader","states":["prod/["]}`, nil, "Authorization: Bearer "+w.acme), 400,
		"key_invalid")
	w.want(w.ask("POST /api/v1/keys", `{"role":"reader","from":["everywhere"]}`, nil, "Authorization: Bearer "+w.acme),
		400, "key_invalid")
	w.want(w.ask("GET /api/v1/keys", "", nil, "Authorization: Bearer "+w.globex), 200, `"keys":[{`)
	w.want(w.ask("DELETE /api/v1/keys/"+renewed.ID, "", nil, "Authorization: Bearer "+w.globex), 404, "key_not_found")
	if n, err := c.EndSessions(ctx); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if err := c.EndSession(ctx, "0123456789abcdef"); err == nil {
		t.Error("a session that is not there was ended")
	}
}
