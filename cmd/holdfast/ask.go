package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/internal/printable"
)

// confirm asks whether to do what can't be undone, or what others will notice.
func (a *app) confirm(ctx context.Context, yes bool, question string) error {
	return a.confirmWith(ctx, yes, question, "yes")
}

// confirmWith is confirm for what somebody has to say with another word: the name of what goes.
func (a *app) confirmWith(ctx context.Context, yes bool, question, word string) error {
	if yes {
		return nil
	}
	if !a.interactive {
		return usagef("stdin is no terminal to ask on: confirm with --yes")
	}
	fmt.Fprintf(a.stderr, "%s Type %s: ", question, printable.Text(word))
	answer, err := a.readLine(ctx)
	if err != nil {
		return err
	}
	if answer != word {
		return errors.New("nothing was done")
	}
	return nil
}

// reason returns the one that was given, or asks for it.
func (a *app) reason(ctx context.Context, given string) (string, error) {
	if strings.TrimSpace(given) != "" {
		return given, nil
	}
	if a.interactive {
		fmt.Fprint(a.stderr, "Why? It is recorded: ")
		answer, err := a.readLine(ctx)
		if err != nil || answer != "" {
			return answer, err
		}
	}
	return "", usagef("say why, with --reason: it is recorded")
}

// readLine reads one line of stdin. It gives up when ctx ends: a signal doesn't interrupt
// the read itself.
func (a *app) readLine(ctx context.Context) (string, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.stdin)
	}
	lines := make(chan string, 1)
	go func() {
		text, _ := a.typed.ReadString('\n') // what was read of a last line counts
		lines <- strings.TrimSpace(text)
	}()
	select {
	case text := <-lines:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
