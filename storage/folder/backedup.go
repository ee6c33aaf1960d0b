package folder

import (
	"os"
	"path/filepath"
	"time"
)

// backupMark is the file whose time is that of the last backup of a folder of data.
const backupMark = "last-backup"

// MarkBackup notes that a folder of data was backed up at a time. Whoever may only read it leaves no mark.
func MarkBackup(dir string, at time.Time) error {
	path := filepath.Join(dir, backupMark)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}

// BackedUp is when a folder of data was backed up last; zero where nobody has noted it.
func BackedUp(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, backupMark))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
