package gpu

import (
	"errors"
	"unsafe"
)

// A Graph is a sequence of launches and copies that is put on a stream as one.
type Graph struct {
	dev         *Device
	graph, exec uintptr
}

// Capture makes a graph of the work that record puts on the stream, without
// executing it. Another stream joins the capture when it waits for an event of
// this one; this one must wait for it in turn before record returns. What the
// graph uses must live as long as the graph. Calls that wait or allocate are
// errors in record, and Capture returns record's own error.
func (s *Stream) Capture(record func() error) (*Graph, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	d, g := s.dev, &Graph{dev: s.dev}
	const threadLocal = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
	if err := d.drv.call("cuStreamBeginCapture", d.drv.streamBeginCapture, s.handle, threadLocal); err != nil {
		return nil, err
	}
	err := record()
	ended := d.drv.call("cuStreamEndCapture", d.drv.streamEndCapture, s.handle, uintptr(unsafe.Pointer(&g.graph)))
	if err == nil {
		err = ended
	}
	if err == nil && g.graph == 0 {
		err = errors.New("gpu: nothing was captured")
	}
	if err == nil {
		err = d.drv.call("cuGraphInstantiateWithFlags", d.drv.graphInstantiate, uintptr(unsafe.Pointer(&g.exec)), g.graph, 0)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Nodes returns the number of the graph's nodes: launches, copies and the like.
func (g *Graph) Nodes() (int, error) {
	if g.exec == 0 {
		return 0, closed("graph")
	}
	if err := g.dev.usable(); err != nil {
		return 0, err
	}
	var n uintptr
	err := g.dev.drv.call("cuGraphGetNodes", g.dev.drv.graphGetNodes, g.graph, 0, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Launch puts the whole graph on a stream. Launches of one graph run one after
// another.
func (g *Graph) Launch(s *Stream) error {
	if g.exec == 0 {
		return closed("graph")
	}
	if err := s.usable(); err != nil {
		return err
	}
	return g.dev.drv.call("cuGraphLaunch", g.dev.drv.graphLaunch, g.exec, s.handle)
}

// Close frees the graph once its launches are complete.
func (g *Graph) Close() error {
	graph, exec := g.graph, g.exec
	g.graph, g.exec = 0, 0
	if graph == 0 && exec == 0 {
		return nil
	}
	if err := g.dev.usable(); err != nil {
		return err
	}
	var err error
	if exec != 0 {
		if err = g.dev.settle(); err != nil {
			return err
		}
		err = g.dev.drv.call("cuGraphExecDestroy", g.dev.drv.graphExecDestroy, exec)
	}
	if graph != 0 {
		err = errors.Join(err, g.dev.drv.call("cuGraphDestroy", g.dev.drv.graphDestroy, graph))
	}
	return err
}
