package linear

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/statemodel"
)

// Rollback is the kind of an Op that makes a state's version Call.Version the newest. It
// is no kind of package statemodel's, which keeps no versions.
const Rollback = "rollback"

// Call is one request.
type Call struct {
	statemodel.Op        // its Body is a mark, see bodyOf
	Version       uint64 // of a Rollback
}

func (c Call) String() string {
	text := c.Kind
	for name, value := range map[string]string{"id": c.ID, "body": c.Body} {
		if value != "" {
			text += " " + name + "=" + value
		}
	}
	if c.Kind == Rollback {
		text += fmt.Sprint(" to ", c.Version)
	}
	return text
}

// Told is the answer to a Call.
type Told struct {
	statemodel.Outcome
	Unknown bool // whether the call had an effect, or will have
	Unsent  bool // nobody has seen the call, so that it is not in the history
}

func (t Told) String() string {
	switch {
	case t.Unknown:
		return "?"
	case t.Code != "":
		return strings.TrimSpace(string(t.Code) + " " + t.Holder)
	}
	return strings.TrimSpace(fmt.Sprint("ok ", t.Number, " ", t.Body, " ", t.Holder))
}

// bodyOf returns the state that a mark stands for: "name@serial". Each mark is written by one
// call only.
func bodyOf(mark string) string {
	name, serial, _ := strings.Cut(mark, "@")
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.9.0","serial":%s,"lineage":"5ad8","outputs":{"mark":{"value":%q,"type":"string"}},"resources":[]}`, serial, name)
}

// markOf is the way back from a state's bytes.
func markOf(body []byte) (string, error) {
	var known struct {
		Serial  uint64
		Outputs map[string]struct{ Value string }
	}
	if err := json.Unmarshal(body, &known); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s@%d", known.Outputs["mark"].Value, known.Serial), nil
}

// do sends the call once.
func do(ctx context.Context, c *client.Client, name string, call Call) Told {
	out, err := send(ctx, c, name, call)
	if err == nil {
		return Told{Outcome: out}
	}
	if refused, ok := errors.AsType[*net.OpError](err); ok && refused.Op == "dial" {
		return Told{Unknown: true, Unsent: true}
	}
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok || leavesOpen(refusal) {
		return Told{Unknown: true}
	}
	out = statemodel.Outcome{Code: fault.Code(cmp.Or(string(refusal.Code), strconv.Itoa(refusal.Status)))}
	if refusal.Lock != nil {
		out.Holder = refusal.Lock.ID
	}
	return Told{Outcome: out}
}

// leavesOpen says whether a refusal does not tell whether the call had an effect: the store's answer was lost,
// or the call was given up, by whoever did; or it had none, for want of a place, and may be made again. Any other
// fault of the server's is one, and no order of calls has it.
func leavesOpen(refusal *client.Error) bool {
	switch fault.Code(refusal.Code) {
	case fault.StoreUnavailable, fault.Interrupted, fault.Overloaded, fault.Busy:
		return true
	}
	return refusal.Status == http.StatusTooManyRequests
}

func send(ctx context.Context, c *client.Client, name string, call Call) (out statemodel.Outcome, err error) {
	info := api.LockInfo{ID: call.ID, Who: call.Who}
	switch call.Kind {
	case "get":
		return get(ctx, c, name)
	case "put":
		var stored client.Stored
		stored, err = c.Put(ctx, name, strings.NewReader(bodyOf(call.Body)),
			client.Write{Condition: client.Condition{LockID: call.ID}, Unlock: call.Release})
		out.Number = stored.Version
	case "delete":
		err = c.Delete(ctx, name, client.Condition{LockID: call.ID})
	case "undelete":
		var v api.Version
		v, err = c.Undelete(ctx, name)
		out.Number = v.Number
	case "lock":
		err = c.Lock(ctx, name, info)
		out.Holder = call.ID
	case "unlock":
		err = c.Unlock(ctx, name, info)
	case "force":
		_, err = c.ReleaseLock(ctx, name, api.Order{Reason: "the test forces it open"})
	case "holder":
		info, err = c.Holder(ctx, name)
		out.Holder = info.ID
	case Versions:
		return versions(ctx, c, name)
	case Rollback:
		var v api.Version
		v, err = c.Rollback(ctx, name, call.Version, api.Order{Reason: "the test rolls back", LockID: call.ID})
		out.Number = v.Number
	}
	return out, err
}

func get(ctx context.Context, c *client.Client, name string) (out statemodel.Outcome, err error) {
	content, err := c.Get(ctx, name, client.Which{})
	if err != nil {
		return out, err
	}
	defer content.Close()
	body, err := io.ReadAll(content)
	if err != nil {
		return out, err
	}
	out.Number = content.Version
	out.Body, err = markOf(body)
	return out, err
}

// reads says whether a call changes nothing, whatever becomes of it.
func (c Call) reads() bool { return c.Kind == "get" || c.Kind == "holder" || c.Kind == Versions }
