package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// InForce are the bundles that count for a workspace at one moment: the organization's, then the
// workspace's own. The zero value is none.
type InForce struct {
	Bundles []Bundle
	service *Service
}

// InForce returns the bundles that count for a workspace. It has no caller: it is for the server itself.
func (s *Service) InForce(ctx context.Context, org uuid.UUID, workspace string) (InForce, error) {
	all, err := s.Store.List(ctx, org, "", workspace)
	return InForce{all, s}, err
}

// Digest is the SHA-256 of what is in force; empty for nothing.
func (f InForce) Digest() string {
	if len(f.Bundles) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, b := range f.Bundles {
		fmt.Fprintf(sum, "%q %q %s %s", b.Workspace, b.Name, b.Enforce, b.Digest)
		if b.Workspace != "" && !b.Wide {
			fmt.Fprint(sum, " narrow") // its waivers count for less
		}
		fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Strictest returns the strictest enforcement of them; Advise for none.
func (f InForce) Strictest() Enforcement {
	strictest := Advise
	for _, b := range f.Bundles {
		if b.Enforce == Refuse || b.Enforce == Hold && strictest == Advise {
			strictest = b.Enforce
		}
	}
	return strictest
}

// Files returns a bundle's files. Fault: PolicyNotFound where that version is gone meanwhile.
func (f InForce) Files(ctx context.Context, b Bundle) ([]File, error) { return f.service.files(ctx, b) }
