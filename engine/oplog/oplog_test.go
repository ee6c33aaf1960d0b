package oplog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/oplog"
)

func TestLinesInJSONHaveTheirOperationAndPlace(t *testing.T) {
	var out bytes.Buffer
	ctx := oplog.Begin(t.Context(), oplog.New(&out, slog.LevelInfo, true))
	oplog.From(ctx, "plan").InfoContext(ctx, "it begins", "dir", "a")
	oplog.From(ctx, "plan").DebugContext(ctx, "nobody asked for this")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	for key, want := range map[string]any{"level": "INFO", "logger": "engine.plan", "message": "it begins", "dir": "a",
		"correlation_id": oplog.ID(ctx), "module": "oplog_test",
		"function": "oplog_test.TestLinesInJSONHaveTheirOperationAndPlace"} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if n, ok := line["line"].(float64); !ok || n < 1 || line["timestamp"] == nil || len(oplog.ID(ctx)) != 8 {
		t.Errorf("%s", &out)
	}
}

// Values can't make a line look like two.
func TestLinesForPeopleAreOneLineEach(t *testing.T) {
	var out bytes.Buffer
	ctx := oplog.Begin(t.Context(), oplog.New(&out, slog.LevelDebug, false))
	oplog.From(ctx, "apply").WithGroup("g").WarnContext(ctx, "it is late", "said", "a\n12:00:00 [x] INFO",
		"n", 3, "none", "")
	want := `^\d\d:\d\d:\d\d \[` + oplog.ID(ctx) + `\] WARN engine.apply: it is late g.said="a\\n12:00:00 \[x\] INFO" g.n=3 ` +
		`g.none=""` + "\n$"
	if !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("%s", &out)
	}
}

// What an operation calls stays in it; another one has another ID. Without an operation nothing is logged.
func TestOperationsAreTold(t *testing.T) {
	var out bytes.Buffer
	log := oplog.New(&out, slog.LevelInfo, true)
	first := oplog.Begin(t.Context(), log)
	if oplog.ID(oplog.Begin(first, nil)) != oplog.ID(first) {
		t.Error("an operation within one has an ID of its own")
	}
	if second := oplog.Begin(t.Context(), log); oplog.ID(second) == oplog.ID(first) {
		t.Error("two operations have one ID")
	}
	oplog.From(context.Background(), "plan").Error("nobody's line")
	quiet := oplog.Begin(t.Context(), nil)
	oplog.From(quiet, "plan").Error("nobody reads this")
	if id := oplog.ID(context.Background()); id != "" || out.Len() > 0 || strings.TrimSpace(oplog.ID(quiet)) == "" {
		t.Errorf("%q %s", id, &out)
	}
}
