// Package when asks conditions of one line, in the Common Expression Language, about what a plan means. A condition
// that is wrong is found when it is compiled, as far as that can be known, and one that can't be asked is an error:
// whoever asks takes that for yes.
package when

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
)

const (
	// MaxText is the longest condition, in bytes.
	MaxText = 1000
	// maxCost is what a condition may cost, in CEL's own units: each step of an evaluation is about one.
	maxCost = 100_000
	// patience is for a condition that costs less than that and still takes long.
	patience = time.Second
)

// Plan is what conditions are asked about.
type Plan struct {
	Create, Update, Replace, Delete, Import, Forget, Move int // resources
	Drift, Outputs, Irreversible, Unknown                 int
	// Types are those of the resources that change; nil where not all of them are known.
	Types []string
	// Total and Delta are dollars a month; Unpriced is how many resources have no price.
	Total, Delta float64
	Unpriced     int
	// Findings that count, by their severity; Broken is how many rules could not be asked.
	Critical, High, Medium, Low, Broken int
}

// numbers are the names of what a condition may ask for, with their values.
func (p Plan) numbers() map[string]any {
	return map[string]any{
		"facts.create": p.Create, "facts.update": p.Update, "facts.replace": p.Replace, "facts.delete": p.Delete,
		"facts.import": p.Import, "facts.forget": p.Forget, "facts.move": p.Move, "facts.drift": p.Drift,
		"facts.outputs": p.Outputs, "facts.irreversible": p.Irreversible, "facts.unknown": p.Unknown,
		"cost.total": p.Total, "cost.delta": p.Delta, "cost.unpriced": p.Unpriced,
		"findings.critical": p.Critical, "findings.high": p.High, "findings.medium": p.Medium, "findings.low": p.Low,
		"findings.broken": p.Broken,
	}
}

const types = "facts.types"

// Condition is one that was compiled. It may be asked by several at once.
type Condition struct{ program cel.Program }

// Compile reads a condition. The error says what is wrong with it, for whoever has written it.
func Compile(text string) (*Condition, error) {
	if len(text) > MaxText || strings.ContainsAny(text, "\r\n") {
		return nil, fmt.Errorf("a condition is one line of at most %d bytes", MaxText)
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, errors.New(oneLine(issues.Errors()[0].Message))
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("it is a %s, and neither true nor false", ast.OutputType())
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, err
	}
	return &Condition{program}, nil
}

// environment is what conditions may say: the language itself, and the plan.
func environment() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), cel.ParserRecursionLimit(50), cel.ParserExpressionSizeLimit(MaxText),
		cel.Variable(types, cel.ListType(cel.StringType)),
	}
	for name, value := range (Plan{}).numbers() {
		kind := cel.IntType
		if _, dollars := value.(float64); dollars {
			kind = cel.DoubleType
		}
		options = append(options, cel.Variable(name, kind))
	}
	return cel.NewEnv(options...)
}

// Holds asks the condition. It costs so much at most, and no longer than a second.
func (c *Condition) Holds(ctx context.Context, p Plan) (bool, error) {
	asked := p.numbers()
	if p.Types != nil {
		asked[types] = p.Types
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	value, _, err := c.program.ContextEval(ctx, asked)
	if err != nil {
		return false, errors.New(oneLine(err.Error()))
	}
	holds, isBool := value.Value().(bool)
	if !isBool {
		return false, errors.New("it is neither true nor false")
	}
	return holds, nil
}

// oneLine bounds a message.
func oneLine(text string) string {
	const most = 200
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
