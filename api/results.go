package api

// OtherResults are files in which other programs say what they have found, as a run's plan has left them.
type OtherResults struct {
	Files []OtherFile `json:"files"`
}

// OtherFile is one of them: SARIF, or the JSON of Infracost.
type OtherFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}
