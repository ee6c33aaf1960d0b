package handlers

import (
	"mime"
	"strconv"
	"strings"
)

// negotiate returns which of the offers an Accept header prefers: the one of the highest
// quality, of equals the one that it names first. The first offer is the answer to
// everything else, also to what can't be satisfied.
func negotiate(header string, offers ...string) string {
	best, bestQuality := offers[0], 0.0
	for item := range strings.SplitSeq(header, ",") {
		media, parameters, err := mime.ParseMediaType(item)
		if err != nil {
			continue
		}
		if offer := firstMatch(media, offers); offer != "" && quality(parameters) > bestQuality {
			best, bestQuality = offer, quality(parameters)
		}
	}
	return best
}

func firstMatch(media string, offers []string) string {
	for _, offer := range offers {
		family, all := strings.CutSuffix(media, "/*")
		if media == offer || all && (family == "*" || strings.HasPrefix(offer, family+"/")) {
			return offer
		}
	}
	return ""
}

func quality(parameters map[string]string) float64 {
	q, err := strconv.ParseFloat(parameters["q"], 64)
	if err != nil {
		return 1
	}
	return q
}

// acceptsGzip reads an Accept-Encoding header.
func acceptsGzip(header string) bool { return acceptsCoding(header, "gzip") }

// acceptsCoding reports whether an Accept-Encoding header names a coding.
func acceptsCoding(header, wanted string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.Trim(coding, " \t"), wanted) {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(parameters), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			return true
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err == nil && q > 0
	}
	return false
}
