package plugin

import (
	"context"
	"fmt"
	"sync"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin/wire"
	"github.com/holdfast/holdfast/internal/pause"
)

// shownVersion is the version of Terraform that providers are told, whose manners the engine has.
const shownVersion = "1.5.7"

// remote is a provider in another process.
type remote struct {
	name     string
	protocol int
	names    names
	client   *goplugin.Client
	conn     *grpc.ClientConn
	log      *tail

	mu      sync.Mutex
	schemas *provider.Schemas
}

// call makes one call. A provider that has crashed is shown with the end of its log.
func (r *remote) call(ctx context.Context, name string, request, response proto.Message) error {
	path := fmt.Sprintf("/tfplugin%d.Provider/%s", r.protocol, name)
	err := r.conn.Invoke(ctx, path, request, response)
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.exited(ctx, err):
		return &provider.Fault{Summary: fmt.Sprintf("the provider %s crashed during %s", r.name, name),
			Detail: status.Convert(err).Message() + r.log.said()}
	}
	return &provider.Fault{Summary: fmt.Sprintf("the provider %s failed at %s", r.name, name),
		Detail: status.Convert(err).Message() + r.log.said()}
}

// exitedWithin is how long a provider whose connection has broken off has to be gone, with all that it logged read.
const exitedWithin = 5 * time.Second

// exited reports whether a call failed because the provider crashed.
func (r *remote) exited(ctx context.Context, err error) bool {
	if status.Code(err) != codes.Unavailable {
		return r.client.Exited()
	}
	ctx, cancel := context.WithTimeout(ctx, exitedWithin)
	defer cancel()
	for !r.client.Exited() && pause.For(ctx, 10*time.Millisecond) == nil {
	}
	return true
}

func (r *remote) Schemas(ctx context.Context) (*provider.Schemas, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.schemas != nil {
		return r.schemas, nil
	}
	response := &wire.Schemas{}
	if r.protocol == 5 {
		old := &wire.SchemasOf5{}
		if err := r.call(ctx, r.names.schema, &wire.Empty{}, old); err != nil {
			return nil, err
		}
		response = from5(old)
	} else if err := r.call(ctx, r.names.schema, &wire.Empty{}, response); err != nil {
		return nil, err
	}
	if err := faultOf(response.GetDiagnostics()); err != nil {
		return nil, err
	}
	schemas, err := schemasOf(response)
	if err != nil {
		return nil, fmt.Errorf("the provider %s: %w", r.name, err)
	}
	r.schemas = schemas
	return schemas, nil
}

// typeOf returns the type that a resource's or data source's objects have.
func (r *remote) typeOf(ctx context.Context, kind provider.Kind, name string) (cty.Type, error) {
	schemas, err := r.Schemas(ctx)
	if err != nil {
		return cty.NilType, err
	}
	schema := schemas.Of(kind, name)
	if schema == nil {
		return cty.NilType, fmt.Errorf("the provider %s has no type %q", r.name, name)
	}
	return schema.CtyType(), nil
}

func (r *remote) Configure(ctx context.Context, config cty.Value) error {
	schemas, err := r.Schemas(ctx)
	if err != nil {
		return err
	}
	t := schemas.Provider.CtyType()
	sent, err := encode(config, t)
	if err != nil {
		return err
	}
	// Version 6 answers without the prepared configuration, and has its diagnostics at 2 as version 5 has.
	var prepared wire.PreparedResponse
	if err := r.call(ctx, r.names.checkProvider, &wire.ConfigRequest{Config: sent}, &prepared); err != nil {
		return err
	}
	if err := faultOf(prepared.GetDiagnostics()); err != nil {
		return err
	}
	var answer wire.DiagnosticsResponse
	request := &wire.ConfigureRequest{TerraformVersion: shownVersion, Config: sent}
	if err := r.call(ctx, r.names.configure, request, &answer); err != nil {
		return err
	}
	return faultOf(answer.GetDiagnostics())
}

func (r *remote) ValidateResource(ctx context.Context, kind provider.Kind, name string, config cty.Value) error {
	t, err := r.typeOf(ctx, kind, name)
	if err != nil {
		return err
	}
	sent, err := encode(config, t)
	if err != nil {
		return err
	}
	call := r.names.checkResource
	if kind == provider.Data {
		call = r.names.checkData
	}
	var answer wire.DiagnosticsResponse
	err = r.call(ctx, call, &wire.ValidateRequest{TypeName: name, Config: sent,
		ClientCapabilities: &wire.ClientCapabilities{WriteOnlyAttributesAllowed: true}}, &answer)
	if err != nil {
		return err
	}
	return faultOf(answer.GetDiagnostics())
}

func (r *remote) Upgrade(ctx context.Context, name string, version int64, recorded []byte) (cty.Value, error) {
	t, err := r.typeOf(ctx, provider.Managed, name)
	if err != nil {
		return cty.NilVal, err
	}
	var answer wire.UpgradeResponse
	err = r.call(ctx, r.names.upgrade, &wire.UpgradeRequest{TypeName: name, Version: version,
		RawState: &wire.RawState{Json: recorded}}, &answer)
	if err == nil {
		err = faultOf(answer.GetDiagnostics())
	}
	if err != nil {
		return cty.NilVal, err
	}
	return decode(answer.GetUpgradedState(), t)
}

func (r *remote) Stop(ctx context.Context) error {
	var answer wire.StopResponse
	if err := r.call(ctx, r.names.stop, &wire.Empty{}, &answer); err != nil {
		return err
	}
	if text := answer.GetError(); text != "" {
		return &provider.Fault{Summary: text}
	}
	return nil
}

func (r *remote) Close() error {
	r.client.Kill()
	return nil
}
