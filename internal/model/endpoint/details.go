package endpoint

import (
	"strings"
	"time"
)

// details are what Google's services tell beside the message of an error, in the types of
// https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
type details struct {
	Reason string        // as API_KEY_INVALID, which comes with the status of a bad request
	After  time.Duration // how long to wait
	Final  bool          // waiting is no use
}

// detailed reads the details. One status and one wording stand for a limit that passes in a minute
// and for one that does not, and only the details tell which: a quota of a day is as final as one
// that is 0, although a short wait is told with both.
// https://ai.google.dev/gemini-api/docs/rate-limits
func detailed(status, message string, list any) details {
	var d details
	all, _ := list.([]any)
	limits := 0
	for _, x := range all {
		o, _ := x.(map[string]any)
		kind := text(o["@type"])
		switch {
		case strings.HasSuffix(kind, "google.rpc.ErrorInfo"):
			d.Reason = text(o["reason"])
		case strings.HasSuffix(kind, "google.rpc.RetryInfo"):
			d.After = wait(text(o["retryDelay"]))
		case strings.HasSuffix(kind, "google.rpc.QuotaFailure"):
			violations, _ := o["violations"].([]any)
			for _, v := range violations {
				limits++
				v, _ := v.(map[string]any)
				d.Final = d.Final || strings.Contains(text(v["quotaId"]), "PerDay") || text(v["quotaValue"]) == "0"
			}
		}
	}
	if status != "RESOURCE_EXHAUSTED" {
		return d
	}
	if d.After == 0 { // the details have been lost on the way
		d.After = told(message)
	}
	m := strings.ToLower(message)
	if strings.Contains(m, "limit: 0") || strings.Contains(m, "credits are depleted") || strings.Contains(m, "spending cap") ||
		strings.Contains(m, "exceeded your current quota") && d.After == 0 && limits == 0 {
		d.Final = true
	}
	return d
}

// wait reads a duration as 26s or 55.576865699s.
func wait(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0
	}
	return min(d, 1e6*time.Second)
}
