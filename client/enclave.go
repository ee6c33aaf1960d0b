package client

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"

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

// BeginPartitionRun begins the record of a run that is made on this machine. The same call repeated with its key
// returns the record of the first one.
func (c *Client) BeginPartitionRun(ctx context.Context, enclave, partition string, order api.IACRunOrder,
	key string) (api.IACRun, error) {
	r := ofPartition(enclave, partition).with(order)
	r.method = http.MethodPost
	return ask[api.IACRun](ctx, c, r.keyed(key))
}

// AppendPartitionLog adds bytes to the log of such a run, and returns where the log ends: also beside the error that
// there is a gap before them.
func (c *Client) AppendPartitionLog(ctx context.Context, run api.IACRun, stream string, offset int64,
	piece []byte) (int64, error) {
	r := ofPartition(run.EnclaveID, run.PartitionID, run.ID, "log", stream)
	r.method, r.body = http.MethodPut, bodyOf(bytes.NewReader(piece))
	r.query = map[string]string{"offset": strconv.FormatInt(offset, 10)}
	r.header["Content-Type"] = octets
	answer, err := ask[api.LogEnd](ctx, c, r)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.logEnd, err
	}
	return answer.End, err
}

// RenewPartitionRun says that such a run goes on.
func (c *Client) RenewPartitionRun(ctx context.Context, run api.IACRun, sign api.IACRunSign) (api.Lease, error) {
	r := ofPartition(run.EnclaveID, run.PartitionID, run.ID, "lease").with(sign)
	r.method = http.MethodPost
	return ask[api.Lease](ctx, c, r)
}

// EndPartitionRun says how such a run has ended.
func (c *Client) EndPartitionRun(ctx context.Context, run api.IACRun, end api.IACRunEnd) (api.IACRun, error) {
	r := ofPartition(run.EnclaveID, run.PartitionID, run.ID, "end").with(end)
	r.method = http.MethodPost
	return ask[api.IACRun](ctx, c, r)
}
