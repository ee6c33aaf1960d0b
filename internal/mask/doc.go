// Package mask keeps secrets out of logs: it replaces each occurrence of each, as it is or in
// one of the usual encodings, by three stars.
//
// What is masked of a secret:
//
//   - the secret, also without the white space around it, and with either kind of line end,
//   - its base64, with both alphabets, padded or not, wherever it begins in what was encoded,
//     and in lines of 64 or 76 characters,
//   - the secret escaped for URLs, JSON and HCL, and quoted as Go does,
//   - its hexadecimal digits,
//   - each line of it that has at least 8 characters, escaped too.
//
// Where something else comes before the secret in what was encoded as base64, or behind it,
// one character at each end has bits of both. It stays; it tells at most four bits.
//
// Occurrences that overlap or touch become one mask. A secret of less than 3 characters is not
// masked: it would tear up any text.
package mask
