package advisory

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Registry is a program's table of lock classes: which number means which kind of thing. It makes sure that no two parts of a
// program use one class for different things, and gives the numbers of a [Pair] back their names for logs and inspection.
//
// The zero Registry is empty and ready for use. A Registry may be used by several goroutines at a time, and must not be copied after
// its first use. Registries know nothing of each other, so a program should have one, with its spaces as variables of a package:
//
//	var (
//		classes advisory.Registry
//		Orders  = classes.Space(1, "orders")
//		Stock   = classes.Space(2, "stock")
//	)
type Registry struct {
	mu      sync.Mutex
	classes map[int32]*Space
	names   map[string]*Space
}

// A Space is one class of locks: all keys Pair(class, …). It is made by [Registry.Space] and never changes.
type Space struct {
	class int32
	name  string
	place string
}

// Space registers a class under a name. It panics if the registry has the class or the name already, and the text then names both
// places in the source; called from a package's variables, as it should be, it does so when the program starts. It panics if
// name is empty, a number, or has a colon, too.
func (r *Registry) Space(class int32, name string) *Space {
	s := &Space{class: class, name: name, place: "an unknown place"}
	if _, file, line, ok := runtime.Caller(1); ok {
		s.place = file + ":" + strconv.Itoa(line)
	}
	if _, err := strconv.Atoi(name); name == "" || err == nil || strings.Contains(name, ":") {
		panic(fmt.Sprintf("advisory: Registry.Space: class %d has the name %q at %s; a name must not be empty, a number, or have a colon, so that labels cannot be taken for keys",
			class, name, s.place))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.classes[class]; first != nil {
		panic(fmt.Sprintf("advisory: class %d is registered twice: as %q at %s, and as %q at %s; give each its own number",
			class, first.name, first.place, name, s.place))
	}
	if first := r.names[name]; first != nil {
		panic(fmt.Sprintf("advisory: name %q is registered twice: for class %d at %s, and for class %d at %s; give each its own name",
			name, first.class, first.place, class, s.place))
	}
	if r.classes == nil {
		r.classes, r.names = make(map[int32]*Space), make(map[string]*Space)
	}
	r.classes[class], r.names[name] = s, s
	return s
}

// Spaces returns the registered spaces in the order of their classes.
func (r *Registry) Spaces() []*Space {
	r.mu.Lock()
	defer r.mu.Unlock()
	spaces := make([]*Space, 0, len(r.classes))
	for _, s := range r.classes {
		spaces = append(spaces, s)
	}
	slices.SortFunc(spaces, func(a, b *Space) int { return cmp.Compare(a.class, b.class) })
	return spaces
}

// Label returns a key as a person would want to see it: "orders:17" if k is a pair whose class is registered as orders, else what
// [Key.String] returns.
func (r *Registry) Label(k Key) string {
	if !k.pair {
		return k.String()
	}
	r.mu.Lock()
	s := r.classes[k.class()]
	r.mu.Unlock()
	if s == nil {
		return k.String()
	}
	return s.name + ":" + strconv.Itoa(int(k.object()))
}

// Class returns the space's number.
func (s *Space) Class() int32 { return s.class }

// String returns the space's name.
func (s *Space) String() string { return s.name }

// Key returns the key of one thing in the space, Pair(class, object).
func (s *Space) Key(object int32) Key { return Pair(s.class, object) }

// TextKey returns the key of a thing which is known by a text, Pair(class, HashText(text)); in SQL (class, hashtext(text)). Different
// texts may share a key, see [HashText]: their holders then wait for each other without need, and nothing worse.
func (s *Space) TextKey(text string) Key { return Pair(s.class, HashText(text)) }
