import { defineConfig } from 'vitest/config'

// Tests in a real browser against a real server; scripts/browser.sh starts them.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['browser/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Each file has a server and a browser of its own: one after another is enough for two cores.
    fileParallelism: false,
  },
})
