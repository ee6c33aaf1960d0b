package configs

import (
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds a flag for every setting that may have one. Load looks at them; until
// then they hold text, so that a bad value is reported together with everything else.
func AddFlags(flags *pflag.FlagSet) {
	for _, s := range table() {
		if s.flag() == "" {
			continue
		}
		// pflag takes what is back-quoted for the name of the value.
		help := strings.ReplaceAll(s.help, "`", "")
		flag := flags.VarPF(&flagText{text: s.def, kind: s.kind}, s.flag(), "", help)
		if s.kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// readFlags returns the values that were given as flags.
func readFlags(flags *pflag.FlagSet, settings []setting) []value {
	if flags == nil {
		return nil
	}
	var found []value
	for _, s := range settings {
		if flag := flags.Lookup(s.flag()); flag != nil && flag.Changed {
			place := "--" + flag.Name
			found = append(found, value{s, flag.Value.String(), place, "flag " + place})
		}
	}
	return found
}

type flagText struct{ text, kind string }

func (f *flagText) String() string { return f.text }

func (f *flagText) Type() string { return f.kind }

func (f *flagText) Set(text string) error {
	f.text = text
	return nil
}
