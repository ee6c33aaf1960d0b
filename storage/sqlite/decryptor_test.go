package sqlite_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// What follows was written from docs/security.md, and from nothing else. It uses nothing of the program.

func derive(key []byte, info string, size int) []byte {
	out, err := hkdf.Key(sha256.New, key, nil, info, size)
	if err != nil {
		panic(err)
	}
	return out
}

// xaesOpen decrypts XAES-256-GCM.
func xaesOpen(key, nonce, sealed, additional []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	k1 := make([]byte, 16)
	block.Encrypt(k1, k1)
	carried := k1[0]>>7 == 1
	for i := range 15 {
		k1[i] = k1[i]<<1 | k1[i+1]>>7
	}
	k1[15] <<= 1
	if carried {
		k1[15] ^= 0x87
	}
	kx := make([]byte, 32)
	for half := range 2 {
		m := append([]byte{0, byte(half + 1), 'X', 0}, nonce[:12]...)
		for i := range m {
			m[i] ^= k1[i]
		}
		block.Encrypt(kx[16*half:], m)
	}
	inner, err := aes.NewCipher(kx)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(inner)
	if err != nil {
		return nil, err
	}
	return gcm.Open(nil, nonce[12:24], sealed, additional)
}

// masterKey is what a line of the master key file comes to.
type masterKey struct {
	key       []byte // of the line
	id, whole []byte
	branches  []keyBranch
}

type keyBranch struct {
	depth         int
	steps, secret []byte
}

func olderKey(key []byte) masterKey {
	return masterKey{key: key, id: derive(key, "holdfast seal 1: master id", 8),
		whole: derive(key, "holdfast seal 1: wrap", 32)}
}

func treeKey(key []byte, text string) (m masterKey, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return m, err
	}
	plain, err := xaesOpen(derive(key, "holdfast seal 2: branches", 32), sealed[:24], sealed[24:], nil)
	if err != nil {
		return m, err
	}
	m.key, m.id = key, plain[:8]
	for at := plain[40:]; len(at) > 0; at = at[49:] {
		m.branches = append(m.branches, keyBranch{int(at[0]), at[1:17], at[17:49]})
	}
	return m, nil
}

// secretOf goes down the tree.
func (m masterKey) secretOf(org uuid.UUID) ([]byte, error) {
	step := func(of []byte, at int) byte { return of[at/8] >> (7 - at%8) & 1 }
search:
	for _, b := range m.branches {
		for at := range b.depth {
			if step(org[:], at) != step(b.steps, at) {
				continue search
			}
		}
		secret := b.secret
		for at := b.depth; at < 128; at++ {
			mac := hmac.New(sha256.New, secret)
			mac.Write([]byte{step(org[:], at)})
			secret = mac.Sum(nil)
		}
		return secret, nil
	}
	return nil, errors.New("the organization was forgotten")
}

// masterKeys reads a master key file whose keys are in the clear.
func masterKeys(text string) (keys []masterKey, err error) { return wrappedKeys(text, nil) }

// wrappedKeys reads one of which unwrap opens what a service has wrapped.
func wrappedKeys(text string, unwrap func(service, wrapped string) ([]byte, error)) (keys []masterKey, err error) {
	begun := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"), line == "":
		case line == "holdfast-master-key 1", line == "holdfast-master-key 2", line == "holdfast-master-key 3":
			begun = true
		case begun:
			digits, check, _ := strings.Cut(line, " ")
			check, tree, _ := strings.Cut(check, " ")
			key, err := hex.DecodeString(digits)
			if service, wrapped, is := strings.Cut(digits, ":"); is && unwrap != nil {
				key, err = unwrap(service, wrapped)
			}
			if sum := sha256.Sum256(append(bytes.Clone(key), tree...)); err != nil || hex.EncodeToString(sum[:])[:8] != check {
				return nil, errors.New("a line of the master key file is damaged")
			}
			master := olderKey(key)
			if tree != "" {
				if master, err = treeKey(key, tree); err != nil {
					return nil, err
				}
			}
			keys = append(keys, master)
		}
	}
	return keys, nil
}

// unwrap decrypts a data key.
func unwrap(masters []masterKey, org uuid.UUID, number uint32, id, wrapped []byte) ([]byte, error) {
	for _, master := range masters {
		if !bytes.Equal(master.id, wrapped[5:13]) {
			continue
		}
		by := master.whole
		if wrapped[4] == 2 {
			secret, err := master.secretOf(org)
			if err != nil {
				return nil, err
			}
			by = derive(secret, "holdfast seal 2: wrap", 32)
		}
		additional := append(bytes.Clone(wrapped[:13]), org[:]...)
		additional = append(binary.BigEndian.AppendUint32(additional, number), id...)
		return xaesOpen(by, wrapped[13:37], wrapped[37:], additional)
	}
	return nil, errors.New("there is no such master key")
}

// decryptor reads a database.
type decryptor struct {
	db      *sql.DB
	masters []masterKey
}

// dataKeys returns an organization's data keys by ID, and the first.
func (d decryptor) dataKeys(org uuid.UUID) (byID map[string][]byte, first []byte, err error) {
	rows, err := d.db.QueryContext(context.Background(), `SELECT number, id, wrapped FROM data_keys WHERE org = ?`, org.String())
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	byID = map[string][]byte{}
	for rows.Next() {
		var number uint32
		var id, wrapped []byte
		if err := rows.Scan(&number, &id, &wrapped); err != nil {
			return nil, nil, err
		}
		key, err := unwrap(d.masters, org, number, id, wrapped)
		if err != nil {
			return nil, nil, err
		}
		if byID[string(id)] = key; number == 1 {
			first = key
		}
	}
	return byID, first, rows.Err()
}

func (d decryptor) open(org uuid.UUID, kind, name string, sealed []byte) ([]byte, error) {
	keys, _, err := d.dataKeys(org)
	if err != nil {
		return nil, err
	}
	key, ok := keys[string(sealed[5:13])]
	if !ok || string(sealed[:5]) != "HFS\x00\x01" {
		return nil, errors.New("there is no such data key")
	}
	additional := append(bytes.Clone(sealed[:13]), org[:]...)
	additional = append(additional, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	additional = append(binary.BigEndian.AppendUint32(additional, uint32(len(kind))), kind...)
	additional = append(binary.BigEndian.AppendUint32(additional, uint32(len(name))), name...)
	return xaesOpen(derive(key, "holdfast seal 1: seal", 32), sealed[13:37], sealed[37:], additional)
}

func (d decryptor) digest(org uuid.UUID, kind, name string, hidden []byte) (digest []byte, err error) {
	_, first, err := d.dataKeys(org)
	if err != nil {
		return nil, err
	}
	mask := hmac.New(sha256.New, derive(first, "holdfast seal 1: mask", 32))
	mask.Write(hidden[:32])
	digest = mask.Sum(nil)
	for i := range digest {
		digest[i] ^= hidden[32+i]
	}
	tag := hmac.New(sha256.New, derive(first, "holdfast seal 1: tag", 32))
	for _, part := range []string{kind, name, string(digest)} {
		tag.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		tag.Write([]byte(part))
	}
	if !hmac.Equal(tag.Sum(nil), hidden[:32]) {
		return nil, errors.New("the digest is not this state's")
	}
	return digest, nil
}

func unzstd(packed []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(packed, nil)
}

// version reads a version of a state, and the digest that its row has.
func (d decryptor) version(org uuid.UUID, name string, number int) (body, digest []byte, err error) {
	var encoding string
	var sealed, hidden []byte
	var base sql.NullInt64
	err = d.db.QueryRowContext(context.Background(), `SELECT b.encoding, b.bytes, v.digest, w.number FROM states s
		JOIN versions v ON v.state = s.id JOIN bodies b ON b.id = v.id LEFT JOIN versions w ON w.id = b.base
		WHERE s.org = ? AND s.name = ? AND v.number = ?`, org.String(), name, number).Scan(&encoding, &sealed, &hidden, &base)
	if err != nil {
		return nil, nil, err
	}
	if body, err = d.open(org, "state version", fmt.Sprintf("%s %d %s", encoding, number, name), sealed); err != nil {
		return nil, nil, err
	}
	switch encoding {
	case "zstd":
		body, err = unzstd(body)
	case "delta":
		var from []byte
		if from, _, err = d.version(org, name, int(base.Int64)); err == nil {
			body, err = patched(from, body)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	digest, err = d.digest(org, "state digest", name, hidden)
	return body, digest, err
}

// patched applies a delta.
func patched(from, delta []byte) (body []byte, err error) {
	_, n := binary.Uvarint(delta)
	_, m := binary.Uvarint(delta[n:])
	script, err := unzstd(delta[n+m:])
	if err != nil {
		return nil, err
	}
	read := func() int {
		value, n := binary.Uvarint(script)
		script = script[n:]
		return int(value)
	}
	for end := 0; len(script) > 0; {
		fresh := read()
		body, script = append(body, script[:fresh]...), script[fresh:]
		if len(script) == 0 {
			break
		}
		length := read()
		behind, n := binary.Varint(script)
		script = script[n:]
		at := end + int(behind)
		body, end = append(body, from[at:at+length]...), at+length
	}
	return body, nil
}

// TestDecryptor reads what a store has sealed without anything of the program.
func TestDecryptor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	if err := seal.CreateMasterFile(path); err != nil {
		t.Fatal(err)
	}
	master, err := seal.ReadMasterFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Master: master})
	if err != nil {
		t.Fatal(err)
	}
	ref := state.Ref{Org: uuid.New(), Name: "prod/network"}
	var bodies [][]byte
	for i := range 4 { // whole, and deltas of it
		body := bytes.Repeat([]byte(`{"password":"hunter2"},`), 400)
		for at := range 200 { // else each would be a few bytes
			copy(body[40*at:], fmt.Sprintf("%x", sha256.Sum256([]byte{byte(at)}))[:30])
		}
		body = append(body, fmt.Sprint("version ", i)...)
		copy(body[1000*i:], fmt.Sprintf("changed %d", i))
		bodies = append(bodies, body)
	}
	bodies = append(bodies, []byte("raw"))
	for _, body := range bodies {
		_, err := s.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
			return state.Change{Version: &state.Version{Number: h.Version.Number + 1, Size: int64(len(body)),
				Digest: sha256.Sum256(body), CreatedAt: time.Now()}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	somebody := uuid.New()
	if done, err := (seal.Source{Path: path}).Forget(t.Context(), somebody); done.Keys != 1 || err != nil {
		t.Fatal(done, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := decryptor{}
	if d.masters, err = masterKeys(string(text)); err != nil {
		t.Fatal(err)
	}
	if d.db, err = sql.Open("sqlite", filepath.Join(dir, "state.db")); err != nil {
		t.Fatal(err)
	}
	defer d.db.Close()
	kinds := map[string]bool{}
	for i, want := range bodies {
		body, digest, err := d.version(ref.Org, string(ref.Name), i+1)
		if sum := sha256.Sum256(want); err != nil || !bytes.Equal(body, want) || !bytes.Equal(digest, sum[:]) {
			t.Errorf("version %d: %q, %x, %v", i+1, body, digest, err)
		}
		var encoding string
		const encodings = `SELECT encoding FROM bodies LIMIT 1 OFFSET ?`
		if err := d.db.QueryRowContext(t.Context(), encodings, i).Scan(&encoding); err != nil {
			t.Fatal(err)
		}
		kinds[encoding] = true
	}
	if len(kinds) != 3 {
		t.Errorf("only these encodings were read: %v", kinds)
	}
}
