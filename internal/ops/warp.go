package ops

import "muster/kernel"

// seen adds values to a thread's output, each of 32 bits, so that one that
// differs shows.
type seen struct {
	k   *kernel.Kernel
	sum kernel.Reg
}

func look(k *kernel.Kernel) *seen { return &seen{k, k.Const(kernel.U32, 17)} }

func (s *seen) reg(r kernel.Reg) {
	if r.Type().Size() == 8 {
		for _, h := range r.Unpack(kernel.B32, 2) {
			s.reg(h)
		}
		return
	}
	s.sum.Set(s.sum.Mul(31).Add(r.As(kernel.U32)))
}

func (s *seen) pred(p kernel.Pred) { s.reg(p.Select(1, 0).As(kernel.U32)) }

func init() {
	add("warp/vote", []string{"Kernel.VoteAll", "Kernel.VoteAny", "Kernel.VoteUni", "Kernel.VoteBallot", "Members"},
		cta("vote", func(k *kernel.Kernel, out kernel.Ptr) {
			s, lane := look(k), k.LaneID()
			for _, n := range []int{0, 7, 16, 32} {
				p := lane.Lt(n)
				s.pred(k.VoteAll(p))
				s.pred(k.VoteAny(p))
				s.pred(k.VoteUni(p))
				s.reg(k.VoteBallot(p))
				s.reg(k.VoteBallot(p.Not()))
			}
			k.IfElse(lane.Lt(8), func() {
				s.reg(k.VoteBallot(lane.Gt(3), kernel.Members(0xff)))
			}, func() {
				s.pred(k.VoteAny(lane.Eq(9), kernel.Members(k.Const(kernel.U32, 0xffffff00))))
			})
			out.Store(s.sum)
		}))
	add("warp/active-mask", []string{"Kernel.ActiveMask"},
		cta("active_mask", func(k *kernel.Kernel, out kernel.Ptr) {
			// Which lanes are together decides nothing, so that the launch is
			// proven.
			k.If(k.LaneID().Lt(9), func() { k.ActiveMask() })
			out.Store(k.TidX().Mul(5))
		}))
	add("warp/group", []string{"Kernel.VoteBallot", "Kernel.ShflIdx", "Kernel.WarpSync", "Kernel.Redux"},
		cta("warp_group", func(k *kernel.Kernel, out kernel.Ptr) {
			// Without Members the lanes are the group's.
			words := k.Shared("words", kernel.U32, 64)
			s := look(k)
			k.Threads(40, 16, func() {
				t := k.ThreadIndex()
				s.reg(k.VoteBallot(t.Lt(5)))
				s.reg(k.Redux(kernel.Add, t))
				s.reg(k.ShflIdx(t, 9))
				words.At(t).Store(s.sum)
				k.WarpSync()
				s.reg(words.At(t.Xor(3)).Load())
			})
			out.Store(s.sum)
		}))
	add("warp/match", []string{"Kernel.MatchAny", "Kernel.MatchAll"},
		cta("match", func(k *kernel.Kernel, out kernel.Ptr) {
			s, lane := look(k), k.LaneID()
			for _, n := range []int{1, 3, 8} {
				r := lane.Div(n)
				s.reg(k.MatchAny(r))
				s.reg(k.MatchAny(r.Cvt(kernel.U64).Shl(33)))
				s.reg(k.MatchAny(r.As(kernel.B32).As(kernel.F32)))
				m, p := k.MatchAll(r.Shr(n))
				s.reg(m)
				s.pred(p)
			}
			out.Store(s.sum)
		}))
	add("warp/elect", []string{"Kernel.ElectSync"},
		cta("elect", func(k *kernel.Kernel, out kernel.Ptr) {
			// One lane of each mask is elected; which one is not looked at.
			s := look(k)
			s.reg(k.VoteBallot(k.ElectSync()).MulHi(0))
			n := k.Redux(kernel.Add, k.ElectSync().Select(1, 0).As(kernel.U32))
			s.reg(n)
			k.If(k.LaneID().Lt(4), func() {
				p := k.ElectSync(kernel.Members(0xf))
				s.reg(k.Redux(kernel.Add, p.Select(1, 0).As(kernel.U32), kernel.Members(0xf)))
			})
			out.Store(s.sum)
		}))
	add("warp/redux", []string{"Kernel.Redux"},
		call("redux", 1, 1, func(k *kernel.Kernel) {
			data := k.GlobalPtr("data", kernel.U32)
			at := data.At(k.TidX())
			v, s := at.Load(), look(k)
			for _, op := range []kernel.Op{kernel.Add, kernel.Min, kernel.Max, kernel.And, kernel.Or, kernel.Xor} {
				s.reg(k.Redux(op, v))
				s.reg(k.Redux(op, v.As(kernel.S32)))
			}
			at.Store(s.sum)
		}, scattered(64)))
	for _, t := range []kernel.Type{kernel.U32, kernel.F32, kernel.U64, kernel.F64} {
		add("warp/shuffle-"+string(t), []string{"Kernel.ShflUp", "Kernel.ShflDown", "Kernel.ShflBfly", "Kernel.ShflIdx", "Kernel.Shfl", "Width"},
			call("shuffle_"+string(t), 1, 1, func(k *kernel.Kernel) {
				data := k.GlobalPtr("data", t)
				out := k.GlobalPtr("out", kernel.U32)
				i := k.TidX()
				v, s := data.At(i).Load(), look(k)
				for _, width := range []int{32, 8} {
					w := kernel.Width(width)
					s.reg(k.ShflUp(v, 1, w))
					s.reg(k.ShflDown(v, 3, w))
					s.reg(k.ShflBfly(v, 5, w))
					s.reg(k.ShflIdx(v, i.And(width-1).Xor(2), w))
					if t.Size() == 4 {
						for _, mode := range []string{"up", "down", "bfly", "idx"} {
							r, p := k.Shfl(mode, v, 4, w)
							s.reg(r)
							s.pred(p)
						}
					}
				}
				out.At(i).Store(s.sum)
			}, values(t, 64), empty(64)))
	}
	for _, t := range []kernel.Type{kernel.U32, kernel.S32, kernel.F32, kernel.U64, kernel.S64, kernel.F64} {
		add("warp/reduce-"+string(t), []string{"Kernel.WarpReduce", "Kernel.CTAReduce", "Width", "Add", "Min", "Max", "And", "Or", "Xor"},
			call("reduce_"+string(t), 1, 1, func(k *kernel.Kernel) {
				data := k.GlobalPtr("data", t)
				out := k.GlobalPtr("out", kernel.U32)
				i := k.TidX()
				v, s := data.At(i).Load(), look(k)
				ops := []kernel.Op{kernel.Add, kernel.Min, kernel.Max}
				if t != kernel.F32 && t != kernel.F64 {
					ops = append(ops, kernel.And, kernel.Or, kernel.Xor)
				}
				for _, op := range ops {
					for _, width := range []int{2, 16, 32} {
						s.reg(k.WarpReduce(op, v, kernel.Width(width)))
					}
					s.reg(k.CTAReduce(op, v))
				}
				k.If(i.And(31).Lt(16), func() {
					s.reg(k.WarpReduce(kernel.Max, v, kernel.Members(0xffff), kernel.Width(16)))
				})
				out.At(i).Store(s.sum)
			}, values(t, 64), empty(64)))
	}
	add("warp/reduce-loop", []string{"Kernel.CTAReduce"},
		cta("reduce_loop", func(k *kernel.Kernel, out kernel.Ptr) {
			// The place in shared memory is used again.
			v := k.TidX().Add(1)
			k.For(0, 3, 1, func(i kernel.Reg) { v.Set(v.Add(k.CTAReduce(kernel.Add, v.Xor(i)))) })
			out.Store(v)
		}))
	add("warp/reduce-group", []string{"Kernel.GroupReduce"}, func() (*kernel.Call, error) {
		// Three warps and a warp of its own reduce side by side, three times.
		const threads = 32 + 96 + 32
		k := kernel.New("reduce_group", kernel.Block(threads))
		data := k.GlobalPtr("data", kernel.U32)
		out := k.GlobalPtr("out", kernel.U32)
		i := k.TidX()
		v := data.At(i).Load()
		reduce := func() {
			k.For(0, 3, 1, func(n kernel.Reg) {
				v.Set(v.Mul(3).Add(k.GroupReduce(kernel.Add, v.Xor(n))))
				v.Set(v.Xor(k.GroupReduce(kernel.Max, v)))
			})
		}
		k.Warps(1, 3, reduce)
		k.SingleWarp(4, reduce)
		out.At(i).Store(v)
		in := make([]uint32, threads)
		for n := range in {
			in[n] = uint32(n*n*2654435761 + 12345)
		}
		return k.Call(kernel.Grid(1), in, make([]uint32, threads))
	})
}
