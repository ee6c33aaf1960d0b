// Package drawing draws what depends on what: for Graphviz, for Mermaid, and as SVG by itself.
package drawing

// Graph is what can be drawn.
type Graph interface {
	// Names lists the nodes in the order of the alphabet.
	Names() []string
	// DependsOn lists what a node depends on, sorted.
	DependsOn(name string) []string
	// Circles lists the groups of nodes that depend on each other in circles.
	Circles() [][]string
}
