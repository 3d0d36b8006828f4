package pgtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Option changes how [New] and [Start] set the server up.
type Option func(*config)

type config struct {
	settings []setting
}

type setting struct{ name, value string }

// Setting sets a parameter in the server's postgresql.conf, for example
// Setting("max_connections", "10"). A later Setting of the same name wins, and so
// does ALTER SYSTEM. A name or value that PostgreSQL does not take makes [New] fail
// with the server's own words. The parameters by which pgtest reaches the server
// (port, listen_addresses and the like) are refused.
func Setting(name, value string) Option {
	return func(c *config) { c.settings = append(c.settings, setting{name, value}) }
}

// reserved parameters would move the server away from where pgtest looks for it.
var reserved = []string{
	"config_file", "data_directory", "external_pid_file", "hba_file", "ident_file",
	"listen_addresses", "port", "unix_socket_directories",
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

func newConfig(opts []Option) (config, error) {
	var c config
	for _, opt := range opts {
		opt(&c)
	}
	for _, s := range c.settings {
		switch name := strings.ToLower(s.name); {
		case !settingName.MatchString(name):
			return c, fmt.Errorf("pgtest: %q is not the name of a setting", s.name)
		case slices.Contains(reserved, name):
			return c, fmt.Errorf("pgtest: the setting %s cannot be changed: pgtest chooses it itself", name)
		case strings.ContainsRune(s.value, 0):
			return c, fmt.Errorf("pgtest: the value of the setting %s holds a NUL byte", name)
		}
	}
	return c, nil
}
