package handlers

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
)

// operation describes what one route does. It stands beside the route's handler: the OpenAPI
// document is made of it, and the handler can read no parameter of the query that it lacks.
type operation struct {
	openapi.Operation
	codes []fault.Code
}

// op begins the description of a route. The ID is what generated clients call it, so it stays.
func op(id, summary string) operation {
	return operation{Operation: openapi.Operation{ID: id, Summary: summary}}
}

// called is the same under another ID.
func (o operation) called(id string) operation {
	o.ID = id
	return o
}

// headers is the same for HEAD, which has no body.
func (o operation) headers() operation { return o.called(o.ID + "Headers") }

// notes adds what else there is to say.
func (o operation) notes(text string) operation {
	o.Description = text
	return o
}

// with adds parameters of the query, and headers.
func (o operation) with(all ...openapi.Parameter) operation {
	o.Parameters = slices.Concat(o.Parameters, all)
	return o
}

// anyOther says that further parameters in the query are the caller's own.
func (o operation) anyOther() operation {
	o.OtherParameters = true
	return o
}

// takes says that the body is JSON of a type of package api, without other members.
func (o operation) takes(body any) operation {
	o.Body = &openapi.Body{Contents: []openapi.Content{{Media: mediaJSON, Type: reflect.TypeOf(body)}}, Required: true,
		Strict: true}
	return o
}

// mayTake is takes for a body that need not be there.
func (o operation) mayTake(body any) operation {
	o = o.takes(body)
	o.Body.Required = false
	return o
}

// takesBytes says that the body is bytes of a media type.
func (o operation) takesBytes(media string, schema openapi.Schema) operation {
	o.Body = &openapi.Body{Contents: []openapi.Content{{Media: media, Schema: schema}}, Required: true}
	return o
}

// lenient says that other members in the body mean nothing.
func (o operation) lenient() operation {
	body := *o.Body
	body.Strict = false
	o.Body = &body
	return o
}

// gives says that the answer is 200 with JSON of a type of package api.
func (o operation) gives(body any) operation { return o.givesAs(http.StatusOK, body) }

// givesAs is gives with another status.
func (o operation) givesAs(status int, body any) operation {
	return o.answers(status, openapi.Content{Media: mediaJSON, Type: reflect.TypeOf(body)})
}

// givesBytes says that the answer is 200 with bytes of a media type.
func (o operation) givesBytes(media string) operation {
	return o.answers(http.StatusOK, openapi.Content{Media: media})
}

// givesState says that the answer is 200 with the bytes of a state.
func (o operation) givesState() operation {
	return o.answers(http.StatusOK, openapi.Content{Media: mediaJSON, Schema: stateSchema()})
}

// givesNothing says that the answer has no body.
func (o operation) givesNothing(status int) operation { return o.answers(status) }

// answers adds an answer, or another form of one.
func (o operation) answers(status int, all ...openapi.Content) operation {
	o.Answers = slices.Clone(o.Answers)
	for i, a := range o.Answers {
		if a.Status == status {
			o.Answers[i].Contents = slices.Concat(a.Contents, all)
			return o
		}
	}
	o.Answers = append(o.Answers, openapi.Answer{Status: status, Contents: all})
	return o
}

// headed adds headers that its answers have.
func (o operation) headed(names ...string) operation {
	o.Answers = slices.Clone(o.Answers)
	for i := range o.Answers {
		headers := map[string]string{}
		for _, name := range names {
			headers[name] = answerHeaders()[name]
		}
		for name, text := range o.Answers[i].Headers {
			headers[name] = text
		}
		o.Answers[i].Headers = headers
	}
	return o
}

// needs adds rights of which the caller needs one.
func (o operation) needs(all ...auth.Right) operation {
	for _, right := range all {
		o.Rights = append(o.Rights[:len(o.Rights):len(o.Rights)], string(right))
	}
	return o
}

// fails adds codes of faults that this route has beside those that all of its kind have.
func (o operation) fails(codes ...fault.Code) operation {
	o.codes = slices.Concat(o.codes, codes)
	return o
}

// serve is the one adapter between HTTP and handlers.
func (o operation) serve(h handler) gin.HandlerFunc {
	read := o.reads()
	return func(c *gin.Context) { serve(c, read(c), h) }
}

// queried are the parameters of the query that the operation has.
func (o operation) queried() []string {
	known := []string{}
	for _, p := range o.Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	return known
}

// givesRecords says that the answer has records, in one of three forms.
func (o operation) givesRecords() operation {
	return o.gives(api.Records{}).answers(http.StatusOK, openapi.Content{Media: mediaNDJSON},
		openapi.Content{Media: mediaCSV}).
		headed(countTrailer, nextTrailer, lastTrailer)
}

func candidateType() reflect.Type { return reflect.TypeFor[api.Candidate]() }
