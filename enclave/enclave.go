package enclave

import "strings"

// Tree is what a folder says.
type Tree struct {
	Enclaves []*Enclave // by ID
}

// Enclave is a group of partitions that share a cloud, a region and an identity.
type Enclave struct {
	ID, Name string
	Cloud    Cloud
	Region   string
	Identity string // the service principal that its partitions act as
	// Handle is where in the cloud the enclave is, in the cloud's own words.
	Handle     map[string]string
	Partitions []*Partition // by ID
	Dir, File  string       // within the folder
	line       int          // of its ID
}

// Partition is one workload of an enclave.
type Partition struct {
	Enclave  *Enclave
	ID, Name string
	Produces Interface
	Backend  Backend
	Tool     Tool // that terraform.tool names; empty where it says nothing
	// DeclaredOutputs must be there after an apply, and no other one is shown to anybody.
	DeclaredOutputs []string
	Inputs          []Input // by name
	Imports         []Import
	Exports         []Export
	Dir, File       string // within the folder
	line            int    // of its ID
}

// Path names a partition among all: it is also the name of its workspace and of its state.
func (p *Partition) Path() string { return p.Enclave.ID + "/" + p.ID }

// Needs lists the paths of the partitions that it imports from, without doubles.
func (p *Partition) Needs() []string {
	var all []string
	seen := map[string]bool{}
	for _, i := range p.Imports {
		if i.partition != nil && !seen[i.partition.Path()] {
			seen[i.partition.Path()] = true
			all = append(all, i.partition.Path())
		}
	}
	return all
}

// Interface is what others may expect of a partition.
type Interface string

// The interfaces.
const (
	HTTP  Interface = "http"
	TCP   Interface = "tcp"
	Queue Interface = "queue"
)

// Backend is how a partition comes about.
type Backend string

// The backends.
const (
	Managed   Backend = "managed" // a driver of the enclave's cloud does it
	Terraform Backend = "terraform"
	OpenTofu  Backend = "opentofu"
)

// Tool is a binary.
type Tool string

// The tools, as workspaces name them.
const (
	ToolTerraform Tool = "terraform"
	ToolOpenTofu  Tool = "opentofu"
)

// Runs is the tool that a partition's runs are made with on a server; empty for a managed one.
func (p *Partition) Runs() Tool {
	switch {
	case p.Backend == Managed:
		return ""
	case p.Tool != "":
		return p.Tool
	}
	return Tool(p.Backend)
}

// Input is a variable of a partition.
type Input struct {
	Name  string
	Value Template
	line  int
}

// Import has what another partition exports under a name of its own.
type Import struct {
	Alias, From, Export string
	partition           *Partition // whose export it is
	outputs             []string   // of the export
	line                int
}

// Export offers outputs to other partitions.
type Export struct {
	Name    string
	Outputs []string
	line    int
}

// Partition finds one by its path.
func (t *Tree) Partition(path string) *Partition {
	for _, e := range t.Enclaves {
		for _, p := range e.Partitions {
			if p.Path() == path {
				return p
			}
		}
	}
	return nil
}

// Partitions lists all of them, by their paths.
func (t *Tree) Partitions() (all []*Partition) {
	for _, e := range t.Enclaves {
		all = append(all, e.Partitions...)
	}
	return all
}

// Only is the part of a tree that these enclaves make up; all of it for none.
func (t *Tree) Only(ids []string) (*Tree, error) {
	if len(ids) == 0 {
		return t, nil
	}
	part := &Tree{}
	var unknown []string
	for _, id := range ids {
		found := false
		for _, e := range t.Enclaves {
			if e.ID == id {
				part.Enclaves, found = append(part.Enclaves, e), true
			}
		}
		if !found {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return nil, &UnknownError{unknown}
	}
	return part, nil
}

// UnknownError says that a folder has no enclaves of these names.
type UnknownError struct{ IDs []string }

func (e *UnknownError) Error() string {
	return "the folder has no enclave " + strings.Join(e.IDs, ", ")
}
