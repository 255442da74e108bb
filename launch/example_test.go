package launch_test

import (
	"fmt"

	"muster/launch"
)

func ExampleParseJSON() {
	f, err := launch.ParseJSON("ring.json", []byte(`{
		"ptx": "ring.ptx", "grid": 1, "block": 160,
		"buffers": {"in": {"type": "f32", "shape": [16384], "fill": "iota"}, "out": {"type": "f32", "shape": [128]}},
		"args": ["in", "out", {"s32": 64}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := f.Layout(launch.DefaultMemoryLimit)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range l.Buffers {
		fmt.Printf("%s at %#x, %d bytes, initialized %t\n", b.Name, b.Base, b.Size, b.Initialized)
	}
	p, err := l.EncodeParams(&f.Launches[0], []launch.Param{
		{Name: "in", Size: 8, Align: 8, Type: launch.U64},
		{Name: "out", Size: 8, Align: 8, Type: launch.U64},
		{Name: "n", Size: 4, Align: 4, Type: launch.U32},
	})
	fmt.Printf("%x %v\n", p.Bytes, err)
	// Output:
	// in at 0x7f0000000000, 65536 bytes, initialized true
	// out at 0x7f0000020000, 512 bytes, initialized false
	// 00000000007f000000000200007f000040000000 <nil>
}

func ExampleFromFlags() {
	_, err := launch.FromFlags(launch.Flags{PTX: "k.ptx", Grid: "1", Block: "32", Buffers: []string{"in=f32[4]:itoa"}})
	fmt.Println(err)
	// Output: --buffer in=f32[4]:itoa: unknown fill "itoa" (did you mean "iota"?); one of uninitialized, zeros, ones, nan, iota, mod=97, random=SEED,LOW,HIGH, file=a.npy
}

func ExampleCompare() {
	got := []byte{0x00, 0x00, 0x80, 0x3f, 0x01, 0x00, 0x00, 0x40}
	want := []byte{0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0x40}
	fmt.Println(launch.Compare(launch.F32, []int64{2}, got, want, launch.Tolerance{}))
	// Output: 1 of 2 elements differ, first at [1]: got 2.0000002, want 2; worst error 2.38e-07 absolute, 1.19e-07 relative, 1 ulp
}
