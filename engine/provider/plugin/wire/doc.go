// Package wire is the form that the engine and providers speak to each other in, generated from
// provider.proto.
//
//	protoc --go_out=. --go_opt=paths=source_relative provider.proto
package wire
