package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files that a process is given that becomes a command.
const (
	OrderFD  = 3 // the order, to its end
	AnswerFD = 4 // where the answer goes; closed by the exec itself
)

// Enter reads an order, restricts this process as it says, and becomes the command. It returns
// an error only where it could not; whoever gave the order knows it from the answer.
func Enter() error {
	// A signal that was ignored by our parents would stay so for the command: one that is
	// handled is back at its default after the exec.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
		syscall.SIGPIPE)
	for fd := OrderFD; fd <= programFD; fd++ {
		unix.CloseOnExec(fd)
	}
	orders, answers := os.NewFile(OrderFD, "order"), os.NewFile(AnswerFD, "answer")
	order, err := readOrder(orders)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	report := order.Begun
	if err = enter(order, &report); err == nil {
		err = execute(order, report, answers)
	}
	_, tooWeak := errors.AsType[*TooWeakError](err)
	_ = json.NewEncoder(answers).Encode(Answer{Report: report, Error: err.Error(), TooWeak: tooWeak})
	return err
}

func readOrder(from io.Reader) (Order, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return Order{}, err
	}
	var order Order
	if err := json.Unmarshal(text, &order); err != nil {
		return Order{}, errors.New("there is no whole order: whoever gave it is gone")
	}
	return order, nil
}

func enter(order Order, report *Report) error {
	if err := order.Policy.Validate(); err != nil {
		return err
	}
	if err := applyLimits(order.Limits, report); err != nil {
		return err
	}
	if order.Policy.Open {
		report.because("the command is left out of the sandbox by its settings")
	} else if err := restrict(order.Policy, report); err != nil {
		return err
	}
	report.settle()
	if err := dropPrivileges(order.Policy.User, report); err != nil {
		return err
	}
	if !order.Policy.Open {
		if err := filterCalls(report); err != nil {
			return err
		}
	}
	return judge(order.Policy, *report)
}

// judge refuses what is weaker than the policy wants.
func judge(p Policy, r Report) error {
	if r.Level < p.MinLevel || p.Network.RequireClosed && !r.Closed {
		return &TooWeakError{Want: p.MinLevel, Closed: p.Network.RequireClosed, Report: r}
	}
	return nil
}

// execute becomes the command; the answer is out before.
func execute(order Order, report Report, answers io.Writer) error {
	if !filepath.IsAbs(order.Command) {
		return fmt.Errorf("the command %q has no absolute path", order.Command)
	}
	if err := os.Chdir(order.WorkDir); err != nil {
		return fmt.Errorf("can't go to the command's folder: %w", err)
	}
	if err := json.NewEncoder(answers).Encode(Answer{Report: report}); err != nil {
		return err
	}
	argv := append([]string{order.Command}, order.Args...)
	err := syscall.Exec(order.Command, argv, order.Env)
	return fmt.Errorf("can't execute %s: %w", order.Command, err)
}
