package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/internal/durable"
)

// placeFlags say more of archives in buckets.
type placeFlags struct{ endpoint, region string }

func (f *placeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.endpoint, "endpoint", "", "with s3://, address of a service that is not AWS's")
	cmd.Flags().StringVar(&f.region, "region", "", "with s3://, region of the bucket (default: AWS_REGION, else us-east-1)")
}

// errThere refuses an output that is there.
func errThere(place string) error {
	return fmt.Errorf("%s is there already, and is left as it is; name another one, or say --overwrite", place)
}

// checkFree refuses a place where something is, before anything is read.
func (a *app) checkFree(ctx context.Context, place string, flags placeFlags) error {
	name, key, inBucket, err := readPlace(place)
	if err != nil || place == "-" {
		return err
	}
	var there bool
	if inBucket {
		b, err := a.bucket(name, flags.endpoint, flags.region)
		if err != nil {
			return err
		}
		if there, err = b.Has(ctx, key); err != nil {
			return err
		}
	} else {
		_, err := os.Lstat(place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		there = err == nil
	}
	if there {
		return errThere(place)
	}
	return nil
}

// writePlace writes to a file, a bucket or stdout. A file that is there is replaced only if overwrite says so.
func (a *app) writePlace(ctx context.Context, place string, flags placeFlags, overwrite bool,
	write func(io.Writer) error) error {
	name, key, inBucket, err := readPlace(place)
	switch {
	case err != nil:
		return err
	case place == "-":
		return write(a.stdout)
	case !inBucket && overwrite:
		return writeFile(place, write)
	case !inBucket:
		return writeNewFile(place, write)
	}
	b, err := a.bucket(name, flags.endpoint, flags.region)
	if err != nil {
		return err
	}
	return b.Put(ctx, key, write)
}

// openPlace opens what writePlace has written.
func (a *app) openPlace(ctx context.Context, place string, flags placeFlags) (io.ReadCloser, error) {
	name, key, inBucket, err := readPlace(place)
	switch {
	case err != nil:
		return nil, err
	case place == "-":
		return io.NopCloser(a.stdin), nil
	case !inBucket:
		return os.Open(place)
	}
	b, err := a.bucket(name, flags.endpoint, flags.region)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, key)
}

// readPlace says what bucket and key an archive has, if it is in one.
func readPlace(text string) (name, key string, inBucket bool, err error) {
	if !strings.HasPrefix(text, "s3://") {
		return "", "", false, nil
	}
	u, err := url.Parse(text)
	if err == nil {
		name, key = u.Host, strings.TrimPrefix(u.Path, "/")
	}
	if name == "" || key == "" {
		return "", "", true, usagef("%q is no s3://BUCKET/KEY", text)
	}
	return name, key, true, nil
}

// samePath reports whether two names are of one file, be it there or not.
func samePath(one, other string) bool {
	a, errA := filepath.Abs(one)
	b, errB := filepath.Abs(other)
	if errA == nil && errB == nil && a == b {
		return true
	}
	infoA, errA := os.Stat(one)
	infoB, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// removeFile removes a file durably. One that is not there is not missed.
func removeFile(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(path))
}
