package server

import (
	"time"

	"github.com/holdfast/holdfast/insight/model"
)

// useModel has a language model say more about insights, where the settings name one.
func (p *parts) useModel() {
	s := p.settings.Insight
	if s.ModelURL == "" {
		return
	}
	p.insights.UseModel(model.New(model.Config{
		Kind: s.ModelKind, URL: s.ModelURL, Model: s.Model, Key: s.ModelKey.Reveal(), Timeout: s.ModelTimeout,
		PerDay: s.ModelPerDay, Now: time.Now,
	}), s.Model)
}
