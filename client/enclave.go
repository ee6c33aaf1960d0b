package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

func ofPartition(enclave, partition string, below ...string) request {
	r := request{method: http.MethodGet, header: map[string]string{}, path: "/enclaves/" + pathSegment(enclave) +
		"/partitions/" + pathSegment(partition) + "/iac/runs"}
	for _, segment := range below {
		r.path += "/" + pathSegment(segment)
	}
	return r
}

// PartitionRuns lists a partition's last runs, the newest first.
func (c *Client) PartitionRuns(ctx context.Context, enclave, partition string) ([]api.IACRun, error) {
	return ask[[]api.IACRun](ctx, c, ofPartition(enclave, partition))
}

// LatestRun is the ID by which PartitionRun knows the newest run.
const LatestRun = "latest"

// PartitionRun returns a partition's run with its log.
func (c *Client) PartitionRun(ctx context.Context, enclave, partition, id string) (api.IACRunLog, error) {
	return ask[api.IACRunLog](ctx, c, ofPartition(enclave, partition, id))
}

// FollowPartitionRun tells the logs of all stages of a partition's run, as they come, until it ends. A stream that
// breaks off is taken up where it was.
func (c *Client) FollowPartitionRun(ctx context.Context, enclave, partition, id string,
	tell func(RunUpdate) error) error {
	return c.follow(ctx, &following{client: c, request: ofPartition(enclave, partition, id, "stream"),
		take: func(e event) error { return toldOfRun(e, tell) }})
}

// RemoveEnclave goes on with taking an enclave away; it is called again until that is done.
func (c *Client) RemoveEnclave(ctx context.Context, enclave string, again bool) (api.EnclaveRemoval, error) {
	r := request{method: http.MethodDelete, path: "/enclaves/" + pathSegment(enclave), header: map[string]string{}}
	r.query = map[string]string{"again": flag(again)}
	return ask[api.EnclaveRemoval](ctx, c, r)
}

// toldOfRun tells what an event says of a run.
func toldOfRun(e event, tell func(RunUpdate) error) error {
	var u RunUpdate
	switch e.name {
	case "log":
		u.Log = new(api.LogBytes)
		return told(e, u.Log, func() error { return tell(u) })
	case "status":
		u.Status = new(api.RunStatus)
		return told(e, u.Status, func() error { return tell(u) })
	}
	return nil // of a later server
}
