package recorded

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// maxEntry bounds a line of a recording.
const maxEntry = 64 << 20

// Recording is calls of providers, one a line. It may be written by several providers at once.
type Recording struct {
	mu sync.Mutex
	w  io.Writer
}

// NewRecording writes to w.
func NewRecording(w io.Writer) *Recording { return &Recording{w: w} }

func (r *Recording) keep(e entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return json.NewEncoder(r.w).Encode(e)
}

// Record makes providers whose calls are recorded.
func (r *Recording) Record(f provider.Factory) provider.Factory {
	return func(ctx context.Context) (provider.Provider, error) {
		p, err := f(ctx)
		if err != nil {
			return nil, err
		}
		return &calls{ask: func(ctx context.Context, e entry) (answer, error) {
			e.Answer = asked(ctx, p, e)
			return e.Answer, r.keep(e)
		}, stop: p.Stop, closing: p.Close}, nil
	}
}

// asked makes a call of a provider.
func asked(ctx context.Context, p provider.Provider, e entry) (a answer) {
	var object provider.Object
	var err error
	in := func(name string) cty.Value { return e.Asked[name].Value }
	switch e.Call {
	case "schemas":
		a.Schemas, err = p.Schemas(ctx)
	case "configure":
		err = p.Configure(ctx, in("config"))
	case "validate":
		err = p.ValidateResource(ctx, provider.Kind(e.Text), e.Type, in("config"))
	case "upgrade":
		object.Value, err = p.Upgrade(ctx, e.Type, e.Number, []byte(e.Text))
	case "read":
		object, err = p.Read(ctx, provider.ReadRequest{Type: e.Type, Object: provider.Object{Value: in("object"),
			Private: e.Kept}})
	case "plan":
		var planned provider.PlanResult
		planned, err = p.Plan(ctx, provider.PlanRequest{Type: e.Type, Prior: in("prior"), Proposed: in("proposed"),
			Config: in("config"), Private: e.Kept})
		object, a.Legacy = provider.Object{Value: planned.Planned, Private: planned.Private}, planned.Legacy
		for _, path := range planned.RequiresReplace {
			a.Replace = append(a.Replace, pack(path))
		}
	case "apply":
		object, err = p.Apply(ctx, provider.ApplyRequest{Type: e.Type, Prior: in("prior"), Planned: in("planned"),
			Config: in("config"), Private: e.Kept})
	case "data":
		object.Value, err = p.ReadData(ctx, e.Type, in("config"))
	case "import":
		object, err = p.Import(ctx, e.Type, e.Text)
	}
	a.Value, a.Kept = value{object.Value}, object.Private
	a.fail(err)
	return a
}

// Replay makes providers that answer as a recording has it. Calls that are the same are answered in the order
// in which they were recorded, and the last answer again; one that isn't in the recording is a fault.
func Replay(recording io.Reader) (provider.Factory, error) {
	lines := bufio.NewScanner(recording)
	lines.Buffer(nil, maxEntry)
	answers := map[string][]answer{}
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("the recording can't be read: %w", err)
		}
		answers[e.key()] = append(answers[e.key()], e.Answer)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	ask := func(_ context.Context, e entry) (answer, error) {
		mu.Lock()
		defer mu.Unlock()
		left := answers[e.key()]
		if len(left) == 0 {
			return answer{}, &provider.Fault{Summary: fmt.Sprintf("the recording has no such %s of %q", e.Call, e.Type)}
		}
		if len(left) > 1 {
			answers[e.key()] = left[1:]
		}
		return left[0], nil
	}
	return func(context.Context) (provider.Provider, error) { return &calls{ask: ask}, nil }, nil
}
