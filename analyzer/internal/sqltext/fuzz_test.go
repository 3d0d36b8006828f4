package sqltext_test

import (
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

func FuzzParse(f *testing.F) {
	for _, tt := range found {
		f.Add(tt.sql)
	}
	for _, tt := range foundElsewhere {
		f.Add(tt.sql)
	}
	for _, tt := range answers {
		f.Add(tt.sql)
	}
	for _, tt := range statements {
		f.Add(tt.sql)
	}
	for _, tt := range queries {
		f.Add(tt.sql)
	}
	for _, tt := range settings {
		f.Add(tt.sql)
	}
	for _, sql := range notRun {
		f.Add(sql)
	}
	for _, sql := range notCalled {
		f.Add(sql)
	}
	for _, shape := range shapes {
		f.Add(shape(3))
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, st := range sqltext.Parse(text) {
			if st.Pos < end || st.End <= st.Pos || st.End > len(text) {
				t.Fatalf("a statement at [%d:%d], after one that ends at %d, in %d bytes", st.Pos, st.End, end, len(text))
			}
			end = st.End
			if st.Verb != strings.ToUpper(st.Verb) {
				t.Errorf("the verb is %q", st.Verb)
			}
			checkCalls(t, text, st.Calls)
		}
		checkCalls(t, text, sqltext.ParseExpr(text))
	})
}

func checkCalls(t *testing.T, text string, calls []sqltext.Call) {
	for _, c := range calls {
		if c.Func == nil || sqltext.Lookup(c.Func.Name) != c.Func {
			t.Fatalf("a call of %v", c.Func)
		}
		if (c.Answer == sqltext.Returned) != (c.Column >= 0) && c.Column >= 0 {
			t.Errorf("the answer is %v in column %d", c.Answer, c.Column)
		}
		if c.Pos < 0 {
			continue
		}
		spelt := strings.ToLower(strings.Trim(text[c.Pos:c.End], "\"[]`"))
		if name := strings.ToLower(c.Func.Name); name != spelt && !strings.HasSuffix(name, "."+spelt) {
			t.Errorf("%s is at %q", c.Func.Name, text[c.Pos:c.End])
		}
		if !sqltext.Mentions(text) {
			t.Errorf("calls %s, but Mentions is false", c.Func.Name)
		}
	}
}
