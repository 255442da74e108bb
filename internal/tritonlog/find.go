package tritonlog

import "muster/ptx"

// Find returns the kernel in its module: the one of its name, or the only one; nil, if there
// is none.
func (k *Kernel) Find(m *ptx.Module) *ptx.Func {
	var only *ptx.Func
	n := 0
	for _, item := range m.Items {
		f, ok := item.(*ptx.Func)
		if !ok || !f.Entry || f.Body == nil {
			continue
		}
		if f.Name == k.Name {
			return f
		}
		only = f
		n++
	}
	if n == 1 {
		return only
	}
	return nil
}
