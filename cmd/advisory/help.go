package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

const statuses = `
exit status:
  0    it is done
  1    it could not be done; standard error says why
  2    the command line is wrong
  130  a signal stopped it; what it had started or created is gone
`

func isHelpFlag(arg string) bool {
	return arg == "-h" || arg == "-help" || arg == "--help"
}

// help prints the overview, or a command's documentation, and returns the exit status.
func help(topics []string, stdout, stderr io.Writer) int {
	if len(topics) == 0 {
		overview(stdout)
		return statusDone
	}
	if len(topics) > 1 {
		return misuse(stderr, "help takes one command")
	}
	cmd, ok := lookUp(topics[0])
	if !ok {
		return misuse(stderr, "there is no command %q", topics[0])
	}
	io.WriteString(stdout, cmd.usage)
	return statusDone
}

func overview(w io.Writer) {
	io.WriteString(w, "Advisory is for people who work with PostgreSQL's advisory locks.\n\nusage:\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cmd := range commands {
		fmt.Fprintf(table, "  advisory %s\t%s\n", cmd.name, cmd.short)
	}
	fmt.Fprintln(table, "  advisory help [COMMAND]\tthis text, or more about a command")
	fmt.Fprintln(table, "  advisory version\tprint the version")
	table.Flush()
	io.WriteString(w, statuses)
}
