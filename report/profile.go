package report

// A Profile says what the steps of one run went into. A step is a visible operation of a warp, a
// milestone of an asynchronous operation, or the start of a cluster; it is no time of a card.
// Versioned with the report.
type Profile struct {
	Schedule     string `json:"schedule"`
	Steps        int64  `json:"steps"`
	Cut          string `json:"cut,omitempty"` // why it ends before the run; empty if it does not
	Instructions int64  `json:"instructions"`  // that warps executed

	Warps      []WarpsProfile       `json:"warps"` // those alike, as roles
	CTAs       []CTAProfile         `json:"ctas"`  // in order
	Lines      []InstructionProfile `json:"instructions_by_line"`
	Waits      []WaitProfile        `json:"waits"`
	Operations []OperationProfile   `json:"operations"`
	Products   ProductsProfile      `json:"products"`
	Slots      SlotsProfile         `json:"slots"`
	InFlight   FlightProfile        `json:"in_flight"`
}

// Waited is what waits came to.
type Waited struct {
	Waits   int64 `json:"waits"`        // that did not go on at once
	Stood   int64 `json:"stood"`        // steps of the schedule that passed in them
	Longest int64 `json:"longest"`      // of them
	Failed  int64 `json:"failed_tests"` // of mbarriers, that found the phase incomplete
}

// Moved is what asynchronous operations came to.
type Moved struct {
	Operations int64 `json:"operations"`
	Bytes      int64 `json:"bytes"` // of copies: matrix operands are none
}

// A WarpsProfile is of the warps of all CTAs whose number in the CTA is from First to Last, and
// which execute the same instructions.
type WarpsProfile struct {
	First        int   `json:"first"`
	Last         int   `json:"last"`
	Steps        int64 `json:"steps"`
	Instructions int64 `json:"instructions"`
	Waited
	Moved
}

// A CTAProfile is of one CTA.
type CTAProfile struct {
	Name  string `json:"name"`
	Steps int64  `json:"steps"` // of its warps
	Waited
	Moved
	Products int64 `json:"products"` // asynchronous ones: a warp's wgmma, a tcgen05.mma
}

// An InstructionProfile is of one instruction.
type InstructionProfile struct {
	Name         string `json:"name"`
	PTX          Place  `json:"ptx"`
	Source       *Place `json:"source"` // null if the PTX does not say
	Warps        string `json:"warps"`  // that executed it, by their numbers: "0,2-4"
	Instructions int64  `json:"instructions"`
	Steps        int64  `json:"steps"`
}

// A WaitProfile is of the waits for one thing at one instruction.
type WaitProfile struct {
	For    string `json:"for"` // an mbarrier by its name in its CTA, or in words
	Name   string `json:"name"`
	PTX    Place  `json:"ptx"`
	Source *Place `json:"source"`
	Waited
}

// An OperationProfile is of the asynchronous operations of one instruction.
type OperationProfile struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	PTX    Place  `json:"ptx"`
	Source *Place `json:"source"`
	Moved
	InFlight int64 `json:"in_flight"` // steps from issue to signal, of all
	Longest  int64 `json:"longest"`   // of one
}

// A ProductsProfile is what the tensor cores came to.
type ProductsProfile struct {
	Instructions int64 `json:"instructions"` // that warps executed
	MultiplyAdds int64 `json:"multiply_adds"`
	// Unknown are instructions whose shape is in registers: they are not in MultiplyAdds.
	Unknown int64 `json:"unknown_shape"`
}

// A SlotsProfile says what the slots of rings were: places in shared memory that copies fill which
// signal one mbarrier each. Steps are those of all slots together, from the first filling of each to
// the end of its CTA or of the run.
type SlotsProfile struct {
	Slots   int64 `json:"slots"`
	Filling int64 `json:"filling"`
	Full    int64 `json:"full"`
	Read    int64 `json:"read"`
	Empty   int64 `json:"empty"`
	Early   int64 `json:"early_reads"` // steps that read what a copy in flight writes
}

// A FlightProfile is of bytes that copies had in flight, of all CTAs together.
type FlightProfile struct {
	Most  int64 `json:"most"`
	After int64 `json:"after"` // which step, first
	// ByteSteps is the sum over all steps.
	ByteSteps int64 `json:"byte_steps"`
}
