package main

import (
	"os"
	"os/user"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
)

// newLockInfo says who we are, as the clients say it of themselves.
func newLockInfo(operation string, now time.Time) api.LockInfo {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname()
	return api.LockInfo{
		ID: uuid.NewString(), Operation: operation, Who: who + "@" + host, Version: version,
		Created: now.UTC().Format(time.RFC3339Nano), Info: "holdfast " + operation,
	}
}
