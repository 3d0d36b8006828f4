package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A table holds one row of samples per round, in the order of tools.
type table struct{ rows [][]sample }

// ratio returns the median, over the rounds, of tool i's CPU time to that of the tool that does nothing.
func (t *table) ratio(i int) float64 { return median(t.ratios(i, total)) }

func total(s sample) time.Duration { return s.total }

// ratios returns, round by round, what tool i cost in terms of what the tool that does nothing cost. That tool runs twice:
// the mean of both is what the others are compared with, and the first is what the second is compared with.
func (t *table) ratios(i int, of func(sample) time.Duration) []float64 {
	list := make([]float64, len(t.rows))
	for r, row := range t.rows {
		base := of(row[noop])
		if i != again {
			base = (base + of(row[again])) / 2
		}
		list[r] = of(row[i]).Seconds() / base.Seconds()
	}
	return list
}

func (t *table) seconds(i int) []float64 {
	list := make([]float64, len(t.rows))
	for r, row := range t.rows {
		list[r] = row[i].total.Seconds()
	}
	return list
}

func (t *table) print(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "tool\tCPU-s (median)\tratio\trange\twithout the go command's own work\t")
	for i, tool := range tools {
		ratios := t.ratios(i, total)
		if i == noop {
			fmt.Fprintf(out, "%s\t%.2f\t\t\t\t\n", tool.name, median(t.seconds(i)))
			continue
		}
		fmt.Fprintf(out, "%s\t%.2f\t%.3f\t%.3f-%.3f\t%.3f\t\n", tool.name, median(t.seconds(i)),
			median(ratios), slices.Min(ratios), slices.Max(ratios), median(t.ratios(i, sample.work)))
	}
	out.Flush()
}

// median returns the middle of a list, or the mean of the two in the middle.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
