package api

// Folders are the segments with which the names of states go on behind a prefix, by name.
type Folders struct {
	Next    *string  `json:"next"` // continues the list, as cursor; null at its end
	Folders []Folder `json:"folders"`
}

// Folder has states whose names begin with its name.
type Folder struct {
	Name   string `json:"name"`   // with the "/" at its end, such as prod/eu/
	States int    `json:"states"` // that exist, on any level
	More   bool   `json:"more"`   // there are others, which were not counted
}

// Graph is which resource of a state needs which.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is a resource, with all its instances.
type GraphNode struct {
	Address   string `json:"address"` // without a key
	Module    string `json:"module"`  // empty for the root module
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Provider  string `json:"provider"`
	Instances int    `json:"instances"`
}

// GraphEdge says that a resource needs another one. Both are places in the list of nodes, the first
// of which is 0.
type GraphEdge struct {
	From int `json:"from"` // what needs
	To   int `json:"to"`   // what is needed
}
