package sandbox

import (
	"fmt"
	"slices"
)

// Level is how much of the machine is closed to a command. A higher one closes more.
type Level int

// The levels, the weakest first.
const (
	None       Level = iota // only limits, no new privileges and an empty environment
	Weak                    // the kernel closes files outside the policy, but a command may change the modes of its user's
	Landlock                // the command also has a user of its own, to whom no such file belongs
	Namespaces              // it also has a file system and processes of its own
)

func levelNames() []string { return []string{"none", "weak", "landlock", "namespaces"} }

// String is the level's name in settings and reports.
func (l Level) String() string {
	names := levelNames()
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("level %d", int(l))
	}
	return names[l]
}

// ParseLevel is the level with this name; "bubblewrap" is another name for namespaces. An
// empty name is none.
func ParseLevel(name string) (Level, error) {
	switch name {
	case "":
		return None, nil
	case "bubblewrap":
		return Namespaces, nil
	}
	if i := slices.Index(levelNames(), name); i >= 0 {
		return Level(i), nil
	}
	return None, fmt.Errorf("%q is no level of a sandbox: it is none, weak, landlock or namespaces", name)
}

// MarshalText makes a level its name in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLevel.
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := ParseLevel(string(text))
	*l = parsed
	return err
}
