package demo_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/pgadvisory/pgadvisory/cmd/advisory/internal/demo"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// stopper is a writer that calls stop once when it has been given a text, and then answers with an error of its own or, if it has none, goes on.
type stopper struct {
	text string
	stop func()
	err  error

	written bytes.Buffer
	stopped bool
}

func (s *stopper) Write(b []byte) (int, error) {
	if s.stopped && s.err != nil {
		return 0, s.err
	}
	s.written.Write(b)
	if !s.stopped && bytes.Contains(s.written.Bytes(), []byte(s.text)) {
		s.stopped = true
		s.stop()
	}
	return len(b), nil
}

func TestRunEndsWithItsContext(t *testing.T) {
	reason := errors.New("enough")
	for _, text := range []string{
		"holds at a time", // before there is a server
		"would wait for",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			w := &stopper{text: text, stop: func() { cancel(reason) }}
			if err := demo.Run(ctx, w); !errors.Is(err, reason) {
				t.Errorf("Run returned %v, want the context's cause", err)
			}
			if bytes.Contains(w.written.Bytes(), []byte("3. ")) {
				t.Errorf("Run went on:\n%s", w.written.String())
			}
		})
	}
}

func TestRunEndsWithItsWriter(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := &stopper{text: "The account holds 150", stop: func() {}, err: broken}
	if err := demo.Run(t.Context(), w); !errors.Is(err, broken) {
		t.Errorf("Run returned %v, want the writer's error", err)
	}
}
