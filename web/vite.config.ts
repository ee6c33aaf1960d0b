import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The server that `vite dev` asks; its page is served by Vite instead. */
const server = process.env.HOLDFAST_ADDRESS ?? 'http://127.0.0.1:7777'

/**
 * compileAll has browsers compile all of the first script beside the page's own thread, while it comes, instead of each function
 * there when it is first called. Who doesn't know the comment passes over it. It has to be the first line, and so comes last.
 */
const compileAll: Plugin = {
  name: 'compile-all',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk' && file.isEntry) file.code = `//# allFunctionsCalledOnLoad\n${file.code}`
      }
    },
  },
}

export default defineConfig({
  base: '/ui/',
  plugins: [react(), compileAll],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    // A folder of its own: Vite empties it, and web/dist has to be there for the program to build.
    outDir: 'dist/page',
    // Small files as data: addresses would need a wider content policy than the server's.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    target: 'es2023',
    rolldownOptions: {
      output: {
        // What every page needs comes in one piece: 6 KB less than two dozen small ones, and fewer requests.
        codeSplitting: { groups: [{ name: 'initial', tags: ['$initial'] }] },
      },
    },
  },
  server: { proxy: { '/api': server } },
})
