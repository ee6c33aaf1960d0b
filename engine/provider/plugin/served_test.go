package plugin_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/grpc"

	"github.com/holdfast/holdfast/engine/provider/plugin/wire"
)

// protocolVariable has the test's program be a provider that speaks this version of the protocol.
const protocolVariable = "PROVIDER_UNDER_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(protocolVariable) {
	case "4":
		serve(4)
	case "5":
		serve(5)
	case "6":
		serve(6)
	case "broken":
		fmt.Fprintln(os.Stderr, "the disk of this provider is broken; it logs", os.Getenv("TF_LOG_PROVIDER"))
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

func serve(protocol int) {
	fmt.Fprintln(os.Stderr, "this is what the provider logs")
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE",
			MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"},
		VersionedPlugins: map[int]goplugin.PluginSet{protocol: {"provider": served{protocol: protocol}}},
		GRPCServer:       goplugin.DefaultGRPCServer,
		Logger:           hclog.NewNullLogger(),
	})
}

// served is a provider on the other side of the wire.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	protocol int
}

func (served) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("this side only answers")
}

// method is a call that f answers.
func method[Q, A any](name string, f func(*Q) *A) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, _ context.Context, decode func(any) error,
		_ grpc.UnaryServerInterceptor) (any, error) {
		q := new(Q)
		if err := decode(q); err != nil {
			return nil, err
		}
		return f(q), nil
	}}
}

func (s served) GRPCServer(_ *goplugin.GRPCBroker, server *grpc.Server) error {
	methods := []grpc.MethodDesc{
		method("UpgradeResourceState", upgraded), method("ReadResource", read), method("PlanResourceChange", planned),
		method("ApplyResourceChange", applied), method("ImportResourceState", imported), method("ReadDataSource", readData),
	}
	if s.protocol == 5 {
		methods = append(methods, method("GetSchema", schemas5), method("PrepareProviderConfig", prepared),
			method("Configure", configured), method("ValidateResourceTypeConfig", checked),
			method("ValidateDataSourceConfig", checked), method("Stop", stopped))
	} else {
		methods = append(methods, method("GetProviderSchema", schemas6), method("ValidateProviderConfig", prepared),
			method("ConfigureProvider", configured), method("ValidateResourceConfig", checked),
			method("ValidateDataResourceConfig", checked), method("StopProvider", stopped))
	}
	server.RegisterService(&grpc.ServiceDesc{ServiceName: fmt.Sprintf("tfplugin%d.Provider", s.protocol),
		HandlerType: (*any)(nil), Methods: methods}, s)
	return nil
}

func thingType() cty.Type {
	return cty.Object(map[string]cty.Type{"id": cty.String, "name": cty.String, "secret": cty.String,
		"part": cty.List(cty.Object(map[string]cty.Type{"size": cty.Number}))})
}

func schemas5(*wire.Empty) *wire.SchemasOf5 {
	thing := &wire.SchemaOf5{Version: 3, Block: &wire.BlockOf5{
		Attributes: []*wire.AttributeOf5{{Name: "id", Type: []byte(`"string"`), Computed: true},
			{Name: "name", Type: []byte(`"string"`), Required: true},
			{Name: "secret", Type: []byte(`"string"`), Optional: true, Sensitive: true, WriteOnly: true}},
		BlockTypes: []*wire.NestedBlockOf5{{TypeName: "part", Nesting: wire.Nesting_NESTING_LIST, MaxItems: 2,
			Block: &wire.BlockOf5{Attributes: []*wire.AttributeOf5{{Name: "size", Type: []byte(`"number"`), Optional: true}}}}},
	}}
	settings := &wire.SchemaOf5{Block: &wire.BlockOf5{
		Attributes: []*wire.AttributeOf5{{Name: "token", Type: []byte(`"string"`), Optional: true}}}}
	return &wire.SchemasOf5{Provider: settings, Resources: map[string]*wire.SchemaOf5{"t_thing": thing},
		DataSources: map[string]*wire.SchemaOf5{"t_thing": thing}, Capabilities: &wire.Capabilities{PlanDestroy: true}}
}

func schemas6(*wire.Empty) *wire.Schemas {
	size := []*wire.Attribute{{Name: "size", Type: []byte(`"number"`), Optional: true}}
	thing := &wire.Schema{Version: 3, Block: &wire.Block{
		Attributes: []*wire.Attribute{{Name: "id", Type: []byte(`"string"`), Computed: true},
			{Name: "name", Type: []byte(`"string"`), Required: true},
			{Name: "secret", Type: []byte(`"string"`), Optional: true, Sensitive: true, WriteOnly: true},
			{Name: "part", Optional: true, NestedType: &wire.NestedType{Attributes: size, Nesting: wire.Nesting_NESTING_LIST}}},
	}}
	settings := &wire.Schema{Block: &wire.Block{
		Attributes: []*wire.Attribute{{Name: "token", Type: []byte(`"string"`), Optional: true}}}}
	return &wire.Schemas{Provider: settings, Resources: map[string]*wire.Schema{"t_thing": thing},
		DataSources: map[string]*wire.Schema{"t_thing": thing}, Capabilities: &wire.Capabilities{PlanDestroy: true}}
}

func value(w *wire.Value, t cty.Type) cty.Value {
	v, err := msgpack.Unmarshal(w.GetMsgpack(), t)
	if err != nil {
		panic(err)
	}
	return v
}

func sent(v cty.Value) *wire.Value {
	b, err := msgpack.Marshal(v, thingType())
	if err != nil {
		panic(err)
	}
	return &wire.Value{Msgpack: b}
}

// wrong are diagnostics for a token or a name that says so, after a warning, which is none.
func wrong(what string) []*wire.Diagnostic {
	all := []*wire.Diagnostic{{Severity: wire.Diagnostic_WARNING, Summary: "only a warning"}}
	if what == "wrong" {
		at := &wire.Path{Steps: []*wire.Path_Step{
			{Selector: &wire.Path_Step_AttributeName{AttributeName: "part"}},
			{Selector: &wire.Path_Step_ElementKeyInt{ElementKeyInt: 1}},
			{Selector: &wire.Path_Step_ElementKeyString{ElementKeyString: "k"}}}}
		all = append(all, &wire.Diagnostic{Severity: wire.Diagnostic_ERROR, Summary: "It is wrong", Detail: "because",
			Attribute: at}, &wire.Diagnostic{Severity: wire.Diagnostic_ERROR, Summary: "And more", Detail: "of it"})
	}
	return all
}

func named(v cty.Value) string {
	if v.IsNull() || v.GetAttr("name").IsNull() {
		return ""
	}
	return v.GetAttr("name").AsString()
}

func prepared(q *wire.ConfigRequest) *wire.PreparedResponse {
	return &wire.PreparedResponse{Diagnostics: wrong(token(q.GetConfig()))}
}

func configured(q *wire.ConfigureRequest) *wire.DiagnosticsResponse {
	if token(q.GetConfig()) == "refused" {
		return &wire.DiagnosticsResponse{Diagnostics: wrong("wrong")}
	}
	return &wire.DiagnosticsResponse{}
}

func token(w *wire.Value) string {
	v := value(w, cty.Object(map[string]cty.Type{"token": cty.String})).GetAttr("token")
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}

func checked(q *wire.ValidateRequest) *wire.DiagnosticsResponse {
	return &wire.DiagnosticsResponse{Diagnostics: wrong(named(value(q.GetConfig(), thingType())))}
}

// upgraded answers as JSON, as providers may.
func upgraded(q *wire.UpgradeRequest) *wire.UpgradeResponse {
	if q.GetVersion() == 0 {
		return &wire.UpgradeResponse{Diagnostics: wrong("wrong")}
	}
	return &wire.UpgradeResponse{UpgradedState: &wire.Value{Json: q.GetRawState().GetJson()}}
}

func read(q *wire.ReadRequest) *wire.ReadResponse {
	v := value(q.GetCurrentState(), thingType())
	if named(v) == "gone" {
		return &wire.ReadResponse{}
	}
	return &wire.ReadResponse{NewState: q.GetCurrentState(), Private: append(q.GetPrivate(), '!'),
		Diagnostics: wrong(named(v))}
}

func planned(q *wire.PlanRequest) *wire.PlanResponse {
	v := value(q.GetProposedNewState(), thingType())
	name := named(v)
	if name == "crash" {
		fmt.Fprintln(os.NewFile(2, "stderr"), "panic: the provider has a bug") // where Go writes a real one
		os.Exit(3)
	}
	if value(q.GetPriorState(), thingType()).IsNull() && !v.IsNull() {
		all := v.AsValueMap()
		all["id"] = cty.UnknownVal(cty.String)
		v = cty.ObjectVal(all)
	}
	return &wire.PlanResponse{PlannedState: sent(v), PlannedPrivate: []byte("planned"), LegacyTypeSystem: name == "legacy",
		Diagnostics: wrong(name), RequiresReplace: []*wire.Path{{Steps: []*wire.Path_Step{
			{Selector: &wire.Path_Step_AttributeName{AttributeName: "name"}}}}}}
}

func applied(q *wire.ApplyRequest) *wire.ApplyResponse {
	v := value(q.GetPlannedState(), thingType())
	if v.IsNull() {
		return &wire.ApplyResponse{NewState: q.GetPlannedState()}
	}
	all := v.AsValueMap()
	all["id"] = cty.StringVal("id of " + named(v))
	return &wire.ApplyResponse{NewState: sent(cty.ObjectVal(all)), Private: q.GetPlannedPrivate(),
		Diagnostics: wrong(named(v))}
}

func imported(q *wire.ImportRequest) *wire.ImportResponse {
	if q.GetId() == "none" {
		return &wire.ImportResponse{ImportedResources: []*wire.ImportResponse_Imported{{TypeName: "t_other"}}}
	}
	if q.GetId() == "wrong" {
		return &wire.ImportResponse{Diagnostics: wrong("wrong")}
	}
	v := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(q.GetId()), "name": cty.NullVal(cty.String),
		"secret": cty.NullVal(cty.String), "part": cty.NullVal(thingType().AttributeType("part"))})
	return &wire.ImportResponse{ImportedResources: []*wire.ImportResponse_Imported{
		{TypeName: q.GetTypeName(), State: sent(v), Private: []byte("kept")}}}
}

func readData(q *wire.ReadDataRequest) *wire.ReadDataResponse {
	v := value(q.GetConfig(), thingType())
	all := v.AsValueMap()
	all["id"] = cty.StringVal("read")
	return &wire.ReadDataResponse{State: sent(cty.ObjectVal(all)), Diagnostics: wrong(named(v))}
}

func stopped(*wire.Empty) *wire.StopResponse { return &wire.StopResponse{Error: "it can't be stopped"} }
