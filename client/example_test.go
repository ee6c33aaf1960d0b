package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

// A state is written under its lock, and read again to the byte.
func Example() {
	c, stop := serve() // client.New(client.Options{Address: "https://holdfast.example.com", Org: org, Key: key})
	defer stop()
	ctx := context.Background()

	lock := api.LockInfo{ID: uuid.NewString(), Who: "ann@desk", Operation: "deploy"}
	err := c.WithLock(ctx, "prod/network", lock, func() error {
		stored, err := c.Put(ctx, "prod/network", strings.NewReader(`{"version":4,"serial":1,"lineage":"5ad8"}`),
			client.Write{Condition: client.Condition{LockID: lock.ID}})
		fmt.Println("version", stored.Version)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}

	state, err := c.Get(ctx, "prod/network", client.Which{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer state.Close()
	if _, err := io.Copy(os.Stdout, state); err != nil { // also when it broke off, or is damaged
		fmt.Println(err)
	}
	// Output:
	// version 1
	// {"version":4,"serial":1,"lineage":"5ad8"}
}

// What the server refuses has a code.
func ExampleIsCode() {
	c, stop := serve()
	defer stop()
	_, err := c.Get(context.Background(), "prod/network", client.Which{})
	fmt.Println(client.IsCode(err, fault.StateNotFound), client.IsCode(err, "lock_held", "lock_not_held"))
	// Output: true false
}

// Lists come page by page, as they are read.
func ExampleClient_States() {
	c, stop := serve()
	defer stop()
	ctx := context.Background()
	for _, name := range []string{"prod/network", "prod/database", "test/network"} {
		if _, err := c.Put(ctx, name, strings.NewReader(`{"version":4,"serial":1,"lineage":"5ad8"}`),
			client.Write{}); err != nil {
			fmt.Println(err)
		}
	}
	for state, err := range c.States(client.StatesQuery{Prefix: "prod/"}).All(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(state.Name, state.Version.Serial)
	}
	// Output:
	// prod/database 1
	// prod/network 1
}

// A write over what somebody else has written meanwhile is refused.
func ExampleCondition() {
	c, stop := serve()
	defer stop()
	for range 2 {
		_, err := c.Put(context.Background(), "prod/network",
			strings.NewReader(fmt.Sprintf(`{"version":4,"serial":1,"lineage":%q}`, uuid.New())),
			client.Write{Condition: client.Condition{IfNoneMatch: "*"}})
		fmt.Println(client.IsCode(err, fault.ConditionFailed))
	}
	// Output:
	// false
	// true
}

// What providers report can be sent again, and read back.
func ExampleClient_Records() {
	c, stop := serve()
	defer stop()
	ctx := context.Background()
	report := api.Upload{Provider: "aws", Category: "compute", ResourceType: "vm", Instances: []api.UploadInstance{
		{ResourceName: "web-1", Attributes: json.RawMessage(`{"size":"t2.micro"}`)}, {ResourceName: "web-2"},
	}}
	for range 2 {
		receipt, err := c.Upload(ctx, report, "report-7")
		fmt.Println(receipt.Message, err)
	}
	for record, err := range c.Records(client.RecordsQuery{Attributes: map[string]string{"size": "t2.micro"}}).All(ctx) {
		fmt.Println(record.Data.ResourceName, string(record.Data.Attributes), err)
	}
	// Output:
	// stored 2 instances <nil>
	// stored 2 instances <nil>
	// web-1 {"size":"t2.micro"} <nil>
}
