package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
)

// What goldens are made of is as long as what people have: the longest state name is one of 60
// characters.
const (
	shortName = "prod/network"
	longName  = "team-payments/europe-west-4/production/kubernetes-cluster-01"
	longWho   = "alice.example-surname@build-agent-0042.ci.example.com"
	goldenRun = "01JD8X6Q4ZK4T1M5S0R9V7E2WB"
	goldenSHA = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
)

// goldenTime is so many hours before the shell's clock.
func goldenTime(hours int) time.Time {
	return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(-time.Duration(hours) * time.Hour)
}

func pointer[T any](v T) *T { return &v }

func goldenVersion(number uint64, who string) api.Version {
	return api.Version{
		Number: number, Serial: number + 3, Lineage: "3f2b7c1e-5a64-4d0e-9a43-0c6f3f0d8e11", Size: 184_320, Digest: goldenSHA,
		TerraformVersion: "1.12.6",
		Resources:        pointer(217), CreatedAt: goldenTime(int(100 - number)), KeyID: "0f3a9c21d4e5", Who: who,
		Operation: "OperationTypeApply", Address: "2001:db8::1234:5678", RequestID: "8e72b0d4c1a94f0e",
	}
}

func goldenStates() []api.State {
	newest, other := goldenVersion(42, longWho), goldenVersion(7, "ci@runner")
	lock := &api.Lock{ID: "9db590f1-b6fe-c5f2-2678-8804f089deba", Who: longWho, Operation: "OperationTypeApply",
		Since: goldenTime(3), Seen: goldenTime(1), KeyID: "0f3a9c21d4e5"}
	return []api.State{{Name: shortName, Version: &other},
		{Name: longName, Version: &newest, Lock: lock, OpenCandidates: 2}, {Name: "lost", OpenCandidates: 1}}
}

func goldenVersions() []api.Version {
	back := goldenVersion(43, "")
	back.Origin, back.Operation = &api.Origin{Version: 41,
		Reason: "the new cluster does not come up in europe-west-4, see the incident"}, ""
	warned := goldenVersion(41, "ci@runner")
	warned.Warnings = []string{"shrunk", "older_terraform"}
	return []api.Version{back, goldenVersion(42, longWho), warned}
}

func goldenCandidates() []api.Candidate {
	kept := goldenVersion(0, longWho)
	kept.Warnings = []string{"emptied"}
	return []api.Candidate{{ID: "6cfe64124c473b25", Status: "open", Source: "held", Base: 42, Version: kept},
		{ID: "3f9a0c62d1e70b15", Status: "promoted", Source: "pushed", Base: 40, Decided: pointer(goldenTime(2)),
			Version: goldenVersion(0, "ci@runner")}}
}

func goldenRuns() []api.Run {
	ci := api.Actor{KeyID: "0f3a9c21d4e5", KeyName: "ci"}
	run := api.Run{
		ID: goldenRun, Workspace: longName, Kind: "apply", Status: "awaiting_approval", Phase: "check",
		Reason:  "it needs 2 approvals, and has 1 by alice@example.com",
		Message: "roll the node pool over to the new image", Trigger: ci, Attempt: 1, Snapshot: goldenSHA,
		Counts: &api.RunCounts{Add: 12, Change: 3, Destroy: 1, Any: true}, Needed: 2,
		Approvals: []api.Approval{{Digest: goldenSHA, Approved: true, Reason: "looks right",
			By: api.Actor{Subject: "alice@example.com"}, At: goldenTime(1)}},
		Executor:  &api.Executor{Agent: "builtin", Sandbox: &api.Sandbox{Level: "namespaces", Network: "open"}},
		CreatedAt: goldenTime(2), PlannedAt: pointer(goldenTime(1)),
		Diagnostics: []api.Diagnostic{{Severity: "warning", Summary: "Argument is deprecated",
			Detail:  "Use another one, such as what the documentation of the provider names.",
			Address: "module.cluster.google_container_node_pool.primary[0]", File: "modules/cluster/main.tf", Line: 17}},
		Phases: []api.PhaseTime{{Phase: "plan", Attempt: 1, Seconds: 12.4, Outcome: "succeeded"}},
	}
	run.Pin = &api.Pin{Digest: goldenSHA, Changes: goldenSHA}
	run.Pin.State.Version, run.Pin.State.Serial, run.Pin.Tool.Name, run.Pin.Tool.Version = 42, 45, "opentofu", "1.12.6"
	done := api.Run{ID: "01JD8X5A7B0C1D2E3F4G5H6J7K", Workspace: shortName, Kind: "plan", Status: "succeeded", Trigger: ci,
		Attempt: 1, Counts: &api.RunCounts{}, CreatedAt: goldenTime(5)}
	return []api.Run{run, done}
}

func goldenSnapshots() []api.Snapshot {
	ci := api.Actor{KeyID: "0f3a9c21d4e5", KeyName: "ci"}
	return []api.Snapshot{{Number: 12, ID: goldenSHA, Files: 37, Bytes: 91_204,
		Message: "Merge pull request 4711 from payments/node-image", CreatedAt: goldenTime(2), CreatedBy: ci},
		{Number: 11, ID: strings.Repeat("0a", 32), Files: 37, Bytes: 91_180, CreatedAt: goldenTime(30), CreatedBy: ci}}
}

func goldenWorkspaces() []api.Workspace {
	settings := api.WorkspaceSettings{Tool: "opentofu", Version: ">= 1.9, < 2.0", Pool: "eu", AutoApply: "never",
		Approvals: 2, PlanTTL: 86_400, ApprovalTTL: 86_400,
		PlanTimeout: 3600, ApplyTimeout: 14_400, PlanGrace: 60, ApplyGrace: 900, MinSandbox: "landlock",
		Outputs: []string{"cluster_endpoint", "cluster_ca_certificate", "node_pool_names"}}
	by := api.Actor{Subject: longWho}
	return []api.Workspace{{Name: shortName,
		Settings: api.WorkspaceSettings{Tool: "terraform", AutoApply: "always", MinSandbox: "none"}, UpdatedAt: goldenTime(9),
		UpdatedBy: by},
		{Name: longName, Settings: settings, Revision: 17, Snapshot: pointer(goldenSnapshots()[0]), UpdatedAt: goldenTime(4),
			UpdatedBy: by}}
}

func goldenVariables() api.Variables {
	by := api.Actor{KeyID: "0f3a9c21d4e5", KeyName: "ci"}
	return api.Variables{Revision: 17, Variables: []api.Variable{
		{Kind: "terraform", Name: "region", Value: pointer("europe-west-4"), Scope: "workspace", UpdatedAt: goldenTime(4),
			UpdatedBy: by},
		{Kind: "terraform", Name: "db_password", Sensitive: true, Scope: "workspace", UpdatedAt: goldenTime(4),
			UpdatedBy: by},
		{Kind: "environment", Name: "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
			Value: pointer("terraform@payments-production.iam.gserviceaccount.com"), Scope: "organization", Overridden: true,
			UpdatedAt: goldenTime(4), UpdatedBy: by},
	}}
}

func goldenEvents() []api.Event {
	return []api.Event{
		{Sequence: 9, At: goldenTime(1), Action: "state.write", State: longName, Version: 42, KeyID: "0f3a9c21d4e5",
			KeyName: "ci", Role: "writer", Address: "192.0.2.17"},
		{Sequence: 8, At: goldenTime(2), Action: "lock.force", State: shortName, Note: longWho,
			Reason: "the runner is gone, and so is who started it", Subject: "alice@example.com",
			Address: "2001:db8::1234:5678"},
		{Sequence: 7, At: goldenTime(3), Action: "access.refused", Refused: "state:purge", KeyID: "0f3a9c21d4e5",
			KeyName: "ci", Address: "192.0.2.17"},
	}
}

func goldenResources() []api.Resource {
	return []api.Resource{
		{Place: api.Place{Source: "state", State: longName,
			Address: `module.cluster.google_container_node_pool.primary["europe-west-4a"]`}, Type: "google_container_node_pool",
			Attributes: map[string]string{"id": "projects/payments/locations/europe-west-4/clusters/main/nodePools/a"}},
		{Place: api.Place{Source: "state", State: shortName, Address: "aws_vpc.main"}, Type: "aws_vpc",
			Attributes: map[string]string{"id": "vpc-0a1b2c3d4e5f67890"}},
		{Place: api.Place{Source: "upload", Address: "web-server-01"}, Type: "vm_instance"},
	}
}

func goldenChange() api.ResourceChange {
	step := func(name string) []json.RawMessage { raw, _ := json.Marshal(name); return []json.RawMessage{raw} }
	text := func(v any) json.RawMessage { raw, _ := json.Marshal(v); return raw }
	return api.ResourceChange{Action: "changed",
		Instance: api.Instance{Address: "aws_iam_policy.deploy", Mode: "managed", Type: "aws_iam_policy", Name: "deploy"},
		Attributes: []api.AttributeChange{
			{Path: append(step("cidrs"), text(0)), Change: api.Change{Before: text("10.0.0.0/8")}},
			{Path: step("policy"), Change: api.Change{Before: text(`{"Action":"s3:*"}`), After: text(`{"Action":"s3:Get*"}`)},
				Inside: []api.AttributeChange{{Path: step("Action"),
					Change: api.Change{Before: text("s3:*"), After: text("s3:Get*")}}}},
			{Path: step("user_data"),
				Change: api.Change{Before: text("#!/bin/sh\nset -e\nold\n"), After: text("#!/bin/sh\nset -e\nnew\n")}},
		}}
}

// goldenDiff is what a server says of two versions.
const goldenDiff = `  # serial: 44 -> 45
  ~ aws_iam_policy.deploy {
      - cidrs[0] = "10.0.0.0/8"
      ~ policy (JSON)
          ~ Statement[0].Action = "s3:*" -> "s3:Get*"
    }

Outputs:
  - subnets[0] = "subnet-0a1b2c3d"

0 added, 1 changed, 0 removed, 0 moved; 1 output changed.
`

// goldenAnswers is what the server of the goldens answers, by path.
func goldenAnswers() map[string]any {
	extent := api.Extent{Sources: []string{"state", "upload"}, Complete: true}
	org := uuid.MustParse(someOrg)
	return map[string]any{
		"/api/v1/states": api.States{States: goldenStates()},
		"/api/v1/locks":  api.States{States: goldenStates()[1:2]},
		"/api/v1/expectations": api.States{States: []api.State{{Name: longName, Expectation: &api.Expectation{
			Findings: []string{"emptied", "shrunk"}, Until: goldenTime(3), KeyName: "ci",
			Reason: "the network moves to another region, and all of this is made again there",
		}}}},
		"/api/v1/audit":                                                     api.Events{Events: goldenEvents()},
		"/api/v1/state/" + longName:                                         network(45, "large", "small"),
		"/api/v1/state/" + longName + "/-/versions":                         api.Versions{Versions: goldenVersions()},
		"/api/v1/state/" + longName + "/-/versions/42/diff":                 goldenDiff,
		"/api/v1/state/" + longName + "/-/candidates":                       api.Candidates{Candidates: goldenCandidates()},
		"/api/v1/state/" + longName + "/-/candidates/6cfe64124c473b25/diff": goldenDiff,
		"/api/v1/state/" + longName + "/-/outputs": json.RawMessage(`{"outputs":{
			"cluster_endpoint":{"sensitive":false,"type":"string","value":"https://europe-west-4.clusters.payments.example.com:6443/api"},
			"subnets":{"sensitive":false,"type":["list","string"],"value":["subnet-0a1b2c3d","subnet-1b2c3d4e","subnet-2c3d4e5f","subnet-3d4e5f60"]},
			"token":{"sensitive":true,"type":"string","value":"(sensitive value)"}},"version":42}`),
		"/enclaves/product-a-dev/partitions/db/iac/runs": []api.IACRun{
			{ID: goldenRun, EnclaveID: "product-a-dev", PartitionID: "db", Operation: "Provision", Status: "Succeeded",
				StartedAt: goldenTime(3), FinishedAt: new(goldenTime(2))}},
		"/api/v1/runs":              api.Runs{Runs: goldenRuns()},
		"/api/v1/runs/" + goldenRun: goldenRuns()[0],
		"/api/v1/runs/" + goldenRun + "/events": api.RunEvents{Events: []api.RunEvent{
			{Sequence: 1, At: goldenTime(2), Type: "created", To: "pending",
				By: api.Actor{KeyID: "0f3a9c21d4e5", KeyName: "ci"}},
			{Sequence: 2, At: goldenTime(1), Type: "planned", To: "awaiting_approval", By: api.Actor{Subject: longWho},
				Note: "12 to add, 3 to change, 1 to destroy; two people have to approve it"}}},
		"/api/v1/runs/" + goldenRun +
			"/outputs": api.RunOutputs{Outputs: []api.RunOutput{{Name: "cluster_endpoint",
			Value: json.RawMessage(`"https://europe-west-4.clusters.payments.example.com:6443/api"`)},
			{Name: "token", Sensitive: true}}, Missing: []string{"node_pool_names"}},
		"/api/v1/runs/" + goldenRun +
			"/changes": api.RunChanges{Counts: api.RunCounts{Add: 1, Change: 1, Any: true}, Changes: []api.RunChange{
			{Address: "aws_vpc.main", Actions: []string{"create"}},
			{Address: "module.cluster.aws_eks_cluster.main", Actions: []string{"update"}, Because: []string{"version"}}}},
		"/api/v1/workspaces":                              api.Workspaces{Workspaces: goldenWorkspaces()},
		"/api/v1/workspaces/" + longName:                  goldenWorkspaces()[1],
		"/api/v1/workspaces/" + longName + "/-/variables": goldenVariables(),
		"/api/v1/workspaces/" + longName + "/-/snapshots": api.Snapshots{Snapshots: goldenSnapshots()},
		"/api/v1/workspaces/" + longName +
			"/-/snapshots/newest/diff": "--- a/main.tf\n+++ b/main.tf\n@@ -1,1 +1,1 @@\n-old\n+new\n",
		"/api/v1/pools": api.AgentPools{Pools: []api.AgentPool{
			{Name: "eu", Workspaces: []string{"prod/*", "team-payments/europe-west-4/*"},
				Agents: []api.Agent{{Name: "build-agent-0042.ci.example.com", System: "linux_amd64", Sandbox: "namespaces",
					SeenAt: goldenTime(0).Add(-9 * time.Second), Runs: []string{goldenRun}}}},
			{Name: "shared", Lender: someOrg}}},
		"/api/v1/repositories":               api.Repositories{Repositories: goldenRepositories()},
		"/api/v1/pulls":                      api.Pulls{Pulls: []api.Pull{goldenPull()}},
		"/api/v1/repositories/infra/pulls/7": goldenPull(),
		"/api/v1/layers":                     api.Layers{Layers: []api.Layer{goldenLayer()}},
		"/api/v1/layers/" + longName:         goldenLayer(),
		"/api/v1/discover": api.Discovered{Commit: goldenSHA[:40], Layers: []api.DiscoveredLayer{
			{Name: longName, Settings: goldenLayer().Settings, Line: 2, Status: "changed"}}},
		"/api/v1/drift": api.Drift{Causes: []api.DriftCause{{Type: "google_container_node_pool", Action: "changed",
			Attributes: []string{"initial_node_count", "labels.owner"}, Since: goldenTime(3), Count: 12, Layers: 2,
			Resources: []api.DriftedResource{{Layer: longName, Address: "google_container_node_pool.main"}}}}},
		"/api/v1/drift/trend": api.DriftTrend{Days: []api.DriftDay{
			{Day: "2026-11-19", Checks: 1440, Found: 72, Layers: 20, Drifted: 1, Resources: 217, New: 217}, {Day: "2026-11-20"},
			{Day: "2026-11-21", Checks: 7, Layers: 7, Healed: 217}}},
		"/api/v1/resources": api.Resources{Resources: goldenResources(), Extent: extent},
		"/api/v1/resources/coverage": api.Counts{Counts: map[string]map[string]int64{"state": {"managed": 217, "missing": 3},
			"upload": {"unmanaged": 12}}, Extent: extent},
		"/api/v1/resources/aws_iam_policy.deploy/history": api.History{History: []api.Step{{Version: goldenVersion(42,
			longWho), Against: 41, Changes: []api.ResourceChange{goldenChange()}}}},
		"/api/v1/whoami": api.Identity{OrgID: org, OrgName: "Payments and Settlement, Europe", KeyID: "0f3a9c21d4e5",
			KeyName: "ci", Role: "writer",
			Rights: []string{"state:read", "state:write", "state:lock", "state:unlock", "state:metadata", "state:outputs",
				"data:read", "data:write"},
			States:  []string{"prod/*", "team-payments/europe-west-4/production/*", "shared/network"},
			Expires: pointer(goldenTime(-720)),
			Limits:  api.Limits{Requests: pointer(60), States: pointer(600), StatesLeft: pointer(573)},
			Quota:   &api.Quota{Used: 5 << 30, Limit: pointer(int64(10 << 30))}, Address: "2001:db8::1234:5678"},
		"/api/v1/data": json.RawMessage(`{"count":2,"data":[` +
			`{"timestamp":"2026-01-31T12:00:00.000000Z","data":{"provider":"aws","category":"compute","resource_type":"vm_instance","resource_name":"web-server-01","attributes":{"size":"t2.micro","zone":"eu-1a","tags":{"team":"payments"}}}},` +
			`{"timestamp":"2026-01-31T13:00:00.000000Z","data":{"provider":"kubernetes","category":"container","resource_type":"google_container_node_pool","resource_name":"payments-europe-west-4-production-node-pool-01","attributes":{}}}],"next":null}`),
	}
}

// answering starts a server that answers as goldens need it.
func (s *shell) answering() {
	answers := goldenAnswers()
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if prefix := r.URL.Query().Get("prefix"); prefix != "" {
			one := slices.DeleteFunc(goldenStates(), func(s api.State) bool { return !strings.HasPrefix(s.Name, prefix) })
			_ = json.NewEncoder(w).Encode(api.States{States: one})
			return
		}
		switch answer := answers[strings.ReplaceAll(r.URL.Path, "%2F", "/")].(type) {
		case nil:
			s.t.Errorf("asked %s", r.URL)
			w.WriteHeader(http.StatusNotFound)
		case string:
			_, _ = w.Write([]byte(answer))
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		}
	}), auth.NewKey(acme))
}

// goldenPull is a pull request of a fork, which somebody has allowed.
func goldenPull() api.Pull {
	at := goldenTime(2)
	return api.Pull{Repository: "infra", Number: 7, Title: "Open 443 for the load balancers of Europe", Author: "bob",
		State: "open", Commit: goldenSHA[:40], Base: "main", Fork: true,
		Allowed: &api.PullAllowed{Commit: goldenSHA[:40], By: "ana", At: at}, SeenAt: &at, Plans: []api.PullPlan{
			{Layer: longName, Commit: goldenSHA[:40], Run: goldenRun, Status: "done", Counts: &api.RunCounts{Add: 1, Any: true},
				Apply: &api.PullApply{By: "ana", Status: "deciding", Reason: "waits for 1 of 2 approvals"}},
			{Layer: "shared/network", Commit: goldenSHA[:40], Run: goldenRun, Status: "failed", Reason: "no such variable"}}}
}

// goldenLayer is a layer that waits for a person.
func goldenLayer() api.Layer {
	at := goldenTime(2)
	return api.Layer{Name: longName, State: "ApplyNeeded", Says: "run " + goldenRun + ": two people have to approve it",
		Settings: api.LayerSettings{Repository: "infra", Branch: "main", Path: "envs/production/network",
			Remediation: "propose"},
		Conditions: []api.LayerCondition{{Type: "IsApplyUpToDate", Status: "False", Reason: "NotApplied",
			Message: "the last plan has changes that are not applied", LastTransition: at}},
		Commits: []api.LayerCommit{{Commit: goldenSHA[:40], At: at, Relevant: true,
			Why: "modules/network/main.tf is read by main.tf:12"}}, Drifted: 2, CheckedAt: &at}
}

func goldenRepositories() []api.Repository {
	at := goldenTime(3)
	return []api.Repository{
		{Name: "infra", URL: "https://github.com/acme/infrastructure-of-all-regions.git", Branches: []string{"main", "release/*"},
			Credential: "github_app", Status: api.RepositoryStatus{FetchedAt: &at}},
		{Name: "network", URL: "ssh://git@git.example.com:2222/network.git", Branches: []string{"main"},
			Credential: "deploy_key", Status: api.RepositoryStatus{Failures: 3, Kind: "host_key", Problem: "no"}},
	}
}
