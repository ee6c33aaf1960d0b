// Package spans marks the parts of a request in its OpenTelemetry trace. Where no request is
// traced, which is how it is unless somebody asks for traces, nothing is allocated and nothing done.
//
// Names of spans are of a small fixed set, and nothing of a request's content, of a key or of a
// state is ever in one.
package spans

import (
	"context"

	"go.opentelemetry.io/otel/codes"
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
		if q, ok := ctx.Value(requestKey{}).(*Request); ok {
			return ctx, q.part(name)
		}
		return ctx, nothing
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	return ctx, func(err error) { end(span, err) }
}

func nothing(error) {}

func end(span trace.Span, err error, at ...trace.SpanEndOption) {
	if err != nil {
		span.SetStatus(codes.Error, string(fault.From(err).Code))
	}
	span.End(at...)
}
