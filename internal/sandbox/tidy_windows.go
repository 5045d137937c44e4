package sandbox

// Placeholders are needed by mounts alone, which Windows does not have.
type Placeholders struct{}

// Hold gives nil.
func Hold(Tier, Policy) *Placeholders { return nil }

// Release does nothing.
func (*Placeholders) Release(bool) {}
