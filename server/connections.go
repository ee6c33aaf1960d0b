package server

import (
	"context"
	"log/slog"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/middleware"
)

const (
	// dataFiles is how many descriptors are kept for data, and for what the process itself
	// has open, where that is less than three quarters of all.
	dataFiles = 192
	// mostConnections bounds what idle connections take of memory where there are millions of
	// descriptors.
	mostConnections = 10_000
)

func boundConnections(ctx context.Context, settings configs.Settings, log *slog.Logger) *middleware.Connections {
	files := openFiles()
	limits := connectionLimits(settings, files)
	sayConnections(ctx, log, limits, files)
	return middleware.NewConnections(limits)
}

// connectionLimits follows the settings, and where they leave it open, how many files the
// process may have open: data must always get the descriptors that it needs. 0 for files
// means that nobody knows.
func connectionLimits(settings configs.Settings, files uint64) middleware.ConnectionLimits {
	limits := middleware.ConnectionLimits{
		Total:      settings.Limits.MaxConnections,
		PerAddress: settings.Limits.MaxConnectionsPerAddress,
		Trusted:    settings.Server.TrustedProxies,
	}
	if limits.Total == configs.AutoConnections {
		limits.Total = connectionsFor(files)
	}
	if limits.PerAddress == configs.AutoConnections {
		limits.PerAddress = max(limits.Total/4, 1)
	}
	return limits
}

// connectionsFor leaves a quarter of the files to data, or dataFiles if that is more, but
// never more than a half.
func connectionsFor(files uint64) int {
	if files == 0 || files > 2*mostConnections {
		return mostConnections
	}
	n := int(files)
	return min(max(n-max(n/4, dataFiles), n/2), mostConnections)
}

// sayConnections logs the bounds, and a setting that leaves too little for data.
func sayConnections(ctx context.Context, log *slog.Logger, limits middleware.ConnectionLimits, files uint64) {
	log.DebugContext(ctx, "connections are bounded", "total", limits.Total, "strangers_per_address", limits.PerAddress,
		"open_files", files)
	if files > 0 && limits.Total > connectionsFor(files) && uint64(limits.Total)+dataFiles > files {
		log.WarnContext(ctx, "max_connections leaves too few of the process's open files for data; raise its limit (ulimit "+
			"-n, LimitNOFILE), or lower the setting",
			"max_connections", limits.Total, "open_files", files)
	}
}
