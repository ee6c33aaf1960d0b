package tools

import (
	"bytes"
	"os"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/holdfast/holdfast/fault"
)

// armorStart is how OpenPGP data in ASCII begins.
const armorStart = "-----BEGIN PGP"

// readKeys reads the operator's file of trusted public keys.
func readKeys(path string) (openpgp.EntityList, error) {
	if path == "" {
		return nil, fault.New(fault.ToolUntrusted,
			"nothing is downloaded unless a file of trusted keys is set for the tool: [tools] opentofu_key_file or "+
				"terraform_key_file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.ToolUntrusted, "the file of trusted keys can't be read")
	}
	read := openpgp.ReadKeyRing
	if isArmored(data) {
		read = openpgp.ReadArmoredKeyRing
	}
	keys, err := read(bytes.NewReader(data))
	if err == nil && len(keys) == 0 {
		err = os.ErrInvalid
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.ToolUntrusted, "the file of trusted keys has no OpenPGP public keys")
	}
	return keys, nil
}

// verifySignature reports whether one of the keys signed the data, and is good now.
func verifySignature(keys openpgp.EntityList, data, signature []byte, now time.Time) error {
	verify := openpgp.CheckDetachedSignature
	if isArmored(signature) {
		verify = openpgp.CheckArmoredDetachedSignature
	}
	config := &packet.Config{Time: func() time.Time { return now }}
	if _, err := verify(keys, bytes.NewReader(data), bytes.NewReader(signature), config); err != nil {
		return fault.Wrap(err, fault.ToolUntrusted, "the list of checksums is not signed by a trusted key: %v", err)
	}
	return nil
}

func isArmored(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte(armorStart)) }
