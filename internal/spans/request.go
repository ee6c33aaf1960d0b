package spans

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Requests begins the traces of requests, or goes on with those that their clients began.
type Requests struct {
	tracer     trace.Tracer
	propagator propagation.TraceContext
}

// New returns who makes spans of requests with a provider.
func New(provider trace.TracerProvider) *Requests { return &Requests{tracer: provider.Tracer(scope)} }

// Request is the span of one request. Which trace it belongs to is open as long as the request
// names one and nobody knows whose request it is: strangers neither put spans into the traces of
// others nor say what is sampled. Its parts are remembered until then.
type Request struct {
	of     *Requests
	within context.Context
	named  trace.SpanContext // by the request
	name   string
	begin  []trace.SpanStartOption

	mu    sync.Mutex
	span  trace.Span // nil while it is open to which trace it belongs
	parts []part
}

// part is one that ended while the trace was open.
type part struct {
	name         string
	began, ended time.Time
	err          error
}

type requestKey struct{}

// Begin begins the span of a request, whose header may name a trace.
func (r *Requests) Begin(ctx context.Context, header map[string][]string, method, route,
	requestID string) (context.Context, *Request) {
	name := method
	if route != "" {
		name += " " + route
	}
	q := &Request{of: r, within: ctx, name: name, begin: []trace.SpanStartOption{
		trace.WithTimestamp(time.Now()), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", method), attribute.String("http.route", route),
			attribute.String("holdfast.request_id", requestID))}}
	q.named = trace.SpanContextFromContext(r.propagator.Extract(ctx, propagation.HeaderCarrier(header)))
	if q.named.IsValid() {
		return context.WithValue(ctx, requestKey{}, q), q
	}
	return q.Settle(ctx, false), q
}

// Settle says whether the one who sent the request is known: if so, it belongs to the trace that it
// named, otherwise to one of its own. It returns the context for what comes, made of the one so far.
// Only the first call counts.
func (q *Request) Settle(ctx context.Context, known bool) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.span != nil {
		return trace.ContextWithSpan(ctx, q.span)
	}
	within := q.within
	if known {
		within = trace.ContextWithRemoteSpanContext(within, q.named)
	}
	_, q.span = q.of.tracer.Start(within, q.name, q.begin...)
	for _, p := range q.parts {
		q.send(p)
	}
	q.parts = nil
	return trace.ContextWithSpan(ctx, q.span)
}

// part begins a part of a request whose trace is open.
func (q *Request) part(name string) End {
	began := time.Now()
	return func(err error) {
		p := part{name, began, time.Now(), err}
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.span == nil {
			q.parts = append(q.parts, p)
			return
		}
		q.send(p)
	}
}

// send makes the span of a part. The caller holds mu.
func (q *Request) send(p part) {
	if !q.span.IsRecording() {
		return
	}
	_, span := q.of.tracer.Start(trace.ContextWithSpan(q.within, q.span), p.name, trace.WithTimestamp(p.began))
	end(span, p.err, trace.WithTimestamp(p.ended))
}

// TraceID returns the ID of the trace, as it stands in logs; empty while it is open.
func (q *Request) TraceID() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.span == nil {
		return ""
	}
	return q.span.SpanContext().TraceID().String()
}

// End ends the span with the status of the answer.
func (q *Request) End(status int) {
	q.Settle(q.within, false)
	q.span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= 500 {
		q.span.SetStatus(codes.Error, "")
	}
	q.span.End()
}
