//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// flow is how far a layer has come with a commit.
type flow struct {
	layer  api.Layer
	run    *api.Run // the commit's, nil while there is none
	commit string
}

// flowMoments are the steps from a delivery to what is applied, each with when it is reached.
func flowMoments() []struct {
	name    string
	reached func(flow) bool
} {
	return []struct {
		name    string
		reached func(flow) bool
	}{
		{"delivered", func(flow) bool { return true }},
		{"looked at", func(f flow) bool { return f.layer.Branch == f.commit }},
		{"begun", func(f flow) bool { return f.run != nil }},
		{"planning", func(f flow) bool { return f.run != nil && f.run.Status != "pending" }},
		{"planned", func(f flow) bool { return f.run != nil && f.run.PlannedAt != nil }},
		{"applying", func(f flow) bool { return f.run != nil && (f.run.Status == "applying" || isOver(*f.run)) }},
		{"applied", func(f flow) bool { return f.run != nil && isOver(*f.run) }},
	}
}

// TestLayerServerKilled kills the server at each step from a push to what is applied, one after the other: each push is
// planned and applied, by one run, as if nothing had been. The usual run is killed at three of the steps.
func TestLayerServerKilled(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	git := gittest.New(t)
	b := newRunBench(t, "HOLDFAST_REPOSITORIES_NETWORKS=127.0.0.1", "HOLDFAST_REPOSITORIES_CA_FILE="+git.CAFile)
	b.act()
	h := &hosted{runBench: b, Repo: git.Repo(t, "infra"), forge: forgetest.New(t, forge.GitHub), name: "prod"}
	h.Write("envs/prod/main.tf", layered)
	h.Write("shared/main.tf", sharing("word-0"))
	h.Commit("Begin")
	h.secret = strings.TrimSpace(string(b.holdfast("repo", "add", "infra", git.URL("infra"), "--provider", "github")))
	found, err := b.client.Repository(t.Context(), "infra")
	b.must(err)
	h.webhook = found.Webhook
	b.holdfast("repo", "fetch", "infra")
	b.holdfast("layer", "add", "prod/app", "--repository", "infra", "--path", "envs/prod", "--remediation", "auto",
		"--tool", "opentofu", "--version", "1.12.6", "--check-every", "off")
	rests := func(l api.Layer) bool { return l.State == "Idle" && waitsForNoRun(l) }
	b.layer("applied", rests)

	moments := flowMoments()
	chosen := rand.Perm(len(moments))
	if measuresBriefly() {
		chosen = chosen[:3]
	}
	for round, i := range chosen {
		word := fmt.Sprint("word-", round+1)
		h.Write("shared/main.tf", sharing(word))
		commit := h.Commit("Say " + word)
		h.deliverPush(commit)
		for deadline := time.Now().Add(awaitLimit); !moments[i].reached(h.flowOf(commit, round+1)); time.Sleep(lookEvery) {
			if time.Now().After(deadline) {
				t.Fatalf("the commit of round %d was never %s", round, moments[i].name)
			}
		}
		b.kill()
		b.must(b.server.start())
		b.layer(moments[i].name+", killed and applied", func(l api.Layer) bool { return rests(l) && l.Applied == commit })
		all := b.runsOf("prod/app")
		if len(all) != round+2 || all[0].Status != "succeeded" {
			t.Fatalf("killed when a commit was %s: there are %d runs, the last of which is %+v", moments[i].name, len(all),
				all[0])
		}
		if state := string(b.holdfast("state", "pull", "prod/app")); !strings.Contains(state, word) {
			t.Fatalf("killed when a commit was %s: what is applied is not what was pushed:\n%s", moments[i].name, state)
		}
	}
}

// flowOf says how far the layer has come with a commit, when so many runs were made before.
func (h *hosted) flowOf(commit string, before int) flow {
	h.Helper()
	l, err := h.client.Layer(h.Context(), "prod/app")
	h.must(err)
	f := flow{layer: l, commit: commit}
	if all := h.runsOf("prod/app"); len(all) > before {
		f.run = &all[0]
	}
	return f
}
