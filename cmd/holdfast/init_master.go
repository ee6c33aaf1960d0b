package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/folder"
)

// madeMaster is the master key file, as JSON shows it.
type madeMaster struct {
	MasterKeyFile    string `json:"master_key_file"`
	MasterKeyCreated bool   `json:"master_key_created"`
	keeper           string // what the key in the file is wrapped by; empty for nothing
}

// ensureMaster makes the master key file, unless there is one; that must be good then.
func (a *app) ensureMaster(cmd *cobra.Command) (madeMaster, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return madeMaster{}, err
	}
	if settings.Seal.MasterKeys.Reveal() != "" {
		_, err := storage.ReadMaster(cmd.Context(), settings)
		return madeMaster{}, err
	}
	master := madeMaster{MasterKeyFile: settings.MasterKeyPath(), keeper: settings.Seal.Key}
	if settings.Seal.MasterKeyFile == "" {
		if err := folder.Make(settings.Storage.Path); err != nil {
			return madeMaster{}, fmt.Errorf("make the folder of all data: %w", err)
		}
	}
	err = storage.CreateMaster(cmd.Context(), settings)
	master.MasterKeyCreated = err == nil
	if errors.Is(err, fs.ErrExist) {
		if _, err := storage.ReadMaster(cmd.Context(), settings); err != nil {
			return madeMaster{}, fmt.Errorf("there is a master key file, and it can't be used: %w", err)
		}
		return master, nil
	}
	if err != nil {
		return madeMaster{}, fmt.Errorf("make the master key file: %w", err)
	}
	return master, nil
}

// words say what the file means, behind lead, to who has a new one.
func (m madeMaster) words(lead string) string {
	if !m.MasterKeyCreated {
		return ""
	}
	if m.keeper != "" {
		return fmt.Sprintf(`%sMade %s. Keep a copy of it: it opens with the key %s, and without either of both
nobody can read what is kept encrypted any more: states, variables, configurations, plans, logs.
`, lead, m.MasterKeyFile, m.keeper)
	}
	return fmt.Sprintf(`%sMade %s. Keep a copy of it apart from the data: who has it together with the data can read all.
If it is lost, nobody can read what is kept encrypted any more: states, variables, configurations, plans, logs.
`, lead, m.MasterKeyFile)
}
