package server

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/internal/model"
)

// useModel has a language model say more about insights, where the settings name one.
func (p *parts) useModel() error {
	s := p.settings.Insight
	if s.ModelURL == "" {
		return nil
	}
	config := model.Config{
		Kind: s.ModelKind, URL: s.ModelURL, Model: s.Model, Key: s.ModelKey.Reveal(), Timeout: s.ModelTimeout,
		PerDay: s.ModelPerDay, Now: time.Now,
	}
	if err := config.Check(); err != nil {
		return fmt.Errorf("the settings [insight]: %w", err)
	}
	p.insights.UseModel(model.New(config), s.Model)
	return nil
}
