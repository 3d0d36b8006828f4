//go:build !unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// An instance cannot be made on this system, so none of its methods is ever called.
type instance struct{}

var errUnsupported = fmt.Errorf("pgtest: a server cannot be started on %s: "+
	"set ADVISORY_TEST_DSN to the DSN of a running one (%w)", runtime.GOOS, errors.ErrUnsupported)

func newInstance(context.Context, config) (*instance, error)    { return nil, errUnsupported }
func (*instance) newStandby(context.Context) (*instance, error) { return nil, errUnsupported }
func (*instance) restart(context.Context) error                 { return errUnsupported }
func (*instance) kill(context.Context) error                    { return errUnsupported }
func (*instance) promote(context.Context) error                 { return errUnsupported }
func (*instance) close() error                                  { return errUnsupported }
func (*instance) url() string                                   { return "" }
