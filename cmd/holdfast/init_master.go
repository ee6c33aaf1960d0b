package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/folder"
)

// madeMaster is the master key file, as JSON shows it.
type madeMaster struct {
	MasterKeyFile    string `json:"master_key_file"`
	MasterKeyCreated bool   `json:"master_key_created"`
}

// ensureMaster makes the master key file, unless there is one; that must be good then.
func (a *app) ensureMaster(cmd *cobra.Command) (madeMaster, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return madeMaster{}, err
	}
	master := madeMaster{MasterKeyFile: settings.MasterKeyPath()}
	if settings.Seal.MasterKeyFile == "" {
		if err := folder.Make(settings.Storage.Path); err != nil {
			return madeMaster{}, fmt.Errorf("make the folder of all data: %w", err)
		}
	}
	err = seal.CreateMasterFile(master.MasterKeyFile)
	master.MasterKeyCreated = err == nil
	if errors.Is(err, fs.ErrExist) {
		if _, err := seal.ReadMasterFile(master.MasterKeyFile); err != nil {
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
	return fmt.Sprintf(`%sMade %s. Keep a copy of it, apart from copies of the data.
If it is lost, nobody can read what is kept encrypted any more: states, variables, configurations, plans, logs.
Whoever has it together with the data can read all of that.
`, lead, m.MasterKeyFile)
}
