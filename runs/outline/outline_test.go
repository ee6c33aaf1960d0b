package outline

import "testing"

func TestModeOf(t *testing.T) {
	for address, want := range map[string]string{
		"aws_x.y": "managed", "data.t.n": "data", "ephemeral.t.n": "ephemeral", "data": "data", "": "managed",
		"module.": "managed", "module.a": "managed",
		"module.a.data.t.n[0]": "data", "module.data.t.n": "managed", `module.a["x.data."].t.n`: "managed",
		`module.a["\"].data.x"].module.b[0].data.t.n`: "data",
	} {
		if got := modeOf(address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

func TestSum(t *testing.T) {
	sum := func(changes ...Change) [32]byte {
		var s Set
		for _, c := range changes {
			s.Add(c)
		}
		return s.Sum()
	}
	a, b := Change{Address: "t.a", Actions: "create"}, Change{Address: "t.b", Actions: "delete,create"}
	if sum(a, b) != sum(b, a) {
		t.Error("the order counts")
	}
	if sum(a) != sum(a, Change{Address: "data.t.a", Actions: "delete"},
		Change{Address: "ephemeral.t.a", Actions: "no-op"}) {
		t.Error("what the JSON leaves out counts")
	}
	seen := map[[32]byte]bool{}
	for _, changes := range [][]Change{{}, {a}, {b}, {a, b}, {a, a}, {{Address: "t.a", Actions: "delete"}},
		{{Address: "t.a", Actions: "create", Import: true}},
		{{Address: "t.a", Actions: "create", Deposed: "1"}}, {{Address: "t.a", Actions: "create", Previous: "1"}},
		{{Address: "data.t.a", Actions: "read"}}} {
		if s := sum(changes...); seen[s] {
			t.Errorf("%v is as another", changes)
		} else {
			seen[s] = true
		}
	}
}
