package inventory_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

func principal(request string) auth.Principal {
	return auth.Principal{Org: uuid.MustParse("11111111-2222-3333-4444-555555555555"), Request: request,
		Grant: auth.Grant{Role: auth.Owner}}
}

func newService(t *testing.T) *inventory.Service {
	store := inventorytest.New()
	t.Cleanup(func() { _ = store.Close() })
	return inventory.NewService(store)
}

// names collects what a sequence yields.
func names(t *testing.T, records iter.Seq2[inventory.Positioned, error]) []string {
	t.Helper()
	var all []string
	for record, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record.ResourceName)
	}
	return all
}

func TestUpload(t *testing.T) {
	service, body := newService(t), []byte(list(`{"resource_name":"a"}`, `{"resource_name":"b","x":1}`))
	first, err := service.Upload(t.Context(), principal("r-1"), body, "key")
	if err != nil || first.Request != "r-1" || first.Count != 2 || first.Replayed ||
		!cmp.Equal(first.Ignored, []string{"/instances/1/x"}) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := service.Upload(t.Context(), principal("r-2"), body, "key")
	if err != nil || again.Request != "r-1" || again.Count != 2 || !again.Replayed || again.At != first.At {
		t.Errorf("again: %+v, %v", again, err)
	}
	_, err = service.Upload(t.Context(), principal("r-3"), append(body, ' '), "key")
	if !fault.Is(err, fault.IdempotencyMismatch) || !strings.Contains(fault.From(err).Message, "this Idempotency-Key") {
		t.Errorf("another body: %v", err)
	}
	for range 2 {
		if got, err := service.Upload(t.Context(), principal("r-4"), body, ""); err != nil || got.Replayed {
			t.Errorf("without a key: %+v, %v", got, err)
		}
	}
	if got := names(t, service.Records(t.Context(), principal(""), inventory.Query{})); len(got) != 6 {
		t.Errorf("records %q", got)
	}
}

// failing says of each upload that it is not known what became of it.
type failing struct{ inventory.Store }

func (f failing) Append(context.Context, inventory.Batch) (inventory.Receipt, error) {
	return inventory.Receipt{}, fault.New(fault.StoreUnavailable, "")
}

// Who follows uploads is told of each that may be there, and of no other.
func TestTell(t *testing.T) {
	store := inventorytest.New()
	t.Cleanup(func() { _ = store.Close() })
	for what, c := range map[string]struct {
		store inventory.Store
		body  string
		told  int
	}{
		"recorded":   {store, list(`{"resource_name":"a"}`), 1},
		"unknown":    {failing{store}, list(`{"resource_name":"a"}`), 1},
		"not a body": {store, "{", 0},
	} {
		service, told := inventory.NewService(c.store), 0
		service.Tell(func(org uuid.UUID) {
			if told++; org != principal("").Org {
				t.Errorf("%s: told of %v", what, org)
			}
		})
		_, _ = service.Upload(t.Context(), principal("r"), []byte(c.body), "")
		if told != c.told {
			t.Errorf("%s: told %d times, want %d", what, told, c.told)
		}
	}
}

func TestIdempotencyKeys(t *testing.T) {
	service, body := newService(t), []byte(list(`{"resource_name":"a"}`))
	for _, key := range []string{"x", "!~\"{}", strings.Repeat("k", 255)} {
		if _, err := service.Upload(t.Context(), principal("r"), body, key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{" ", "a b", "a\x7f", "\x00", "é", strings.Repeat("k", 256)} {
		if _, err := service.Upload(t.Context(), principal("r"), body, key); !fault.Is(err, fault.IdempotencyInvalid) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// batches records what reaches the store.
type batches struct {
	inventory.Off
	got []inventory.Batch
}

func (b *batches) Append(_ context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	b.got = append(b.got, batch)
	return inventory.Receipt{}, nil
}

// IDs have the form that stores want, and a key's never meets a random one.
func TestBatchIDs(t *testing.T) {
	var store batches
	for _, key := range []string{"", "", "k", "k", "K", strings.Repeat("k", 255)} {
		if _, err := inventory.NewService(&store).Upload(t.Context(), principal("r"), []byte(list(`{}`)), key); err != nil {
			t.Fatal(err)
		}
	}
	seen, digests := map[string]int{}, map[[32]byte]int{}
	for i, batch := range store.got {
		seen[batch.ID]++
		digests[batch.Digest]++
		if keyed := i >= 2; len(batch.ID) > 64 || strings.HasPrefix(batch.ID, "key-") != keyed ||
			strings.Trim(batch.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || batch.New == keyed {
			t.Errorf("ID %q, new: %t", batch.ID, batch.New)
		}
	}
	if len(seen) != 5 || seen[store.got[2].ID] != 2 {
		t.Errorf("IDs %v", seen)
	}
	// The body was the same each time: it is its digest that a key's retry is known by.
	if digests[store.got[2].Digest] != 4 || len(digests) != 3 {
		t.Errorf("digests %x", digests)
	}
}

func TestLatest(t *testing.T) {
	service := newService(t)
	for _, body := range []string{
		list(`{"resource_name":"a","attributes":{"v":1}}`, `{"resource_name":"b","attributes":{"v":1}}`),
		list(`{"resource_name":"a","attributes":{"v":2}}`),
		strings.Replace(list(`{"resource_name":"a","attributes":{"v":3}}`), "aws", "gcp", 1),
	} {
		if _, err := service.Upload(t.Context(), principal("r"), []byte(body), ""); err != nil {
			t.Fatal(err)
		}
	}
	latest := func(query inventory.Query) (all []string) {
		for record, err := range service.Latest(t.Context(), principal(""), query) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, record.Provider+"/"+record.ResourceName+string(record.Attributes))
		}
		return all
	}
	if got, want := latest(inventory.Query{After: "ignored"}),
		[]string{`gcp/a{"v":3}`, `aws/a{"v":2}`, `aws/b{"v":1}`}; !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := latest(inventory.Query{Attributes: map[string]string{"v": "1"}}),
		[]string{`aws/b{"v":1}`, `aws/a{"v":1}`}; !cmp.Equal(got, want) {
		t.Errorf("filtered: %q, want %q", got, want)
	}
}

func TestNobodyIsRefused(t *testing.T) {
	service, nobody := newService(t), auth.Principal{}
	_, errUpload := service.Upload(t.Context(), nobody, []byte(list(`{}`)), "")
	_, errSummary := service.Summary(t.Context(), nobody)
	for _, err := range []error{errUpload, errSummary,
		firstError(service.Records(t.Context(), nobody, inventory.Query{})),
		firstError(service.Latest(t.Context(), nobody, inventory.Query{}))} {
		if !fault.Is(err, fault.CredentialsNeeded) {
			t.Error(err)
		}
	}
}

func TestOff(t *testing.T) {
	service := inventory.NewService(inventory.Off{})
	_, errUpload := service.Upload(t.Context(), principal(""), []byte(list(`{}`)), "")
	_, errSummary := service.Summary(t.Context(), principal(""))
	for _, err := range []error{errUpload, errSummary, inventory.Off{}.Status(t.Context()),
		firstError(service.Records(t.Context(), principal(""), inventory.Query{})),
		firstError(service.Latest(t.Context(), principal(""), inventory.Query{}))} {
		if !fault.Is(err, fault.UploadsOff) || !strings.Contains(err.Error(), "STORAGE_TYPE") {
			t.Error(err)
		}
	}
}

func firstError(records iter.Seq2[inventory.Positioned, error]) error {
	for _, err := range records {
		return err
	}
	return nil
}
