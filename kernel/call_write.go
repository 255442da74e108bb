package kernel

import (
	"bytes"
	"path/filepath"

	"muster/internal/files"
	"muster/launch"
)

// Write writes the call into a folder, for the commands of muster and of package gpu:
// NAME.ptx, the launch file NAME.yaml, and an .npy for every slice and for its expected
// contents, where NAME is the kernel's. It returns the path of the launch file. With it,
//
//	muster check NAME.yaml
//
// gives the same result as muster.LoadCall and Check, and the replay lines of a report
// work. Only variables in dynamic shared memory have other names there: the files know
// them as bytes of dynamic_shared.
func (c *Call) Write(dir string) (string, error) {
	f, err := c.Launch()
	if err != nil {
		return "", err
	}
	plan, err := f.Layout(0)
	if err != nil {
		return "", err
	}
	l := f.Launches[0]
	l.PTX = filepath.Join(dir, c.Kernel.name+".ptx")
	f.Launches = []launch.Launch{l}
	if err := files.WriteBytes(l.PTX, []byte(c.Module.String())); err != nil {
		return "", err
	}
	array := func(buffer, what string, data []byte) (string, error) {
		name := filepath.Join(dir, c.Kernel.name+"_"+buffer+what+".npy")
		var out bytes.Buffer
		if err := plan.Buffer(buffer).WriteArray(&out, data); err != nil {
			return "", err
		}
		return name, files.WriteBytes(name, out.Bytes())
	}
	for i := range f.Buffers {
		b := &f.Buffers[i]
		if b.Fill.Kind != launch.FillData {
			continue
		}
		name, err := array(b.Name, "", b.Fill.Data)
		if err != nil {
			return "", err
		}
		b.Fill = launch.Fill{Kind: launch.FillFile, File: name}
	}
	f.Expect = append([]launch.Expect(nil), f.Expect...)
	for i := range f.Expect {
		x := &f.Expect[i]
		if x.File, err = array(x.Buffer, "_expected", x.Data); err != nil {
			return "", err
		}
		x.Data = nil
	}
	var out bytes.Buffer
	if err := f.Write(&out, dir); err != nil {
		return "", err
	}
	name := filepath.Join(dir, f.Name)
	return name, files.WriteBytes(name, out.Bytes())
}
