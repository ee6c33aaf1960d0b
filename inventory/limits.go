package inventory

import "github.com/holdfast/holdfast/internal/jsonscan"

// The limits of an upload. Lengths are in characters unless it says bytes.
const (
	MaxBody       = 10 << 20 // bytes
	MaxDepth      = 10       // containers that are open at once, the top-level object included
	MaxContainers = 1000     // objects and arrays, the top-level object included
	// MaxNames is for all objects together. What checks that names are unique remembers
	// them, which takes several times the memory of short ones.
	MaxNames      = 100_000
	MaxInstances  = 100
	MaxAttributes = 100 // of one instance
	MaxWord       = 255 // provider, category, resource_type
	MaxName       = 255 // resource_name
	MaxKey        = 255 // an attribute's name
	// MaxText is for strings and numbers at any depth of the attributes, and for the names
	// below the attributes' own: MySQL takes no name in JSON of 64 KiB or more.
	MaxText = 10_000
)

const (
	maxFaults  = 50 // that an answer lists
	maxIgnored = 20
)

func shapeLimits() jsonscan.Limits {
	return jsonscan.Limits{Depth: MaxDepth, Containers: MaxContainers, Names: MaxNames}
}
