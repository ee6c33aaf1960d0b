import { expect, test } from 'vitest'
import { parseUnified, zipped } from './unified'

const text = `--- a/main.tf
+++ b/main.tf
@@ -1,3 +1,2 @@
 locals {
--- a/comment that looks like a file
-  b = 2
+  a = 1
--- /dev/null
+++ b/net/new.tf
@@ -0,0 +1,1 @@
+x
\\ No newline at end of file
--- a/gone.tf
+++ /dev/null
@@ -1 +0,0 @@
-y
mode of run.sh: 755, before 644
Files a/logo.png and b/logo.png differ, and are not compared line by line
`

test('files and their lines are read, whatever the lines look like', () => {
  const files = parseUnified(text)
  expect(files.map(({ path, how, note }) => [path, how, note])).toEqual([
    ['main.tf', 'modified', ''],
    ['net/new.tf', 'added', ''],
    ['gone.tf', 'removed', ''],
    ['logo.png', 'modified', 'The mode of run.sh: 755, before 644. No text, or too large to be compared line by line.'],
  ])
  expect(files[0]!.hunks[0]!.changes.map(({ type, content }) => `${type} ${content}`)).toEqual(['normal locals {', 'delete -- a/comment that looks like a file', 'delete   b = 2', 'insert   a = 1'])
  expect(files[1]!.hunks[0]!.changes).toEqual([{ type: 'insert', content: 'x', lineNumber: 1, isInsert: true }])
})

test('nothing differs in nothing, and a mode alone is a difference', () => {
  expect(parseUnified('')).toEqual([])
  expect(parseUnified('mode of run.sh: 755, before 644\n')).toEqual([{ path: 'run.sh', how: 'modified', hunks: [], note: 'The mode of run.sh: 755, before 644.' }])
})

test('side by side, lines that went stand beside those that came', () => {
  const [file] = parseUnified('--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-a\n-b\n+A\n+B\n+C\n same\n')
  expect(zipped(file!.hunks[0]!).changes.map(({ content }) => content)).toEqual(['a', 'A', 'b', 'B', 'C', 'same'])
})
