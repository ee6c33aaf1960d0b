package handlers

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// organizationHandlers serve what auth.cfg says of an organization.
type organizationHandlers struct{ service *keys.Service }

// maxSettingsOrder is what a change of settings may take, in bytes.
const maxSettingsOrder = 8 << 10

// routeOrganization routes what is about the organization's settings.
func (d Deps) routeOrganization(at section, known gin.HandlerFunc, guard *middleware.Guard) {
	h := organizationHandlers{d.KeyEdits}
	group := at.under("/api/v1/organization", known, guard.States(nil))
	group.route("GET", "", op("showOrganization",
		"What auth.cfg says of the organization, without credentials and secrets").gives(api.OrganizationSettings{}).
		needs(auth.ReadMetadata), h.show, middleware.Admit(0))
	group.route("PATCH", "", op("configureOrganization",
		"Change how the organization's states are kept").takes(api.OrganizationChange{}).gives(api.OrganizationSettings{}).
		needs(auth.ManageOrganization).fails(fault.SettingInvalid, fault.SettingsChanged, fault.KeysReadOnly),
		h.change, middleware.Admit(maxSettingsOrder))
}

func (h organizationHandlers) show(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	said, err := h.service.Settings(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	return tell(settingsOf(said)), nil
}

func (h organizationHandlers) change(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.OrganizationChange](r, fault.SettingInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	changes := make([]keys.Setting, len(order.Settings))
	for i, s := range order.Settings {
		changes[i] = keys.Setting(s)
	}
	said, err := h.service.Configure(ctx, r.caller, order.Version, changes)
	if err != nil {
		return nil, err
	}
	return tell(settingsOf(said)), nil
}

func settingsOf(said keys.Settings) api.OrganizationSettings {
	shown := api.OrganizationSettings{Version: said.Version, Settings: items(said.Plain, settingOf),
		StateAccess: string(said.Access), RunsLocal: said.RunsLocal,
		AuditDays: int(said.AuditKept / (24 * time.Hour)), UploadDays: int(said.UploadsKept / (24 * time.Hour))}
	if said.Sections != nil {
		shown.Sections = items(said.Sections, sectionOf)
	}
	if said.Aliases != nil {
		shown.Aliases = items(said.Aliases, func(a keys.Alias) api.OrganizationAlias {
			return api.OrganizationAlias{ID: a.ID, Folder: string(a.Folder)}
		})
	}
	if to := said.Notify; to.Is {
		shown.Notices = &api.NoticeSettings{Signed: to.Signed, Header: to.Header, Events: append([]string{}, to.Events...)}
	}
	if to := said.Decision; to.Is {
		shown.Decisions = &api.DecisionSettings{Signed: to.Signed, FailOpen: said.FailOpen}
	}
	return shown
}

func settingOf(s keys.PlainSetting) api.OrganizationSetting {
	return api.OrganizationSetting{Name: s.Name, Value: s.Value, Default: s.Default, Said: s.Said}
}

func sectionOf(s keys.StatesSettings) api.StatesSection {
	return api.StatesSection{States: s.States,
		Settings: items(s.Set, func(one keys.Setting) api.SettingValue { return api.SettingValue(one) })}
}
