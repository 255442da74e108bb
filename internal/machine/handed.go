package machine

import "hash/maphash"

// Regions is how many buffers and variables global memory has, by which Initialized numbers
// them.
func (m *Machine) Regions() int { return len(m.global.regions) }

// Initialized returns where a buffer or variable of global memory lies, and whether all of its
// bytes are initialized.
func (m *Machine) Initialized(i int) (base, size uint64, all bool) {
	r := &m.global.regions[i]
	return r.base, r.size, r.initialized(0, r.size)
}

// HashSince returns a hash of the buffers and variables of global memory, where they differ from
// those that another machine of the launch has.
func (m *Machine) HashSince(o *Machine) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for i := range m.global.regions {
		maphash.WriteComparable(&h, i)
		m.global.regions[i].hashSince(&h, &o.global.regions[i])
	}
	return h.Sum64()
}
