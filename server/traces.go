package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast/holdfast/internal/spans"
)

const (
	// tracesFlush is how long a stop waits for what is left of traces to be sent.
	tracesFlush = 5 * time.Second
	// tracesSilence is how long nothing more is logged about traces that can't be sent.
	tracesSilence = time.Minute
)

// wantsTraces says whether OpenTelemetry's standard variables ask for traces.
func wantsTraces(getenv func(string) string) (bool, error) {
	either := func(kind string) string {
		if of := getenv("OTEL_EXPORTER_OTLP_TRACES_" + kind); of != "" {
			return of
		}
		return getenv("OTEL_EXPORTER_OTLP_" + kind)
	}
	if getenv("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); {
	case exporter == "none", exporter == "" && either("ENDPOINT") == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER = %q: traces are sent by otlp, or none are", exporter)
	}
	if protocol := either("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL = %q: traces are sent by http/protobuf", protocol)
	}
	return true, nil
}

// openTraces returns who makes spans of requests; nil where nobody asks for traces. What is sent
// waits in a queue of the SDK's, of a bounded length: no request waits for it, and what is more is
// not sent.
func (p *parts) openTraces(ctx context.Context, getenv func(string) string) error {
	wanted, err := wantsTraces(getenv)
	if err != nil || !wanted {
		return err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return fmt.Errorf("open the exporter of traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "holdfast"), attribute.String("service.version", p.program.Version)),
		resource.WithFromEnv()) // which comes last, so that it counts
	if err != nil {
		return fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&quiet{SpanExporter: exporter, log: p.log}), sdk.WithResource(about))
	p.traces = spans.New(provider)
	p.closers = append(p.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesFlush)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			p.log.WarnContext(ctx, "not all traces were sent", "error", err)
		}
	})
	p.log.InfoContext(ctx, "traces are sent", "service", about.String())
	return nil
}

// quiet logs what could not be sent, and not each time.
type quiet struct {
	sdk.SpanExporter
	log *slog.Logger

	mu     sync.Mutex
	silent time.Time // until then
}

// ExportSpans implements trace.SpanExporter.
func (q *quiet) ExportSpans(ctx context.Context, all []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, all)
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); err != nil && now.After(q.silent) {
		q.silent = now.Add(tracesSilence)
		q.log.WarnContext(ctx, "traces could not be sent, and are lost; nothing else is said of it for a minute", "spans",
			len(all), "error", err)
	}
	return nil // the SDK would log it too, and otherwise
}
