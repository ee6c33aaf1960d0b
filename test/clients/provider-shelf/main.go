// Program provider-shelf is a provider for tests. Its objects are files in a folder, and it has one of each kind of
// attribute that providers have: computed and optional ones, nested ones, sets, sensitive and write-only ones. It
// fails, and waits, where a configuration says so.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

func main() {
	err := providerserver.Serve(context.Background(), newShelf,
		providerserver.ServeOpts{Address: "registry.terraform.io/holdfast/shelf"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
