package server

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellManager tells the service manager that started the program how far it is, where there is one
// that asks for it: sd_notify(3).
func tellManager(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("the service manager could not be told", "state", state, "error", err.Error())
	}
}
