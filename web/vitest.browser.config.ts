import { defineConfig } from 'vitest/config'

// Tests in a real browser against a real server; scripts/browser.sh starts them.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['browser/**/*.test.ts'],
    // Far beyond what any takes: a busy machine is no failure.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Each file has a server and a browser of its own: one after another is enough for two cores.
    fileParallelism: false,
  },
})
