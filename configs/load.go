package configs

import (
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"slices"

	"github.com/spf13/pflag"
)

// DefaultFile is the settings file that is read, if it exists, when none is named.
const DefaultFile = "holdfast.cfg"

// Sources is where Load looks, besides the defaults.
type Sources struct {
	// File is an INI file; empty reads none.
	File string
	// Explicit says that somebody named the file, so that it must exist.
	Explicit bool
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Flags are those of AddFlags, parsed; nil has none.
	Flags *pflag.FlagSet
	// Resolve looks up a host's addresses, for the command that listens there; nil for
	// those that don't.
	Resolve func(host string) ([]netip.Addr, error)
}

// Locate returns the settings file, and whether somebody named it: by flag, else by
// HOLDFAST_CONFIG, else it is DefaultFile.
func Locate(flag string, environ []string) (file string, explicit bool) {
	if flag != "" {
		return flag, true
	}
	if named := environment(environ)[EnvConfig]; named != "" {
		return named, true
	}
	return DefaultFile, false
}

// value is a setting's value with where it was found.
type value struct {
	setting
	text   string
	place  string // for faults
	source string // for Effective
}

// Load reads the settings. Later sources win: defaults, file, environment, flags. A bad
// value is a fault also where a later source overrides it. The error is a *Faults.
func Load(from Sources) (Settings, error) {
	settings, faults := table(), &Faults{}
	inFile := from.file(settings, faults)
	found := slices.Concat(
		defaults(settings),
		inFile,
		readEnv(from.Environ, settings, faults),
		readFlags(from.Flags, settings),
	)
	loaded, last := apply(found, faults)
	implyMemory(&loaded, last)
	implyRuns(&loaded, last)
	checkDatabase(loaded, last, faults)
	checkTLS(loaded, last, faults)
	checkAuthorities(last["[repositories] ca_file"], faults)
	from.checkBind(loaded.Server, last, faults)
	checkBodyBytes(loaded, last, faults)
	checkPage(loaded, last, faults)
	if err := faults.orNil(); err != nil {
		return Settings{}, err
	}
	loaded.effective = effective(settings, last)
	if slices.ContainsFunc(inFile, func(v value) bool { return v.secret && v.text != "" }) {
		loaded.secrets = from.File
	}
	return loaded, nil
}

func defaults(settings []setting) []value {
	values := make([]value, len(settings))
	for i, s := range settings {
		values[i] = value{s, s.def, s.name(), sourceDefault}
	}
	return values
}

func (from Sources) file(settings []setting, faults *Faults) []value {
	if from.File == "" && !from.Explicit {
		return nil
	}
	data, err := os.ReadFile(from.File)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !from.Explicit:
		return nil
	case err != nil:
		faults.add(from.File, "the settings file can't be read: %v", cause(err))
		return nil
	}
	return readFile(from.File, data, settings, faults)
}

// apply puts values into their fields, one after the other, and returns the last good
// value of each setting by its name.
func apply(found []value, faults *Faults) (Settings, map[string]value) {
	var loaded Settings
	last := map[string]value{}
	for _, v := range found {
		if err := v.set(&loaded, v.text); err != nil {
			faults.addValue(v.place, v.setting, v.text, err)
			continue
		}
		last[v.name()] = v
	}
	return loaded, last
}

// implyMemory keeps the meaning that STORAGE_TYPE=memory has in the baseline: all of it
// in memory. Whoever sets state.storage gets what they set.
func implyMemory(loaded *Settings, last map[string]value) {
	state := last["[state] storage"]
	if loaded.Storage.Type != Memory || state.source != sourceDefault {
		return
	}
	loaded.State.Storage = Memory
	state.text, state.source = Memory, "implied by "+last["[storage] type"].place
	last[state.name()] = state
}

// implyRuns has runs where states are, if that is a database.
func implyRuns(loaded *Settings, last map[string]value) {
	runs := last["[runs] storage"]
	if !OnServer(loaded.State.Storage) || runs.source != sourceDefault {
		return
	}
	loaded.Runs.Storage = loaded.State.Storage
	runs.text, runs.source = loaded.Runs.Storage, "implied by "+last["[state] storage"].place
	last[runs.name()] = runs
}

// checkDatabase refuses engines of another server than the one that is named.
func checkDatabase(loaded Settings, last map[string]value, faults *Faults) {
	for _, name := range []string{"[storage] type", "[state] storage", "[runs] storage"} {
		v := last[name]
		switch {
		case v.text == Postgres && loaded.Database.Engine() != Postgres:
			faults.add(v.place, "it is postgres, and DATABASE_URL ([database] url) does not say where that is: set it to "+
				"postgres://user:password@host:5432/name")
		case v.text == MySQL && loaded.Database.Engine() != MySQL:
			faults.add(v.place, "it is mysql, and DATABASE_URL ([database] url) is a database of PostgreSQL: set this to "+
				"postgres, or take the address away")
		}
	}
}

// checkBodyBytes makes sure that the largest state can be sent at all: while its buffer
// grows it takes more than its size, and a part is kept for lock holders.
func checkBodyBytes(loaded Settings, last map[string]value, faults *Faults) {
	if bytes := last["[limits] max_body_bytes"]; loaded.Limits.MaxBodyBytes/2 < loaded.State.MaxBytes {
		faults.add(bytes.place, "%q is less than twice %s, which is %q", bytes.text, "[state] max_bytes",
			last["[state] max_bytes"].text)
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// checkPage refuses an idle end that never comes.
func checkPage(loaded Settings, last map[string]value, faults *Faults) {
	if idle := last["[page] session_idle"]; loaded.Page.SessionIdle > loaded.Page.SessionLimit {
		faults.add(idle.place, "%q is more than %s, which is %q", idle.text, "[page] session_limit",
			last["[page] session_limit"].text)
	}
}
