// Package oidc verifies the JSON Web Tokens that stand for an organization in the place
// of a key: those that CI systems sign for their jobs.
//
// A rule of auth.cfg (keyring.TokenRule) says which tokens of which issuer are good, and for
// what. The issuer's public keys are found by OpenID Connect Discovery, fetched apart from
// the requests that wait for them, and cached within bounds, so that an issuer that is
// dead, slow or lying troubles its own tokens only.
package oidc
