package vitals

import "time"

// Standing is what there is of work, over all organizations, at a moment.
type Standing struct {
	// Runs are those that have not ended.
	Runs []Runs
	// Agents are by whether they have a run or were heard of lately, Pools by whether they have such an agent.
	AgentsAlive, AgentsSilent, PoolsServed, PoolsUnserved int
	// Failed and Drifted are workspaces, by how their newest runs have ended.
	Failed, Drifted int
	// Layers are by their state.
	Layers map[string]int
	// Repositories are by how their newest fetch went, Pulls those that are open by how the newest look at them went.
	RepositoriesFetched, RepositoriesFailing, PullsFine, PullsTroubled int
}

// Runs are the runs of a status and a kind.
type Runs struct {
	Status, Kind string
	Count        int
	Oldest       time.Time // when the oldest of them was asked for
}
