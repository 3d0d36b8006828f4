package site

// A budget bounds what is looked at for one call, and for all of a package's
// calls together. Both are counts, so that results do not depend on the clock.
type budget struct {
	perCall, perPackage int
	call, all           int // what was taken
}

// take reports whether there is something left, and takes it.
func (b *budget) take() bool {
	if b.call >= b.perCall || b.all >= b.perPackage {
		return false
	}
	b.call++
	b.all++
	return true
}

// next begins with the next call of the package.
func (f *finder) next() {
	f.climbs.call, f.expansions.call = 0, 0
}

// climb reports whether there is room to go up to one more caller. If there is
// not, an unlock may stay out of sight, and no lock is told to be lost.
func (f *finder) climb() bool {
	if !f.climbs.take() {
		f.blind = true
		return false
	}
	return true
}
