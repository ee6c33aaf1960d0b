package tools

import (
	"runtime"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Name is one of the tools that runs execute.
type Name string

// The tools, by the names that settings and workspaces use.
const (
	OpenTofu   Name = "opentofu"
	Terraform  Name = "terraform"
	Terragrunt Name = "terragrunt"
)

// Names returns every tool.
func Names() []Name { return []Name{OpenTofu, Terraform, Terragrunt} }

// ParseName returns the tool of this name.
func ParseName(text string) (Name, error) {
	for _, name := range Names() {
		if text == string(name) {
			return name, nil
		}
	}
	return "", fault.New(fault.ToolConstraintInvalid,
		"there is no tool %.64q: tools are opentofu, terraform and terragrunt", text)
}

// Binary is what the tool's program is called.
func (n Name) Binary() string {
	if n == OpenTofu {
		return "tofu"
	}
	return string(n)
}

// banner is how the line begins in which the tool says what it is.
func (n Name) banner() string {
	switch n {
	case OpenTofu:
		return "OpenTofu v"
	case Terraform:
		return "Terraform v"
	default:
		return "terragrunt version "
	}
}

// versionFile is the file that names a version for the folders below it.
func (n Name) versionFile() string { return "." + string(n) + "-version" }

// maxVersion is how long a version may be: it becomes the name of a folder.
const maxVersion = 64

// parseVersion reads a whole version such as 1.12.6 or v1.13.0-beta1. Its text is safe as the
// name of a folder.
func parseVersion(text string) (*version.Version, error) {
	bare := strings.TrimPrefix(text, "v")
	core, _, _ := strings.Cut(bare, "-")
	if strings.Count(core, ".") != 2 || len(bare) > maxVersion || strings.ContainsFunc(bare, notInVersion) {
		return nil, notAVersion(text)
	}
	v, err := version.NewSemver(bare)
	if err != nil {
		return nil, notAVersion(text)
	}
	return v, nil
}

func notInVersion(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '.' && r != '-'
}

func notAVersion(text string) error {
	return fault.New(fault.ToolConstraintInvalid, "%.80q is no version: one is written like 1.12.6, or 1.13.0-beta1", text)
}

// platform is the only one whose binaries this process can run and verify.
func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
