// Package mask keeps secrets out of logs: it replaces each occurrence of each, as it is or in
// one of the usual encodings, by three stars.
//
// What is masked of a secret:
//
//   - the secret, also without the white space around it, and with either kind of line end,
//   - its base64, with both alphabets, padded or not, wherever it begins in what was encoded,
//     and in lines of 64 or 76 characters,
//   - the secret escaped for JSON and HCL,
//   - the secret escaped for URLs, for JSON in JSON or in ASCII, and quoted as Go does, unless it
//     has more than 8 KiB,
//   - its hexadecimal digits,
//   - each line of it that has at least 8 characters, escaped for JSON and HCL too.
//
// Where something else comes before the secret in what was encoded as base64, or behind it,
// one character at each end has bits of both. It stays; it tells at most four bits.
//
// A Masker takes about 1 KiB of memory for each byte of its secrets, and several of those that
// are no text, so whoever gives it secrets bounds them. A stream takes no more than the longest of what is masked.
//
// [Masker.Cover] keeps the length of a text instead, for those in which bytes have offsets: it puts
// a star for each byte of a secret.
//
// Escape sequences of terminals in a secret, such as those by which grep colours what it has found, don't
// hide it: it is looked for in the text as it comes and in the text without them, also where JSON has
// escaped them.
//
// Occurrences that overlap or touch become one mask. A secret of less than 3 characters is not
// masked: it would tear up any text.
package mask
