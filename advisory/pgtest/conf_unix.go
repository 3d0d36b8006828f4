//go:build unix

package pgtest

import (
	"fmt"
	"strings"
)

// confEscapes follows the quoting rules of postgresql.conf, where a value may
// not run over the end of a line.
var confEscapes = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`, "\r", `\r`)

// conf gives the lines that follow initdb's own in postgresql.conf.
func (c config) conf() string {
	var b strings.Builder
	// The last of several lines for one parameter counts.
	for _, s := range append([]setting{
		{"fsync", "off"},
		// Standbys stream from the beginning of their copy; without this a
		// checkpoint may remove what they still need.
		{"wal_keep_size", "512MB"},
		// How long a standby that has lost its primary waits (5 s by default) before it looks again.
		{"wal_retrieve_retry_interval", "100ms"},
		// A server that is killed must not leave files in /dev/shm.
		{"dynamic_shared_memory_type", "mmap"},
	}, c.settings...) {
		fmt.Fprintf(&b, "%s = '%s'\n", s.name, confEscapes.Replace(s.value))
	}
	return b.String()
}
