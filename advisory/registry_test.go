package advisory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/advisory"
)

func TestRegistry(t *testing.T) {
	var classes advisory.Registry
	stock := classes.Space(2, "stock")
	orders := classes.Space(-1, "orders")

	if got, want := orders.Key(17), advisory.Pair(-1, 17); got != want {
		t.Errorf("Key: %v, want %v", got, want)
	}
	if got, want := stock.TextKey("apple"), advisory.Pair(2, advisory.HashText("apple")); got != want {
		t.Errorf("TextKey: %v, want %v", got, want)
	}
	if stock.Class() != 2 || stock.String() != "stock" {
		t.Errorf("space: %d %v", stock.Class(), stock)
	}
	for key, want := range map[advisory.Key]string{
		orders.Key(17):       "orders:17",
		advisory.Pair(3, -4): "3:-4",
		advisory.ID(2):       "2",
	} {
		if got := classes.Label(key); got != want {
			t.Errorf("Label(%v) = %q, want %q", key, got, want)
		}
	}
	if diff := cmp.Diff("[orders stock]", fmt.Sprint(classes.Spaces())); diff != "" {
		t.Error(diff)
	}
}

// A clash names both places, which are of this file.
func TestRegistryClash(t *testing.T) {
	for what, second := range map[string]func(*advisory.Registry){
		"class 1 is registered twice":       func(r *advisory.Registry) { r.Space(1, "other") },
		`name "orders" is registered twice`: func(r *advisory.Registry) { r.Space(2, "orders") },
		"class 5 has the name \"12\"":       func(r *advisory.Registry) { r.Space(5, "12") },
		`as "orders" at `:                   func(r *advisory.Registry) { r.Space(1, "orders") },
		`class 3 has the name ""`:           func(r *advisory.Registry) { r.Space(3, "") },
		`class 6 has the name "a:b"`:        func(r *advisory.Registry) { r.Space(6, "a:b") },
	} {
		var classes advisory.Registry
		classes.Space(1, "orders")
		func() {
			defer func() {
				text := fmt.Sprint(recover())
				places := strings.Count(text, "registry_test.go:")
				if !strings.Contains(text, what) || places != 2 && !strings.HasPrefix(what, "class 5") && !strings.HasPrefix(what, "class 3") && !strings.HasPrefix(what, "class 6") {
					t.Errorf("panic %q, want %q and both places", text, what)
				}
			}()
			second(&classes)
		}()
		if n := len(classes.Spaces()); n != 1 {
			t.Errorf("%d spaces after the clash", n)
		}
	}
}
