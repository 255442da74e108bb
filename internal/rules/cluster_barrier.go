package rules

var clusterBarrierMismatch = register(Kind{
	Name:     "cluster-barrier-mismatch",
	Severity: Error,
	Title:    "arrivals and waits at a cluster's barrier do not pair",
	Section:  "9.7.13.3",
	Text: `The cluster's barrier completes when all threads of all its CTAs that have not
exited have arrived, and each thread must arrive only once before it completes; a
thread may arrive again after it has waited (ISA 9.7.13.3). Here a thread arrives
twice with no wait between, waits without having arrived, or waits while threads
of the cluster never come.

What happens then depends on timing: the second arrival may be lost, or be
counted for a generation that the peers have not entered, after which every
exchange is off by one. Typical are a cluster barrier in one branch of a role
split, and an arrive at the end of a loop that pairs with no wait.

Mend it by giving all threads of all CTAs of the cluster the same sequence of
arrive and wait; threads that have nothing to exchange take part all the same, or
exit.`,
})
