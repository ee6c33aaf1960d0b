// Package sqlitetest lets SQLite's disk fail, for the tests of what is built on SQLite.
package sqlitetest

import (
	"database/sql"
	"errors"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// FailSyncs makes as many of SQLite's next fsyncs fail as the test stores in what it
// returns, after its writes went through: the way a failing disk shows. All of this
// process's databases are concerned. conn is a connection in WAL mode that is idle.
func FailSyncs(t *testing.T, conn *sql.Conn) *atomic.Int64 {
	t.Helper()
	methods := walMethods(t, conn)
	left := new(atomic.Int64)
	working := methods.FxSync
	sync := *(*func(tls unsafe.Pointer, file uintptr, flags int32) int32)(unsafe.Pointer(&working))
	fake := func(tls unsafe.Pointer, file uintptr, flags int32) int32 {
		if left.Add(-1) >= 0 {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return sync(tls, file, flags)
	}
	methods.FxSync = *(*uintptr)(unsafe.Pointer(&fake))
	t.Cleanup(func() {
		methods.FxSync = working
		runtime.KeepAlive(fake)
	})
	return left
}

// walMethods returns the table of functions by which SQLite works on the WAL file.
func walMethods(t *testing.T, conn *sql.Conn) (methods *sqlite3.Tsqlite3_io_methods) {
	t.Helper()
	err := conn.Raw(func(conn any) error {
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
	if err != nil {
		t.Fatal(err)
	}
	return methods
}
