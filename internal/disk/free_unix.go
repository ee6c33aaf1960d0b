//go:build linux || darwin || freebsd

package disk

import "syscall"

func free(folder string) (int64, error) {
	var found syscall.Statfs_t
	if err := syscall.Statfs(folder, &found); err != nil {
		return 0, err
	}
	return int64(found.Bavail) * int64(found.Bsize), nil
}
