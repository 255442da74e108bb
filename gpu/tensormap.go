package gpu

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"muster/launch"
)

// mapArgs are the arguments of cuTensorMapEncodeTiled and …Im2col: lists in
// the driver's order, innermost first.
type mapArgs struct {
	dims, strides      []uint64
	box, elementStride []uint32
	lower, upper       []int32
}

func reversed[T, F ~int32 | ~uint32 | ~int64 | ~uint64](what string, from []F, lo, hi int64) ([]T, error) {
	var out []T
	for i := len(from) - 1; i >= 0; i-- {
		if v := int64(from[i]); v < lo || v > hi {
			return nil, fmt.Errorf("%s: %d does not fit the driver's type", what, v)
		}
		out = append(out, T(from[i]))
	}
	return out, nil
}

// driverArgs reverses a map's order of dimensions. The driver itself reports what it
// refuses; here values only have to fit its types.
func driverArgs(m *launch.TensorMap) (a mapArgs, err error) {
	fill := func(step func() error) {
		if err == nil {
			err = step()
		}
	}
	fill(func() (err error) { a.dims, err = reversed[uint64]("shape", m.Shape, 0, math.MaxInt64); return })
	fill(func() (err error) { a.strides, err = reversed[uint64]("strides", m.Strides, 0, math.MaxInt64); return })
	fill(func() (err error) { a.box, err = reversed[uint32]("box", m.Spec.Box, 0, math.MaxUint32); return })
	fill(func() (err error) {
		a.elementStride, err = reversed[uint32]("element_strides", m.ElementStrides, 0, math.MaxUint32)
		return
	})
	if c := m.Spec.Im2col; c != nil {
		fill(func() (err error) {
			a.lower, err = reversed[int32]("lower", c.Lower, math.MinInt32, math.MaxInt32)
			return
		})
		fill(func() (err error) {
			a.upper, err = reversed[int32]("upper", c.Upper, math.MinInt32, math.MaxInt32)
			return
		})
	}
	if err != nil {
		err = &launch.Error{Pos: m.Spec.Pos, Msg: err.Error()}
	}
	return a, err
}

// mapBytes is the size of a CUtensorMap, mapAlign the alignment of its address.
const (
	mapBytes = 128
	mapAlign = 64
)

// EncodeTensorMap returns the 128 bytes of a tensor map, as the driver encodes it. For
// a map that the driver refuses the *Error is CUDA_ERROR_INVALID_VALUE.
func (d *Device) EncodeTensorMap(m *launch.TensorMap) ([]byte, error) {
	a, err := driverArgs(m)
	if err != nil {
		return nil, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	buf := make([]byte, mapBytes+mapAlign)
	to := pinSlice(&pin, buf)
	skip := -to & (mapAlign - 1)
	s := m.Spec
	kind := uintptr(m.Type - launch.ElementU8) // the driver's enumeration begins at u8 too
	rank := uintptr(len(a.dims))
	// The driver refuses a null pointer for strides, though a one-dimensional tensor
	// has none.
	a.strides = append(a.strides, 0)
	dims, strides, steps := pinSlice(&pin, a.dims), pinSlice(&pin, a.strides), pinSlice(&pin, a.elementStride)
	if s.Im2col == nil {
		err = d.drv.call("cuTensorMapEncodeTiled", d.drv.tensorMapEncodeTiled, to+skip, kind, rank, uintptr(m.Address),
			dims, strides, pinSlice(&pin, a.box), steps,
			uintptr(s.Interleave), uintptr(s.Swizzle), uintptr(s.L2), uintptr(s.Fill))
	} else {
		err = d.drv.call("cuTensorMapEncodeIm2col", d.drv.tensorMapEncodeIm2col, to+skip, kind, rank, uintptr(m.Address),
			dims, strides, pinSlice(&pin, a.lower), pinSlice(&pin, a.upper), uintptr(uint32(s.Im2col.Channels)), uintptr(uint32(s.Im2col.Pixels)), steps,
			uintptr(s.Interleave), uintptr(s.Swizzle), uintptr(s.L2), uintptr(s.Fill))
	}
	return buf[skip : skip+mapBytes], err
}

// encodeMaps writes maps to their places in a buffer or the parameters.
func (d *Device) encodeMaps(maps []launch.PlacedMap, to []byte) error {
	for i := range maps {
		b, err := d.EncodeTensorMap(&maps[i].Map)
		if err != nil {
			return fmt.Errorf("%s: tensor map: %w", maps[i].Map.Spec.Pos, err)
		}
		copy(to[maps[i].Offset:], b)
	}
	return nil
}

// The driver's structures for cuLaunchKernelEx, as C lays them out on 64 bits.
type launchConfig struct {
	grid, block   [3]uint32
	shared        uint32
	stream        uintptr
	attributes    *launchAttribute
	numAttributes uint32
}

type launchAttribute struct {
	id    uint32
	_     [4]byte
	value [64]byte
}

const (
	attributeCooperative      = 2  // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
	attributeClusterDimension = 4  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
	attributePreferredCluster = 11 // CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION
)

// launchAttributes lists what cuLaunchKernel cannot say of a launch; it is empty if there is
// nothing.
func launchAttributes(l *launch.Launch) (list []launchAttribute) {
	if l.Cluster != ([3]uint32{}) {
		a := launchAttribute{id: attributeClusterDimension}
		*(*[3]uint32)(unsafe.Pointer(&a.value)) = l.Cluster
		list = append(list, a)
	}
	if l.Preferred != ([3]uint32{}) {
		a := launchAttribute{id: attributePreferredCluster}
		*(*[3]uint32)(unsafe.Pointer(&a.value)) = l.Preferred
		list = append(list, a)
	}
	if l.Cooperative {
		a := launchAttribute{id: attributeCooperative}
		*(*int32)(unsafe.Pointer(&a.value)) = 1
		list = append(list, a)
	}
	return list
}
