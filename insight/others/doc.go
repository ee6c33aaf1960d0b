// Package others reads what other programs have found in a plan or a configuration: SARIF of scanners such as Trivy and
// Checkov, and, of runs, the JSON of Infracost. What it reads is somebody else's: it is bounded, and what is no such
// file is an error and never a part of one.
package others
