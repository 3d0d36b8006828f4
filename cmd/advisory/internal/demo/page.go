package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// width is how many columns a line may fill.
const width = 96

// indent is what code, tables and other things shown stand in from the text.
const indent = "    "

// A page is the text that the demo writes. It remembers the first error of its
// writer and then writes nothing more.
type page struct {
	w   io.Writer
	err error
}

func (p *page) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// title begins a step.
func (p *page) title(s string) {
	p.write("\n" + s + "\n" + strings.Repeat("-", len(s)) + "\n")
}

// text writes a paragraph, with its lines broken anew.
func (p *page) text(format string, args ...any) {
	p.write(wrapped(fmt.Sprintf(format, args...), "", ""))
}

// code shows the body of one of this package's functions, as it is run.
func (p *page) code(function string) {
	p.write("\n")
	for line := range strings.Lines(source(function)) {
		p.write(indented(line))
	}
	p.write("\n")
}

// show writes one line of what came out.
func (p *page) show(format string, args ...any) {
	p.write(wrapped(fmt.Sprintf(format, args...), indent, indent+"  "))
}

// table writes rows of cells below a head.
func (p *page) table(head []string, rows [][]string) {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	table.Flush()
	for line := range strings.Lines(b.String()) {
		p.write(indented(line))
	}
	if len(rows) == 0 {
		p.write(indented("(no rows)\n"))
	}
}

// facts writes what came out, a name and a value on each line.
func (p *page) facts(rows ...[2]string) {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row[0]))
	}
	for _, row := range rows {
		p.write(indented(fmt.Sprintf("%-*s  %s", widest, row[0], row[1])))
	}
}

func (p *page) space() { p.write("\n") }

// indented indents a line, unless it is empty.
func indented(line string) string {
	if strings.TrimSpace(line) == "" {
		return "\n"
	}
	return indent + strings.TrimRight(line, " \n") + "\n"
}

// wrapped breaks a text into lines. The first is indented by first, the others
// by rest.
func wrapped(text, first, rest string) string {
	var b strings.Builder
	line := first
	begun := false
	for _, word := range strings.Fields(text) {
		if begun && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line, begun = rest, false
		}
		if begun {
			line += " "
		}
		line += word
		begun = true
	}
	b.WriteString(line + "\n")
	return b.String()
}

// since tells how long ago t was.
func since(t time.Time) string {
	d := time.Since(t)
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
