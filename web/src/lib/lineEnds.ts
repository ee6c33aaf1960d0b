const mark = '\uFEFF'

/** oneEnd is a text with one kind of line end and without the mark that some tools begin files with. */
function oneEnd(text: string): string {
  return (text.startsWith(mark) ? text.slice(1) : text).replace(/\r\n?/g, '\n')
}

/**
 * isSameText says that two texts differ in nothing that an editor shows. Monaco gives a text line ends of
 * one kind as it reads it: that alone is no change that somebody has made.
 */
export function isSameText(one: string, other: string): boolean {
  return one === other || oneEnd(one) === oneEnd(other)
}
