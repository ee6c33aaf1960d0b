// Package keyservice has services wrap master keys, over HTTP: Transit of HashiCorp Vault and OpenBao, and the key
// services of AWS, Google and Azure. Each is a few requests, so that none needs its maker's library. They are
// seal.Keeper.
package keyservice
