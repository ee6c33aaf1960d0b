//go:build e2e

package test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

const (
	largeWorkspace = "large"
	largeFile      = "a-large.bin"
	largeFileSize  = 9 * mib
	manyFiles      = 8000 // of the longest paths
)

// runsOfGlutton are its runs: one that has ended, and one that is being planned.
type runsOfGlutton struct {
	client *client.Client
	ended  string
	live   api.Assignment
	pool   string // its token
}

// noise is what can't be packed.
func noise(size int) []byte {
	all := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(all)
	return all
}

func (g *glutton) mustRun(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// configure makes a workspace with two snapshots of many files, of which some are large, and
// with variables.
func (g *glutton) configure() {
	g.runs.client = client.New(client.Options{Address: g.server.url, Org: g.me.id, Key: g.me.key, Tries: 1})
	ctx, c, pool := g.t.Context(), g.runs.client, "pool"
	made, err := c.CreatePool(ctx, pool, nil)
	g.mustRun(err)
	g.runs.pool = made.Token
	_, err = c.CreateWorkspace(ctx, api.WorkspaceChange{Name: largeWorkspace, Pool: &pool})
	g.mustRun(err)
	for i := range 8 {
		order := fmt.Sprintf(`{"set":[{"kind":"terraform","name":"v%d","value":"%s"}]}`, i, strings.Repeat("<", 240<<10))
		g.must(g.me, "POST", "/api/v1/variables", order)
		g.must(g.me, "POST", "/api/v1/workspaces/"+largeWorkspace+"/-/variables", order)
	}
	large := g.content(noise(largeFileSize))
	for snapshot := range 2 {
		files := []api.SnapshotFile{{Path: largeFile, SHA256: large}}
		for i := range 8 {
			files = append(files, api.SnapshotFile{Path: fmt.Sprintf("a-text-%d.txt", i),
				SHA256: g.content(manyLines(8*snapshot + i))})
		}
		small, folder := g.content(fmt.Append(nil, "small ", snapshot)), strings.Repeat("folder/", 25)+
			strings.Repeat("f", 200)+"/"+strings.Repeat("F", 250)+"/"
		for i := range manyFiles {
			files = append(files, api.SnapshotFile{Path: fmt.Sprintf("z%s%0250d.txt", folder, i), SHA256: small})
		}
		_, err := c.PushSnapshot(ctx, largeWorkspace, api.SnapshotOrder{Files: files})
		g.mustRun(err)
	}
}

// manyLines is a text that has no line of another one's.
func manyLines(which int) []byte {
	var text bytes.Buffer
	for i := range 9000 {
		fmt.Fprintf(&text, "%3d %6d %s\n", which, i, strings.Repeat("x", 88))
	}
	return text.Bytes()
}

// content keeps a file's content for a snapshot.
func (g *glutton) content(content []byte) string {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	g.mustRun(g.runs.client.PutContent(g.t.Context(), largeWorkspace, digest, bytes.NewReader(content)))
	return digest
}

// execute has an agent plan and apply a run with large files, and begin the plan of another one.
func (g *glutton) execute() {
	ctx, c := g.t.Context(), g.runs.client
	me, err := c.RegisterAgent(ctx, g.runs.pool,
		api.AgentRegistration{Name: "host", Version: "test", System: "linux_amd64", Sandbox: "none", BootID: "boot"})
	g.mustRun(err)
	g.runs.ended = g.order()
	plan := g.claim(me)
	g.log(plan, bodySize/mib)
	g.put(plan, "plan", encryptedPlan(1000))
	g.put(plan, "plan_json", largePlan())
	g.put(plan, "lock_file", []byte("# none\n"))
	g.report(plan, "show")
	run, err := c.Run(ctx, g.runs.ended)
	g.mustRun(err)
	_, err = c.ApproveRun(ctx, run.ID, api.Decision{Digest: run.Pin.Digest})
	g.mustRun(err)
	apply := g.claim(me)
	g.put(apply, "outputs", []byte(`{"k":{"sensitive":false,"type":"string","value":"`+strings.Repeat("<", 4*mib-1000)+
		`"}}`))
	g.report(apply, "output")
	if run, err = c.Run(ctx, g.runs.ended); err != nil || run.Status != "succeeded" {
		g.t.Fatalf("the run is %s: %s, %v", run.Status, run.Reason, err)
	}
	g.order()
	g.runs.live = g.claim(me)
	g.put(g.runs.live, "plan", encryptedPlan(bodySize))
}

// encryptedPlan is a plan file as OpenTofu encrypts it: the only one that the server takes unseen.
func encryptedPlan(size int) []byte {
	return []byte(`{"meta":{},"encrypted_data":"` + strings.Repeat("A", size) + `","encryption_version":"v0"}`)
}

// order makes a run of as many targets as there may be.
func (g *glutton) order() string {
	targets := make([]string, 200)
	for i := range targets {
		targets[i] = fmt.Sprintf("t.%s%d", strings.Repeat("n", 300), i)
	}
	run, err := g.runs.client.CreateRun(g.t.Context(),
		api.RunOrder{Workspace: largeWorkspace, Kind: "apply", Targets: targets}, "")
	g.mustRun(err)
	return run.ID
}

func (g *glutton) claim(agent api.Agent) api.Assignment {
	found, err := g.runs.client.ClaimRun(g.t.Context(), agent.ID, agent.Secret,
		api.AgentClaim{Key: uuid.NewString(), Wait: 20, Sandbox: "none", BootID: "boot"})
	g.mustRun(err)
	if found == nil {
		g.t.Helper()
		run, err := g.runs.client.Run(g.t.Context(), g.runs.ended)
		g.t.Fatalf("no stage of a run waits; the first is %s: %s, %v", run.Status, run.Reason, err)
	}
	return *found
}

// renew keeps the run that is being planned.
func (g *glutton) renew() {
	a := g.runs.live
	_, err := g.runs.client.RenewLease(g.t.Context(), a.Token, a.Run,
		api.LeaseRenewal{Epoch: a.Epoch, Stage: a.Stage, Phase: "plan"})
	g.mustRun(err)
}

// log writes a log of so many MiB.
func (g *glutton) log(a api.Assignment, pieces int) {
	piece := bytes.Repeat([]byte("a line of the log, about as long as lines are\n"), mib/46)
	for i := range pieces {
		_, err := g.runs.client.AppendRunLog(g.t.Context(), a.Token, a.Run, a.Stage, a.Attempt, int64(i*len(piece)), piece)
		g.mustRun(err)
	}
}

func (g *glutton) put(a api.Assignment, kind string, content []byte) {
	sum := sha256.Sum256(content)
	described := api.Artefact{Kind: kind, Attempt: a.Attempt, Size: int64(len(content)),
		Digest: hex.EncodeToString(sum[:])}
	_, err := g.runs.client.PutArtefact(g.t.Context(), a.Token, a.Run, described, bytes.NewReader(content))
	g.mustRun(err)
}

// report ends a stage, which had much to say.
func (g *glutton) report(a api.Assignment, phase string) {
	var found []api.Diagnostic
	for range 50 {
		found = append(found, api.Diagnostic{Severity: "warning", Summary: "much", Detail: strings.Repeat("<", 400)})
	}
	_, err := g.runs.client.ReportPhase(g.t.Context(), a.Token, a.Run, api.PhaseReport{
		Epoch: a.Epoch, Stage: a.Stage, Attempt: a.Attempt, Phase: phase, Outcome: "succeeded", Last: true, Found: found,
		Tool: &api.Tool{Name: "opentofu", Version: "1.12.6", Digest: "05042c29", System: "linux_amd64"},
	})
	g.mustRun(err)
}

// largePlan is a plan's JSON of large changes.
func largePlan() []byte {
	var all []string
	for i := range bodySize / (100 << 10) {
		all = append(all, fmt.Sprintf(`{"address":"terraform_data.r%[1]d","mode":"managed","type":"terraform_data","name":"r%[1]d","provider_name":"terraform.io/builtin/terraform",`+
			`"change":{"actions":["create"],"before":null,"after":{"input":"%[2]s"},"after_unknown":{"id":true},"before_sensitive":false,"after_sensitive":{}}}`, i, strings.Repeat("<", 100<<10)))
	}
	return []byte(`{"format_version":"1.2","terraform_version":"1.12.6","resource_changes":[` + strings.Join(all, ",") +
		`],"output_changes":{}}`)
}
