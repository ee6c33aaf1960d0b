// Puts beside each text file of a folder what it is in gzip and in brotli, for a server that sends
// these as they are: node scripts/compress.mjs web/dist/page
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const texts = /\.(html|js|css|json|map|svg|txt|ttf|wasm|webmanifest)$/
const worth = 1024 // below it, headers weigh more

for (const entry of readdirSync(process.argv[2], { recursive: true, withFileTypes: true })) {
  const name = join(entry.parentPath ?? entry.path, entry.name)
  if (!entry.isFile() || !texts.test(name)) continue
  const plain = readFileSync(name)
  const forms = {
    '.gz': gzipSync(plain, { level: 9 }),
    '.br': brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }),
  }
  for (const [extension, packed] of Object.entries(forms)) {
    if (plain.length >= worth && packed.length < plain.length) writeFileSync(name + extension, packed)
    else rmSync(name + extension, { force: true })
  }
}
