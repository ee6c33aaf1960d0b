// Package sample makes what clients send: states of version 4 and uploads, of a chosen
// size, with the attributes that cloud providers write, and changing a little from one
// write to the next. The same seed makes the same bytes, on every machine.
package sample
