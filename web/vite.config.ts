import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The server that `vite dev` asks; its page is served by Vite instead. */
const server = process.env.HOLDFAST_ADDRESS ?? 'http://127.0.0.1:7777'

const always = /node_modules\/(react|react-dom|scheduler|use-sync-external-store|openapi-fetch|@tanstack\/(react-router|router-core|history|store|react-store|react-query|query-core))\//

export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    // A folder of its own: Vite empties it, and web/dist has to be there for the program to build.
    outDir: 'dist/page',
    // Small files as data: addresses would need a wider content policy than the server's.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    target: 'es2023',
    // What every page needs comes in one piece: 6 KB less than two dozen small ones, and fewer requests.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'always', test: always }] } } },
  },
  server: { proxy: { '/api': server } },
})
