package storage

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/pause"
)

// movePoll is how often a server that waits for the end of a move looks for it.
const movePoll = 200 * time.Millisecond

// AwaitMove returns when what the settings name may be served: it waits for the end of a move to it, and
// fails where it was moved away. It comes before everything else that a server opens: one that is heard
// of has seen that there was no move.
func AwaitMove(ctx context.Context, settings configs.Settings, log *slog.Logger) error {
	if UsesFolder(settings) {
		dir, err := filepath.Abs(settings.Storage.Path)
		if err != nil {
			return err
		}
		p := &folderPlace{dir: dir}
		if err := awaitMarks(ctx, folderMarks(dir), p, log); err != nil {
			return err
		}
	}
	if !SharesDatabase(settings) {
		return nil
	}
	db, err := OpenShared(ctx, settings, settings.Database.StartupWait, log)
	if err != nil {
		return err
	}
	defer db.Close()
	return awaitMarks(ctx, databaseMarks{db}, &databasePlace{settings: settings, log: log}, log)
}

// UsesFolder reports whether a server has something in its folder that a move takes away.
func UsesFolder(settings configs.Settings) bool {
	return settings.State.Storage == configs.SQLite || settings.Runs.Storage == configs.SQLite &&
		settings.State.Storage != configs.Memory
}

func awaitMarks(ctx context.Context, of marks, at place, log *slog.Logger) error {
	for told := false; ; told = true {
		all, there, err := of.all(ctx)
		if err != nil {
			return err
		}
		if told && !there {
			return fmt.Errorf("what was being brought to %v was taken away again, and it is empty: start when it is there", at)
		}
		if gone, some := find(all, markSource); some && gone.Done {
			return fmt.Errorf("%v was moved to %s at %s, and is not served any more; `holdfast migrate --abandon` would have "+
				"it served as it was then", at, gone.Other, shown(gone.At))
		} else if some && !of.held() {
			return fmt.Errorf("%v is being moved to %s; `holdfast migrate --abandon` ends that", at, gone.Other)
		}
		half, some := find(all, markTarget)
		if !some {
			return nil
		}
		if !told {
			log.WarnContext(ctx, "waiting for the end of a move: only a part is there", "from", half.Other, "to", at.String(),
				"begun", shown(half.At))
		}
		if err := pause.For(ctx, movePoll); err != nil {
			return err
		}
	}
}

// MarkMoved has servers refuse the folder of the settings, because all in it was moved to a place.
func MarkMoved(ctx context.Context, settings configs.Settings, place string) error {
	dir, err := filepath.Abs(settings.Storage.Path)
	if err != nil {
		return err
	}
	return folderMarks(dir).set(ctx, Mark{Role: markSource, Other: place, Done: true})
}
