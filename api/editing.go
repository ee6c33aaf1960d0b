package api

// FileMove gives a file of a configuration another path.
type FileMove struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// FormatOrder asks for a text in its usual form.
type FormatOrder struct {
	Language string `json:"language"` // hcl or json
	Text     string `json:"text"`
}

// Formatted is the text.
type Formatted struct {
	Text string `json:"text"`
}
