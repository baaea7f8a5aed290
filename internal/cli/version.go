package cli

import (
	"fmt"
	"runtime/debug"
)

// Version is the version of all commands. CHANGELOG.md describes it.
const Version = "0.1.0"

// version returns the text of --version after the name: the version, and the commit with its date
// if the command was built in a clone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	settings := make(map[string]string)
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return Version
	}
	if settings["vcs.modified"] == "true" {
		commit += " (changed)"
	}
	return fmt.Sprintf("%s, commit %s, %s", Version, commit, settings["vcs.time"])
}
