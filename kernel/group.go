package kernel

// A Group is a range of a CTA's threads.
type Group struct{}
