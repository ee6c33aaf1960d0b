// Package plugin drives providers that are programs of their own, through versions 5 and 6 of the protocol
// that Terraform and OpenTofu speak with them.
package plugin

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/provider"
)

// The handshake shows a provider that it was started to be one. It keeps nothing secret.
const (
	cookieName  = "TF_PLUGIN_MAGIC_COOKIE"
	cookieValue = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
)

// maxMessage bounds one message: schemas of the largest providers have tens of megabytes.
const maxMessage = 256 << 20

// connected hands the connection out of go-plugin.
type connected struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (connected) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("this side only calls")
}

func (connected) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// Start runs the program at path and returns the provider that it is.
func Start(ctx context.Context, path string) (provider.Provider, error) {
	log := newTail()
	log.lines = oplog.From(ctx, "provider").With("provider", filepath.Base(path))
	log.lines.DebugContext(ctx, "a provider is started")
	// The program outlives ctx, which bounds its start only: Close ends it.
	command := exec.Command(path)
	command.Env = append(quiet(), os.Environ()...) // of two values of a variable the last one counts
	return connect(ctx, path, log, &goplugin.ClientConfig{Cmd: command, AutoMTLS: true, Managed: false})
}

// quiet has providers log what is at least information, unless the environment says otherwise: by themselves they log
// several lines about each call, which takes both sides longer than the call.
func quiet() []string {
	return []string{"TF_LOG_PROVIDER=INFO", "TF_LOG_SDK=INFO"}
}

// Reattach uses a provider that runs already, such as one under a debugger.
func Reattach(ctx context.Context, address net.Addr, pid, protocol int) (provider.Provider, error) {
	// Nothing is negotiated with it, so that what it speaks has to be known.
	if _, ok := callNames(protocol); !ok {
		return nil, spoken(address.String(), protocol)
	}
	return connect(ctx, address.String(), newTail(), &goplugin.ClientConfig{Plugins: plugins(),
		Reattach: &goplugin.ReattachConfig{Protocol: goplugin.ProtocolGRPC, ProtocolVersion: protocol, Addr: address,
			Pid: pid, Test: true}})
}

func connect(ctx context.Context, name string, log *tail, config *goplugin.ClientConfig) (provider.Provider, error) {
	config.HandshakeConfig = goplugin.HandshakeConfig{MagicCookieKey: cookieName, MagicCookieValue: cookieValue}
	config.VersionedPlugins = map[int]goplugin.PluginSet{5: plugins(), 6: plugins()}
	config.AllowedProtocols = []goplugin.Protocol{goplugin.ProtocolGRPC}
	config.Logger = hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info, DisableTime: true})
	config.Stderr, config.SyncStdout, config.SyncStderr = log, log, log
	config.GRPCDialOptions = []grpc.DialOption{grpc.WithDefaultCallOptions(
		grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage))}
	client := goplugin.NewClient(config)
	conn, err := dial(client)
	if err != nil {
		client.Kill()
		return nil, &provider.Fault{Summary: fmt.Sprintf("the provider %s doesn't start", name),
			Detail: err.Error() + log.said()}
	}
	protocol := client.NegotiatedVersion()
	if config.Reattach != nil {
		protocol = config.Reattach.ProtocolVersion
	}
	names, ok := callNames(protocol)
	if !ok {
		client.Kill()
		return nil, spoken(name, protocol)
	}
	return &remote{name: name, protocol: protocol, names: names, client: client, conn: conn, log: log}, ctx.Err()
}

func plugins() goplugin.PluginSet { return goplugin.PluginSet{"provider": connected{}} }

// spoken says that a provider speaks another version of the protocol.
func spoken(name string, protocol int) error {
	return &provider.Fault{Summary: fmt.Sprintf("the provider %s speaks version %d of the protocol", name, protocol)}
}

func dial(client *goplugin.Client) (*grpc.ClientConn, error) {
	protocol, err := client.Client()
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Dispense("provider")
	if err != nil {
		return nil, err
	}
	return raw.(*grpc.ClientConn), nil
}

// names are what a version of the protocol calls its calls.
type names struct {
	schema, checkProvider, checkResource, checkData, configure, stop string
	upgrade, read, plan, apply, importing, readData                  string
}

func callNames(protocol int) (names, bool) {
	n := names{upgrade: "UpgradeResourceState", read: "ReadResource", plan: "PlanResourceChange",
		apply: "ApplyResourceChange", importing: "ImportResourceState", readData: "ReadDataSource"}
	switch protocol {
	case 5:
		n.schema, n.checkProvider, n.configure, n.stop = "GetSchema", "PrepareProviderConfig", "Configure", "Stop"
		n.checkResource, n.checkData = "ValidateResourceTypeConfig", "ValidateDataSourceConfig"
	case 6:
		n.schema, n.checkProvider = "GetProviderSchema", "ValidateProviderConfig"
		n.configure, n.stop = "ConfigureProvider", "StopProvider"
		n.checkResource, n.checkData = "ValidateResourceConfig", "ValidateDataResourceConfig"
	default:
		return n, false
	}
	return n, true
}
