package repos

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/seal"
)

// Deps is what a Service stands on.
type Deps struct {
	Store Store
	Gate  *audit.Gate
	Seals Seals
	// Deliver puts into the audit log what a Store keeps of changes for it; nil where somebody else does.
	Deliver func(ctx context.Context, org uuid.UUID)
	Folder  string // of this process's mirrors
	Limits  Limits
	// Allowed are the private networks that repositories, and their providers, may be in.
	Allowed   []netip.Prefix
	AllowHTTP bool
	CAFile    string // authorities that sign the certificates of the hosts, beside the system's
	Now       func() time.Time
	Random    func() float64 // in [0, 1)
	Log       *slog.Logger
}

// Limits bound what repositories may cost. Zero fields are the defaults.
type Limits struct {
	Repositories int // of an organization; 200 by default
	Workers      int // fetches at once in this process; 4 by default, of which an organization has at most half
	Deliveries   int // that are remembered of a repository; 50,000 by default
	Git          gitmirror.Limits
	// Mirrors is how many bytes the mirrors of an organization may have together; ten times those of one by default.
	Mirrors int64
}

// Seals is what encrypts secrets. *seal.Sealer is one.
type Seals interface {
	Seal(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, plain []byte) ([]byte, error)
	Open(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, sealed []byte) ([]byte, error)
}

const sealKind seal.Kind = "repository"

// Service is the door to repositories. It is safe for concurrent use.
type Service struct {
	Deps
	workers *turns.Turns
	wake    chan struct{}
	life    context.Context // of fetches
	end     context.CancelFunc

	mu       sync.Mutex
	flights  map[uuid.UUID]*flights
	mirrors  map[uuid.UUID]*gitmirror.Mirror
	tokens   map[uuid.UUID]appTokens
	modules  map[uuid.UUID]*submodules
	onMoved  []func(context.Context, Moved)
	onEvent  []func(context.Context, Event) error
	onRemove []func(ctx context.Context, org uuid.UUID, name string) error
	fetching sync.WaitGroup
}

// NewService returns a service on what it stands on. The caller closes it, or has Run do so.
func NewService(d Deps) *Service {
	orElse(&d.Limits.Repositories, 200)
	orElse(&d.Limits.Workers, 4)
	orElse(&d.Limits.Deliveries, 50_000)
	d.Limits.Git = d.Limits.Git.WithDefaults()
	orElse(&d.Limits.Mirrors, 10*d.Limits.Git.Bytes)
	life, end := context.WithCancel(context.Background())
	return &Service{Deps: d, workers: turns.New(d.Limits.Workers, max(d.Limits.Workers/2, 1)),
		wake: make(chan struct{}, 1), life: life, end: end, flights: map[uuid.UUID]*flights{},
		mirrors: map[uuid.UUID]*gitmirror.Mirror{}, tokens: map[uuid.UUID]appTokens{},
		modules: map[uuid.UUID]*submodules{}}
}

func orElse[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Order is what somebody wants a repository to be. Nil fields stay as they are.
type Order struct {
	Settings func(*Settings) error // changes them
	Secrets  func(*Secrets)        // changes those that are there
}

// mayChange says whether a principal may change repositories. Layers of any workspace come from them, whose runs
// execute what is there: a key for some states may not.
func (s *Service) mayChange(ctx context.Context, p auth.Principal) error {
	return s.Gate.AuthorizeAll(ctx, p, auth.WriteRepository, "workspaces")
}

// Create registers a repository, and returns its webhook secret, which is told only now. Faults: RepositoryInvalid,
// RepositoryExists, RepositoriesFull.
func (s *Service) Create(ctx context.Context, p auth.Principal, name string, o Order) (Repository, string, error) {
	if err := s.mayChange(ctx, p); err != nil {
		return Repository{}, "", err
	}
	if !IsName(name) {
		return Repository{}, "", invalid("a repository's name has 1 to %d letters, digits and . _ -", maxName)
	}
	now := s.clock()
	r := Repository{Org: p.Org, Name: name, ID: uuid.New(), CreatedAt: now, UpdatedAt: now, UpdatedBy: ActorOf(p),
		Settings: Settings{Branches: []string{"main"}, Provider: "plain", Poll: DefaultPoll, Credential: None}}
	secrets := Secrets{Webhook: newSecret()}
	if err := s.apply(ctx, o, &r, &secrets); err != nil {
		return Repository{}, "", err
	}
	made, err := s.Store.Update(ctx, p.Org, name, func(is *Repository, count int) (Change, error) {
		switch {
		case is != nil:
			return Change{}, fault.New(fault.RepositoryExists, "there is a repository %q already", name)
		case count >= s.Limits.Repositories:
			return Change{}, fault.New(fault.RepositoriesFull,
				"the organization has %d repositories, and may have no more", count)
		}
		return Change{Put: &r, Audit: s.entry(p, ActionCreate, name)}, nil
	})
	s.acted(ctx, p, err)
	s.rouse()
	return made, secrets.Webhook, err
}

// apply makes the repository what the order says, with its secrets sealed.
func (s *Service) apply(ctx context.Context, o Order, r *Repository, secrets *Secrets) error {
	if o.Settings != nil {
		if err := o.Settings(&r.Settings); err != nil {
			return err
		}
	}
	if o.Secrets != nil {
		o.Secrets(secrets)
	}
	if err := r.Settings.Check(*secrets, s.AllowHTTP); err != nil {
		return err
	}
	r.Settings.PublicKey, r.Settings.APIToken = "", secrets.API != ""
	if r.Settings.Credential == DeployKey {
		public, err := gitmirror.PublicKey([]byte(secrets.Key))
		if err != nil {
			return invalid("%v", err)
		}
		r.Settings.PublicKey = public
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return err
	}
	r.Sealed, err = s.Seals.Seal(ctx, r.Org, sealKind, r.ID.String(), plain)
	return err
}

// open returns a repository's secrets.
func (s *Service) open(ctx context.Context, r Repository) (secrets Secrets, err error) {
	plain, err := s.Seals.Open(ctx, r.Org, sealKind, r.ID.String(), r.Sealed)
	if err != nil {
		return Secrets{}, err
	}
	return secrets, json.Unmarshal(plain, &secrets)
}

func newSecret() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// entry is what the audit log has of what somebody did.
func (s *Service) entry(p auth.Principal, action audit.Action, name string) *audit.Event {
	return &audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: action, Note: "repository " + name}
}

// acted has the entry of what somebody did delivered.
func (s *Service) acted(ctx context.Context, p auth.Principal, err error) {
	if err == nil && s.Deliver != nil {
		s.Deliver(ctx, p.Org)
	}
}

// Get returns a repository. Fault: RepositoryNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, name string) (Repository, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRepository); err != nil {
		return Repository{}, err
	}
	return s.find(ctx, p.Org, name)
}

func (s *Service) find(ctx context.Context, org uuid.UUID, name string) (Repository, error) {
	if !IsName(name) {
		return Repository{}, notFound(name)
	}
	return s.Store.Repository(ctx, org, name)
}

// List returns repositories by name, up to limit of them, behind after, and where to go on; empty at the end.
func (s *Service) List(ctx context.Context, p auth.Principal, after string, limit int) ([]Repository, string, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRepository); err != nil {
		return nil, "", err
	}
	page, err := s.Store.Repositories(ctx, p.Org, after, limit)
	if err != nil || len(page) < limit {
		return page, "", err
	}
	return page, page[limit-1].Name, nil
}

// Change changes a repository. Its credentials are forgotten when it gets another server, unless the order brings some;
// so is the token of the API when that is at another server.
// Faults: RepositoryNotFound, RepositoryInvalid.
func (s *Service) Change(ctx context.Context, p auth.Principal, name string, o Order) (Repository, error) {
	if err := s.mayChange(ctx, p); err != nil {
		return Repository{}, err
	}
	return fault.Again(func() (Repository, error) { return s.changeOnce(ctx, p, name, o) })
}

func (s *Service) changeOnce(ctx context.Context, p auth.Principal, name string, o Order) (Repository, error) {
	is, err := s.find(ctx, p.Org, name)
	if err != nil {
		return Repository{}, err
	}
	secrets, err := s.open(ctx, is)
	if err != nil {
		return Repository{}, err
	}
	next := is
	if o.Settings != nil {
		if err := o.Settings(&next.Settings); err != nil {
			return Repository{}, err
		}
		o.Settings = nil
	}
	if !is.Settings.SameHost(next.Settings) {
		secrets = Secrets{Webhook: secrets.Webhook}
		if slices.Equal(next.Settings.KnownHosts, is.Settings.KnownHosts) {
			next.Settings.KnownHosts = nil
		}
	}
	if !is.Settings.sameAPI(next.Settings) {
		secrets.API = ""
	}
	if err := s.apply(ctx, o, &next, &secrets); err != nil {
		return Repository{}, err
	}
	next.UpdatedAt, next.UpdatedBy = s.clock(), ActorOf(p)
	return s.put(ctx, p, ActionChange, is, next)
}

// put has a repository take the place of what it was made of.
func (s *Service) put(ctx context.Context, p auth.Principal, action audit.Action, was,
	next Repository) (Repository, error) {
	made, err := s.Store.Update(ctx, p.Org, was.Name, func(is *Repository, _ int) (Change, error) {
		switch {
		case is == nil:
			return Change{}, notFound(was.Name)
		case is.ID != was.ID || is.Revision != was.Revision:
			return Change{}, fault.New(fault.ChangedMeanwhile, "others change the repository at this moment; try again")
		}
		return Change{Put: &next, Audit: s.entry(p, action, was.Name)}, nil
	})
	s.acted(ctx, p, err)
	s.forget(was.ID)
	s.rouse()
	return made, err
}

// forget drops what is kept in memory of a repository.
func (s *Service) forget(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, id)
	delete(s.modules, id)
}

// NewWebhookSecret gives a repository another webhook secret, and returns it, which is told only now. Deliveries that
// are signed with the old one are refused from then on. Fault: RepositoryNotFound.
func (s *Service) NewWebhookSecret(ctx context.Context, p auth.Principal, name string) (Repository, string, error) {
	if err := s.mayChange(ctx, p); err != nil {
		return Repository{}, "", err
	}
	is, err := s.find(ctx, p.Org, name)
	if err != nil {
		return Repository{}, "", err
	}
	secrets, err := s.open(ctx, is)
	if err != nil {
		return Repository{}, "", err
	}
	next, secret := is, newSecret()
	err = s.apply(ctx, Order{Secrets: func(s *Secrets) { s.Webhook = secret }}, &next, &secrets)
	if err != nil {
		return Repository{}, "", err
	}
	next.UpdatedAt, next.UpdatedBy = s.clock(), ActorOf(p)
	made, err := s.put(ctx, p, ActionSecret, is, next)
	return made, secret, err
}

// Remove takes a repository away. Workspaces keep what they got from it. To remove it again is accepted.
func (s *Service) Remove(ctx context.Context, p auth.Principal, name string) error {
	if err := s.mayChange(ctx, p); err != nil {
		return err
	}
	is, err := s.find(ctx, p.Org, name)
	if fault.Is(err, fault.RepositoryNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, tell := range s.onRemove {
		if err := tell(ctx, is.Org, name); err != nil {
			return err
		}
	}
	_, err = s.Store.Update(ctx, p.Org, name, func(now *Repository, _ int) (Change, error) {
		if now == nil || now.ID != is.ID {
			return Change{}, nil
		}
		return Change{Delete: true, Audit: s.entry(p, ActionRemove, name)}, nil
	})
	s.acted(ctx, p, err)
	if err != nil {
		return err
	}
	s.forget(is.ID)
	s.dropMirror(ctx, is.ID) // or it is removed later
	return nil
}
