// Package sqlitetest lets SQLite's disk fail, for the tests of what is built on SQLite.
package sqlitetest

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// FailSyncs makes as many of SQLite's next fsyncs fail as the test stores in what it
// returns, after its writes went through: the way a failing disk shows. All of this
// process's databases are concerned. The one at path has to be open, and in WAL mode.
func FailSyncs(t *testing.T, path string) *atomic.Int64 {
	t.Helper()
	left, restore, err := failSyncs(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
	return left
}

func failSyncs(path string) (left *atomic.Int64, restore func(), err error) {
	methods, err := methodsOf(path)
	if err != nil {
		return nil, nil, err
	}
	left = new(atomic.Int64)
	working := methods.FxSync
	sync := *(*func(tls unsafe.Pointer, file uintptr, flags int32) int32)(unsafe.Pointer(&working))
	fake := func(tls unsafe.Pointer, file uintptr, flags int32) int32 {
		if left.Add(-1) >= 0 {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return sync(tls, file, flags)
	}
	methods.FxSync = *(*uintptr)(unsafe.Pointer(&fake))
	restore = func() {
		methods.FxSync = working
		runtime.KeepAlive(fake)
	}
	return left, restore, nil
}

// methodsOf opens the database to read, for a moment only: a reader would keep the WAL's index.
func methodsOf(path string) (methods *sqlite3.Tsqlite3_io_methods, err error) {
	db, err := sqlitedb.File{Path: path}.OpenReader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var tables int // a connection opens the WAL when it reads for the first time
	if err := conn.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return nil, err
	}
	return walMethods(conn)
}

// walMethods returns the table of functions by which SQLite works on the WAL file.
func walMethods(conn *sql.Conn) (methods *sqlite3.Tsqlite3_io_methods, err error) {
	err = conn.Raw(func(conn any) error {
		fields := reflect.ValueOf(conn).Elem()
		tls := fields.FieldByName("tls")
		file, name := new(uintptr), []byte("main\x00")
		var pins runtime.Pinner // C's view of Go's memory
		pins.Pin(file)
		pins.Pin(&name[0])
		defer pins.Unpin()
		code := reflect.ValueOf(sqlite3.Xsqlite3_file_control).Call([]reflect.Value{
			reflect.NewAt(tls.Type(), tls.Addr().UnsafePointer()).Elem(),
			reflect.ValueOf(uintptr(fields.FieldByName("db").Uint())),
			reflect.ValueOf(uintptr(unsafe.Pointer(&name[0]))),
			reflect.ValueOf(int32(sqlite3.SQLITE_FCNTL_JOURNAL_POINTER)),
			reflect.ValueOf(uintptr(unsafe.Pointer(file))),
		})[0].Int()
		if code != sqlite3.SQLITE_OK || *file == 0 {
			return errors.New("SQLite doesn't tell its WAL file")
		}
		// The file begins with a pointer to the table.
		methods = **(***sqlite3.Tsqlite3_io_methods)(unsafe.Pointer(file))
		return nil
	})
	return methods, err
}
