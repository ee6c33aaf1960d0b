package main

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// painter colours a text for where it is shown; see app.paint.
type painter func(code, text string) string

// projectFile is a file of a project, here, at the server, or on both sides.
type projectFile struct {
	name string
	how  change
}

// fileGap is what stands between the longest name of a list of files and what is said of it.
const fileGap = 4

// warning begins what people should look at before they go on.
const warning = "⚠ "

// syncText lists what becomes of each file as a project is synced.
func syncText(files []projectFile, paint painter) string {
	return fileList("Syncing files...", files, func(f projectFile) (text, colour string) {
		switch f.how {
		case modified:
			return "modified (uploading)", ""
		case added:
			return "new (uploading)", ""
		case onlyThere:
			return onlyInCloud, yellow
		}
		return "unchanged (skipping)", ""
	}, paint)
}

// pullText lists what becomes of each file as a project is pulled.
func pullText(files []projectFile, paint painter) string {
	return fileList("Pulling files...", files, func(f projectFile) (text, colour string) {
		switch f.how {
		case modified:
			return "modified (overwriting)", ""
		case onlyThere:
			return "new (downloading)", ""
		case added:
			return onlyLocal, yellow
		}
		return "unchanged (skipping)", ""
	}, paint)
}

const (
	onlyInCloud = "exists in cloud but not locally"
	onlyLocal   = "exists locally but not in cloud"
)

// fileList is a heading and a line for each file; what has a colour is a warning.
func fileList(heading string, files []projectFile, say func(projectFile) (text, colour string), paint painter) string {
	names, width := make([]string, len(files)), 0
	for i, f := range files {
		names[i] = printable.Text(f.name)
		if _, colour := say(f); colour != "" {
			names[i] = warning + names[i]
		}
		width = max(width, shownWidth(names[i]))
	}
	var text strings.Builder
	text.WriteString(heading + "\n")
	for i, f := range files {
		says, colour := say(f)
		line := pad(names[i], width+fileGap) + says
		if colour != "" {
			line = paint(colour, line)
		}
		text.WriteString("  " + line + "\n")
	}
	return text.String()
}

// countFiles returns how many of the files are in one of these ways.
func countFiles(files []projectFile, ways ...change) (n int) {
	for _, f := range files {
		for _, how := range ways {
			if f.how == how {
				n++
			}
		}
	}
	return n
}

// compareText says in a line how the files here differ from those at the server.
func compareText(files []projectFile) string {
	return fmt.Sprintf("%s to upload, %s only in cloud, %s unchanged\n",
		counted(int64(countFiles(files, modified, added)), "file"),
		counted(int64(countFiles(files, onlyThere)), "file"), counted(int64(countFiles(files, unchanged)), "file"))
}

// uploadedText is the line that ends a sync.
func uploadedText(files []projectFile) string {
	text := fmt.Sprintf("Uploaded %s, skipped %d", counted(int64(countFiles(files, modified, added)), "file"),
		countFiles(files, unchanged))
	if n := countFiles(files, onlyThere); n > 0 {
		text += ", " + counted(int64(n), "cloud-only file")
	}
	return text + ".\n"
}

// downloadedText is the line that ends a pull.
func downloadedText(files []projectFile) string {
	text := fmt.Sprintf("Downloaded %s, skipped %d", counted(int64(countFiles(files, modified, onlyThere)), "file"),
		countFiles(files, unchanged))
	if n := countFiles(files, added); n > 0 {
		text += ", " + counted(int64(n), "local-only file")
	}
	return text + ".\n"
}

// onlyThereText warns of each file that a run uses and the folder does not have, and says what
// to do about it. Without such files it is empty.
func onlyThereText(files []projectFile, program string, paint painter) string {
	var text strings.Builder
	for _, f := range files {
		if f.how == onlyThere {
			text.WriteString(paint(yellow, warning+printable.Text(f.name)+" "+onlyInCloud) + "\n")
		}
	}
	if text.Len() > 0 {
		fmt.Fprintf(&text, "  Use '%s pull' to download cloud files\n", program)
	}
	return text.String()
}

// The lines between a sync and the log of a run, and the question before an apply.
const (
	runningPlan   = "Running plan...\n"
	runningApply  = "Running apply...\n"
	applyQuestion = "Continue with apply? [y/N]: "
)

// appliedText is the line that ends an apply.
func appliedText(n api.ProjectCounts) string {
	return fmt.Sprintf("Apply complete. %d added, %d changed, %d destroyed.\n", n.Added, n.Changed, n.Destroyed)
}

// agrees reports whether an answer to a question with [y/N] is a yes. Anything else is a no.
func agrees(answer string) bool { return answer == "y" }
