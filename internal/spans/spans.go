// Package spans marks the parts of a request in its OpenTelemetry trace. Where no request is
// traced, which is how it is unless somebody asks for traces, nothing is allocated and nothing done.
//
// Names of spans are of a small fixed set, and nothing of a request's content, of a key or of a
// state is ever in one.
package spans

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast/holdfast/fault"
)

const scope = "github.com/holdfast/holdfast"

// End ends a span: an error is shown by its code, as messages name things.
type End func(error)

// Start begins a span within the one of the context, where there is one that is recorded. The
// caller has to call End.
func Start(ctx context.Context, name string) (context.Context, End) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nothing
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	return ctx, func(err error) { end(span, err) }
}

func nothing(error) {}

func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, string(fault.From(err).Code))
	}
	span.End()
}

// Requests begins the traces of requests, or goes on with those that their clients began.
type Requests struct {
	tracer     trace.Tracer
	propagator propagation.TraceContext
}

// New returns who makes spans of requests with a provider.
func New(provider trace.TracerProvider) *Requests { return &Requests{tracer: provider.Tracer(scope)} }

// Request is the span of one request.
type Request struct{ span trace.Span }

// Begin begins the span of a request. The header may name the trace that it belongs to.
func (r *Requests) Begin(ctx context.Context, header map[string][]string, method, route, requestID string) (context.Context, Request) {
	ctx = r.propagator.Extract(ctx, propagation.HeaderCarrier(header))
	name := method
	if route != "" {
		name += " " + route
	}
	ctx, span := r.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method), attribute.String("http.route", route), attribute.String("holdfast.request_id", requestID)))
	return ctx, Request{span}
}

// TraceID returns the ID of the trace, as it stands in logs.
func (r Request) TraceID() string { return r.span.SpanContext().TraceID().String() }

// End ends the span with the status of the answer.
func (r Request) End(status int) {
	r.span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= 500 {
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}
