package muster

// launchRules judges what the driver would refuse.
func (l *Launch) launchRules() {}
