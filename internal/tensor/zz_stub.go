package tensor

type TCGen05Form struct {
	Kind    string
	CTAs    int
	ATensor bool
	Desc    uint32
	ScaleD  int
}
type TCGen05 struct{ TCGen05Form }

func NewTCGen05(f TCGen05Form) (*TCGen05, error)                                        { return nil, nil }
func Unsupported(err error) bool                                                        { return false }
func (t *TCGen05) Check(d, a uint32, da, db uint64) error                               { return nil }
func (t *TCGen05) AType() string                                                        { return "" }
func (t *TCGen05) BType() string                                                        { return "" }
func (t *TCGen05) DBits() uint32                                                        { return 0 }
func (t *TCGen05) SameShape(o *TCGen05) bool                                            { return false }
func (t *TCGen05) SpansTA(a uint32) []Span                                              { return nil }
func (t *TCGen05) SpansA(d uint64) []Span                                               { return nil }
func (t *TCGen05) SpansB(d uint64) []Span                                               { return nil }
func (t *TCGen05) SpansD(d uint32, disable []uint32) []Span                             { return nil }
func (t *TCGen05) Compute(enable bool, disable []uint32, da, db uint64, in, out []byte) {}

type TensorCopy struct{}

func NewTensorCopy(shape, multicast string) (*TensorCopy, error) { return nil, nil }
func (c *TensorCopy) Check(at uint32, desc uint64) error         { return nil }
func (c *TensorCopy) Spans(at uint32) []Span                     { return nil }
func (c *TensorCopy) Source(desc uint64) []Span                  { return nil }
func (c *TensorCopy) Copy(out, in []byte, desc uint64)           {}
