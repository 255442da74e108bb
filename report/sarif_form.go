package report

// This file has the parts of the Static Analysis Results Interchange Format that are written
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).

type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool            `json:"tool"`
		Automation  *sarifID             `json:"automationDetails,omitempty"`
		Bases       map[string]sarifBase `json:"originalUriBaseIds"`
		Invocations []sarifInvocation    `json:"invocations"`
		Results     []sarifResult        `json:"results"`
		Column      string               `json:"columnKind"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifBase struct {
		Description sarifMessage `json:"description"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string       `json:"id"`
		Short      sarifMessage `json:"shortDescription"`
		Full       sarifMessage `json:"fullDescription"`
		Help       sarifMessage `json:"help"`
		Default    sarifLevel   `json:"defaultConfiguration"`
		Properties sarifTags    `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		OK            bool                `json:"executionSuccessful"`
		Exit          int                 `json:"exitCode"`
		Verdict       string              `json:"exitCodeDescription,omitempty"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Flows        []sarifFlow        `json:"codeFlows,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Baseline     string             `json:"baselineState,omitempty"`
		Count        int                `json:"occurrenceCount"`
		Properties   *sarifOthers       `json:"properties,omitempty"`
	}
	// A sarifFlow has a sarifThread for each thread or operation that takes part.
	sarifFlow struct {
		Threads []sarifThread `json:"threadFlows"`
	}
	sarifThread struct {
		ID        string      `json:"id,omitempty"`
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location sarifLocation `json:"location"`
	}
	// sarifOthers are the fingerprints of a cause's other findings, for ReadBaseline.
	sarifOthers struct {
		Fingerprints []sarifPrint `json:"others"`
	}
	sarifPrint struct {
		Print string `json:"fingerprint"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
		End    int `json:"endColumn,omitempty"`
	}
)

func (i *sarifInvocation) notify(level, text string, at *sarifLocation) {
	n := sarifNotification{Level: level, Message: sarifMessage{text}}
	if at != nil {
		n.Locations = []sarifLocation{*at}
	}
	i.Notifications = append(i.Notifications, n)
}
