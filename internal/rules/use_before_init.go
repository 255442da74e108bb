package rules

var useBeforeInit = register(Kind{
	Name:     "use-before-init",
	Severity: Error,
	Title:    "an operation on a word that is no mbarrier yet",
	Section:  "9.7.13.15.3",
	Text: `An mbarrier must be initialized prior to use (ISA 9.7.13.15.3). The operation, or
the copy that is to report to the barrier, is issued when no mbarrier.init of that
word has happened: the word holds what an earlier CTA left there. The count is
then anything; an H200 takes the operation without complaint or ends the launch,
and a later init forgets what was counted.

Often the init is there, in another thread, with no barrier between it and the
use; then the schedule decides, and init-not-ordered is found besides. Or the
address is of another slot.

Mend it by bar.sync after the init, by a cluster barrier behind
fence.mbarrier_init.release.cluster where other CTAs use the barrier.`,
})
