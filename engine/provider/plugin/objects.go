package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin/wire"
)

// encodeAll encodes several values of one type.
func encodeAll(t cty.Type, values ...cty.Value) ([]*wire.Value, error) {
	sent := make([]*wire.Value, len(values))
	for i, v := range values {
		var err error
		if sent[i], err = encode(v, t); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

func (r *remote) Read(ctx context.Context, q provider.ReadRequest) (provider.Object, error) {
	t, err := r.typeOf(ctx, provider.Managed, q.Type)
	if err != nil {
		return provider.Object{}, err
	}
	sent, err := encode(q.Value, t)
	if err != nil {
		return provider.Object{}, err
	}
	var answer wire.ReadResponse
	err = r.call(ctx, r.names.read, &wire.ReadRequest{TypeName: q.Type, CurrentState: sent, Private: q.Private}, &answer)
	if err == nil {
		err = faultOf(answer.GetDiagnostics())
	}
	if err != nil {
		return provider.Object{}, err
	}
	value, err := decode(answer.GetNewState(), t)
	return provider.Object{Value: value, Private: answer.GetPrivate()}, err
}

func (r *remote) Plan(ctx context.Context, q provider.PlanRequest) (provider.PlanResult, error) {
	t, err := r.typeOf(ctx, provider.Managed, q.Type)
	if err != nil {
		return provider.PlanResult{}, err
	}
	sent, err := encodeAll(t, q.Prior, q.Proposed, q.Config)
	if err != nil {
		return provider.PlanResult{}, err
	}
	var answer wire.PlanResponse
	err = r.call(ctx, r.names.plan, &wire.PlanRequest{TypeName: q.Type, PriorState: sent[0], ProposedNewState: sent[1],
		Config: sent[2], PriorPrivate: q.Private}, &answer)
	if err == nil {
		err = faultOf(answer.GetDiagnostics())
	}
	if err != nil {
		return provider.PlanResult{}, err
	}
	value, err := decode(answer.GetPlannedState(), t)
	result := provider.PlanResult{Planned: value, Private: answer.GetPlannedPrivate(),
		Legacy: answer.GetLegacyTypeSystem()}
	for _, p := range answer.GetRequiresReplace() {
		result.RequiresReplace = append(result.RequiresReplace, pathOf(p))
	}
	return result, err
}

func (r *remote) Apply(ctx context.Context, q provider.ApplyRequest) (provider.Object, error) {
	t, err := r.typeOf(ctx, provider.Managed, q.Type)
	if err != nil {
		return provider.Object{}, err
	}
	sent, err := encodeAll(t, q.Prior, q.Planned, q.Config)
	if err != nil {
		return provider.Object{}, err
	}
	var answer wire.ApplyResponse
	err = r.call(ctx, r.names.apply, &wire.ApplyRequest{TypeName: q.Type, PriorState: sent[0], PlannedState: sent[1],
		Config: sent[2], PlannedPrivate: q.Private}, &answer)
	if err != nil {
		return provider.Object{}, err
	}
	fault := faultOf(answer.GetDiagnostics())
	value, err := decode(answer.GetNewState(), t)
	if err != nil {
		if fault != nil {
			err = fault
		}
		return provider.Object{}, err
	}
	return provider.Object{Value: value, Private: answer.GetPrivate()}, fault
}

func (r *remote) ReadData(ctx context.Context, name string, config cty.Value) (cty.Value, error) {
	t, err := r.typeOf(ctx, provider.Data, name)
	if err != nil {
		return cty.NilVal, err
	}
	sent, err := encode(config, t)
	if err != nil {
		return cty.NilVal, err
	}
	var answer wire.ReadDataResponse
	err = r.call(ctx, r.names.readData, &wire.ReadDataRequest{TypeName: name, Config: sent}, &answer)
	if err == nil {
		err = faultOf(answer.GetDiagnostics())
	}
	if err != nil {
		return cty.NilVal, err
	}
	return decode(answer.GetState(), t)
}

func (r *remote) Import(ctx context.Context, name, id string) (provider.Object, error) {
	t, err := r.typeOf(ctx, provider.Managed, name)
	if err != nil {
		return provider.Object{}, err
	}
	var answer wire.ImportResponse
	err = r.call(ctx, r.names.importing, &wire.ImportRequest{TypeName: name, Id: id}, &answer)
	if err == nil {
		err = faultOf(answer.GetDiagnostics())
	}
	if err != nil {
		return provider.Object{}, err
	}
	for _, o := range answer.GetImportedResources() {
		if o.GetTypeName() != name {
			continue
		}
		value, err := decode(o.GetState(), t)
		return provider.Object{Value: value, Private: o.GetPrivate()}, err
	}
	return provider.Object{}, &provider.Fault{Summary: "the provider found nothing to import", Detail: name + " " + id}
}
