// Package local starts servers as processes of this machine, and reads what they use of
// it. Figures come from Linux's /proc and /sys; elsewhere there are none.
package local
