package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/infracost"
	"github.com/holdfast/holdfast/insight/others"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/insight/show"
	"github.com/holdfast/holdfast/internal/model"
)

// insightFlags are what the command lines about insights say.
type insightFlags struct {
	asJSON, asSARIF, asJUnit, asMarkdown bool
	failOn                               string
	policies, results                    []string
	waivers, prices, infracost           string
	model                                model.Config
}

// never is of --fail-on: no finding makes the command fail.
const never = "never"

// exitGrave is the exit code for a finding of each severity, and exitBroken that for a rule that
// could not be asked, or a plan of which not all was looked at.
func exitGrave(severity string) exitCode {
	return map[string]exitCode{rules.Low: 3, rules.Medium: 4, rules.High: 5, rules.Critical: 6}[severity]
}

const exitBroken exitCode = 7

func newInsightCommand(a *app) *cobra.Command {
	var flags insightFlags
	cmd := &cobra.Command{
		Use:   "insight FILE",
		Short: "Say what a plan means, what it costs and what of it is dangerous",
		Long: `Say what a plan means: what changes and why, what can't be undone, what it costs, and what built-in rules
and your own policies find. FILE is what tofu show -json or terraform show -json says of a plan, from
wherever; - reads it from stdin. Nothing is sent anywhere without --model-url, and sensitive values are shown nowhere.

The exit code is 0 where there is nothing as grave as --fail-on, and else that of the gravest finding: 3
for low, 4 for medium, 5 for high, 6 for critical. It is 7 where a rule could not be asked, or the plan is
too large for all of it to be looked at. Waived findings, and those of what the plan leaves as it is, don't
count.`,
		Example: `  tofu plan -out plan.tfplan && tofu show -json plan.tfplan | holdfast insight -
  holdfast insight plan.json --fail-on critical
  holdfast insight plan.json --policy policies/ --waivers waivers.yaml
  holdfast insight plan.json --results trivy.sarif --infracost costs.json
  holdfast insight plan.json --sarif > holdfast.sarif
  holdfast insight plan.json --markdown --fail-on never`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.insight(cmd.Context(), args[0], flags) },
	}
	flags.add(cmd)
	cmd.Flags().StringArrayVar(&flags.policies, "policy", nil, "folder with policies in Rego of your own; may come again")
	cmd.Flags().StringVar(&flags.waivers, "waivers", "", "YAML file of the findings that are let be")
	cmd.Flags().StringArrayVar(&flags.results, "results", nil,
		"SARIF of another program, such as Trivy or Checkov, whose findings count too; may come again")
	cmd.Flags().StringVar(&flags.infracost, "infracost", "", "JSON of Infracost, whose costs take the place of the sheet's")
	cmd.Flags().StringVar(&flags.model.URL, "model-url", "",
		"address of a language model that says more, such as https://api.example.com/v1; it is sent no values")
	cmd.Flags().StringVar(&flags.model.Kind, "model-kind", model.OpenAI, "what the address speaks: openai or gemini")
	cmd.Flags().StringVar(&flags.model.Model, "model", "", "name of the model; its key is in HOLDFAST_INSIGHT_MODEL_KEY")
	cmd.Flags().DurationVar(&flags.model.Timeout, "model-timeout", time.Minute, "how long the model is waited for")
	cmd.Flags().StringVar(&flags.prices, "prices", "", "CSV file of prices (default: the sheet that comes with it)")
	return cmd
}

// add adds what is about how an insight is shown.
func (f *insightFlags) add(cmd *cobra.Command) {
	addJSONFlag(cmd, &f.asJSON)
	cmd.Flags().BoolVar(&f.asSARIF, "sarif", false, "print the findings as SARIF")
	cmd.Flags().BoolVar(&f.asJUnit, "junit", false, "print the findings as JUnit's XML")
	cmd.Flags().BoolVar(&f.asMarkdown, "markdown", false, "print a comment for a pull request")
	cmd.Flags().StringVar(&f.failOn, "fail-on", rules.High, "the severity from which on a finding fails the command: "+
		"low, medium, high, critical, never")
}

// check refuses a severity that there is not, and more forms than one.
func (f insightFlags) check() error {
	forms := 0
	for _, asked := range []bool{f.asJSON, f.asSARIF, f.asJUnit, f.asMarkdown} {
		if asked {
			forms++
		}
	}
	if forms > 1 {
		return usagef("only one of --json, --sarif, --junit, --markdown can be given")
	}
	if f.failOn != never && exitGrave(f.failOn) == 0 {
		return usagef("--fail-on is %q, which is none of low, medium, high, critical, never", f.failOn)
	}
	return nil
}

// insight makes the insight of a file, and shows it.
func (a *app) insight(ctx context.Context, file string, flags insightFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	if flags.model.URL != "" {
		flags.model.Key, flags.model.PerDay, flags.model.Now = os.Getenv("HOLDFAST_INSIGHT_MODEL_KEY"), 1, a.now
		if err := flags.model.Check(); err != nil {
			return usagef("%s", err)
		}
	}
	engine, options, err := a.insightOptions(flags)
	if err != nil {
		return err
	}
	plan, err := a.readPlan(file, len(options.Own) > 0)
	if err != nil {
		return err
	}
	all, err := engine.Of(ctx, plan, options)
	if err != nil {
		return err
	}
	if flags.model.URL != "" {
		insight.WithModel(ctx, &all, model.New(flags.model), flags.model.Model)
	}
	return a.showInsight(all, file, flags)
}

// insightOptions reads the files that the flags name.
func (a *app) insightOptions(flags insightFlags) (*insight.Engine, insight.Options, error) {
	options := insight.Options{Now: a.now()}
	engine, err := insight.NewEngine(rules.Limits{})
	if err != nil {
		return nil, options, err
	}
	for _, folder := range flags.policies {
		set, err := rules.Compile(os.DirFS(folder), rules.Limits{})
		if err != nil {
			return nil, options, fmt.Errorf("the policies in %s: %w", folder, err)
		}
		options.Own = append(options.Own, insight.Own{Set: set})
	}
	if flags.waivers != "" {
		err := readFile(flags.waivers, func(r io.Reader) (err error) {
			options.Waivers, err = policy.ReadWaivers(r)
			return err
		})
		if err != nil {
			return nil, options, err
		}
	}
	if flags.prices != "" {
		err := readFile(flags.prices, func(r io.Reader) error {
			sheet, err := cost.Read(r)
			if err == nil {
				engine = engine.WithPrices(sheet)
			}
			return err
		})
		if err != nil {
			return nil, options, err
		}
	}
	return a.readOthers(flags, engine, options)
}

// readOthers reads what other programs have found.
func (a *app) readOthers(flags insightFlags, engine *insight.Engine, options insight.Options) (*insight.Engine,
	insight.Options, error) {
	for _, name := range flags.results {
		err := readFile(name, func(r io.Reader) error {
			found, err := others.ReadSARIF(r)
			options.Others = append(options.Others, found)
			return err
		})
		if err != nil {
			return nil, options, fmt.Errorf("%s: %w", name, err)
		}
	}
	if flags.infracost == "" {
		return engine, options, nil
	}
	err := readFile(flags.infracost, func(r io.Reader) error {
		given, err := infracost.Read(r)
		engine = engine.WithCosts(given)
		return err
	})
	return engine, options, err
}

func readFile(name string, use func(io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(use(file), file.Close())
}

// readPlan reads a plan's JSON; whole is whether policies are to see all of it.
func (a *app) readPlan(name string, whole bool) (*facts.Plan, error) {
	limits := facts.Limits{Whole: whole}
	if name == "-" {
		raw, err := io.ReadAll(io.LimitReader(a.stdin, facts.DefaultBytes+1))
		if err != nil {
			return nil, err
		}
		return facts.ReadBytes(raw, limits)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return facts.ReadPlan(func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return file, err
	}, limits)
}

// showInsight shows an insight, and ends the program by what is in it.
func (a *app) showInsight(all api.Insight, file string, flags insightFlags) error {
	var out bytes.Buffer
	var err error
	switch {
	case flags.asJSON:
		err = showJSON(&out, all)
	case flags.asSARIF:
		err = show.SARIF(&out, all, sarifPath(file), version)
	case flags.asJUnit:
		err = show.JUnit(&out, all)
	case flags.asMarkdown:
		err = show.Markdown(&out, all)
	default:
		err = show.Text(&out, all)
	}
	if err != nil {
		return err
	}
	if _, err := a.stdout.Write(out.Bytes()); err != nil {
		return err
	}
	return verdictOf(all, flags.failOn)
}

// sarifPath is the file as SARIF has it: relative, with slashes.
func sarifPath(file string) string {
	if file == "-" || filepath.IsAbs(file) {
		return "plan.json"
	}
	return strings.TrimPrefix(filepath.ToSlash(file), "./")
}

// verdictOf is how the command ends.
func verdictOf(all api.Insight, failOn string) error {
	if failOn == never {
		return nil
	}
	if len(all.Broken) > 0 || all.Unread {
		return exitBroken
	}
	for _, f := range all.Findings { // the gravest first
		if insight.Grave(f, failOn) {
			return exitGrave(f.Severity)
		}
	}
	return nil
}

func newRunInsightCommand(a *app) *cobra.Command {
	var flags insightFlags
	cmd := a.ofRun(&cobra.Command{
		Use:   "insight",
		Short: "Say what a run's plan means, what it costs and what of it is dangerous",
		Long: "Say what a run's plan means, as the server sees it. The exit codes are those of `holdfast insight`; without\n" +
			"--fail-on it is 0 whatever is found.",
		Example: `  holdfast run insight 01JD8X6Q4ZK4T1M5S0R9V7E2WB
  holdfast run insight 01JD8X6Q4ZK4T1M5S0R9V7E2WB --fail-on high
  holdfast run insight 01JD8X6Q4ZK4T1M5S0R9V7E2WB --markdown`,
	}, func(ctx context.Context, c *client.Client, id string) error {
		if err := flags.check(); err != nil {
			return err
		}
		all, err := c.RunInsight(ctx, id)
		if err != nil {
			return err
		}
		return a.showInsight(all, "-", flags)
	})
	flags.add(cmd)
	failOn := cmd.Flags().Lookup("fail-on")
	failOn.DefValue, flags.failOn = never, never
	return cmd
}
