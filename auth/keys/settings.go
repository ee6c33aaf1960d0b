package keys

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/fault"
)

// What is said of settings is the file's own.
type (
	// Settings is what the file says of an organization but of credentials.
	Settings = authfile.Settings
	// Setting is a setting and its value, as they stand there.
	Setting = authfile.Setting
	// PlainSetting is one of how states are kept.
	PlainSetting = authfile.PlainSetting
	// StatesSettings is what is said otherwise of some states.
	StatesSettings = authfile.StatesSettings
	// Alias is what another server calls the organization.
	Alias = authfile.Alias
)

// Settings returns what the file in force says of the caller's organization but of credentials. A key for some
// states is not told of sections and aliases: they have names of others. Faults: RightMissing.
func (s *Service) Settings(ctx context.Context, p auth.Principal) (Settings, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadMetadata); err != nil {
		return Settings{}, err
	}
	said, ok := s.Said(p.Org)
	if !ok {
		return Settings{}, errGone()
	}
	if p.States != nil {
		said.Sections, said.Aliases = nil, nil
	}
	return said, nil
}

// Configure gives settings of how the organization's states are kept other values, all or none of them; an empty
// value is the default. version is what the caller has read: where the file says something else by now, nothing is
// changed, unless it says what is wanted. Faults: RightMissing, SettingInvalid, SettingsChanged, KeysReadOnly,
// KeysNotTaken.
func (s *Service) Configure(ctx context.Context, p auth.Principal, version string,
	changes []Setting) (after Settings, err error) {
	if err := s.Gate.AuthorizeAll(ctx, p, auth.ManageOrganization, "states"); err != nil {
		return Settings{}, err
	}
	var entry audit.Event
	err = s.edit(ctx, func(d *authfile.Document) error {
		o, b, err := s.boundsOf(d, p, auth.ManageOrganization)
		if err != nil {
			return err
		}
		if b.States != nil {
			return errGone()
		}
		before := o.Settings()
		if err := d.Configure(p.Org, changes...); err != nil {
			return fault.New(fault.SettingInvalid, "%v", err)
		}
		changed, _ := d.Find(p.Org)
		if after = changed.Settings(); after.Version == before.Version {
			return nil
		}
		if version != before.Version {
			return fault.New(fault.SettingsChanged,
				"somebody has changed the settings since you have read them; nothing was changed")
		}
		entry, err = s.note(ctx, p, audit.OrganizationChange, differences(before, after))
		return err
	})
	return after, s.refused(ctx, p, entry, err)
}

// differences says what becomes of each setting that gets another value.
func differences(before, after Settings) string {
	var all []string
	for i, was := range before.Plain {
		if is := after.Plain[i]; is.Setting != was.Setting || is.Said != was.Said {
			all = append(all, is.Name+": "+said(was)+" to "+said(is))
		}
	}
	return strings.Join(all, ", ")
}

func said(s PlainSetting) string {
	if !s.Said {
		return "the default (" + s.Value + ")"
	}
	return s.Value
}
