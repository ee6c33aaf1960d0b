package sqluploads

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// TestOpenRefused has what no waiting mends.
func TestOpenRefused(t *testing.T) {
	d := mysqltest.New(t)
	poor := mysqltest.Address{Host: d.Host, Port: d.Port, User: "hf_" + d.Name[len(d.Name)-8:],
		Password: "its-own-Password"}
	if err := d.Address.Exec(t.Context(), "",
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", poor.User, poor.Password),
		fmt.Sprintf("CREATE USER '%s'@'localhost' IDENTIFIED BY '%s'", poor.User, poor.Password)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Address.Exec(context.Background(), "",
			fmt.Sprintf("DROP USER '%s'@'%%', '%s'@'localhost'", poor.User, poor.User)); err != nil {
			t.Error(err)
		}
	}()
	good := mysqlOptions(mysqltest.Database{Address: poor, Name: d.Name})
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"wrong password": {func(o *Options) { o.MySQL.Password = "its-other-Password" }, "Access denied"},
		"no right":       {func(o *Options) {}, d.Name},
		"TLS mode":       {func(o *Options) { o.MySQL.TLS = "maybe" }, `"maybe"`},
		"no CA file": {func(o *Options) { o.MySQL.TLS, o.MySQL.TLSCAFile = mysqldb.TLSRequired, "/does/not/exist" },
			"/does/not/exist"},
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			o := log.options(good)
			c.change(&o)
			began := time.Now()
			_, err := Open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(began) > 10*time.Second {
				t.Errorf("after %v: error %v, want one with %q at once", time.Since(began), err, c.want)
			}
			text := fmt.Sprintf("%v %s %v %+v %#v", err, log.String(), *o.MySQL, *o.MySQL, *o.MySQL)
			if strings.Contains(text, "Password") {
				t.Errorf("the password shows in %s", text)
			}
			o.MySQL.Log.Info("options", "o", *o.MySQL, "p", o.MySQL)
			wantNoPassword(t, poor.Password, log.String())
		})
	}
}
