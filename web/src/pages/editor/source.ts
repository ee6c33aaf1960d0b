import type { Repository } from '@/api/types'

/** Where a provider's pages show a folder at a commit, behind the repository's own page. */
const folders: Partial<Record<Repository['provider'], (commit: string, path: string) => string>> = {
  github: (commit, path) => `/tree/${commit}/${path}`,
  gitlab: (commit, path) => `/-/tree/${commit}/${path}`,
  gitea: (commit, path) => `/src/commit/${commit}/${path}`,
  forgejo: (commit, path) => `/src/commit/${commit}/${path}`,
  bitbucket: (commit, path) => `/src/${commit}/${path}`,
  azure: (commit, path) => `?version=GC${commit}&path=/${path}`,
}

/** sourceOf is the page at which a repository's provider shows a folder at a commit; undefined where none is known: only what is fetched by https says where that is. */
export function sourceOf(repository: Pick<Repository, 'url' | 'provider'> | undefined, commit: string, path: string): string | undefined {
  const folder = repository && folders[repository.provider]
  if (!folder || !/^https:\/\/[^@/]+\//.test(repository.url)) return undefined
  const segments = path === '.' ? [] : path.split('/')
  return repository.url.replace(/\/$/, '').replace(/\.git$/, '') + folder(commit, segments.map(encodeURIComponent).join('/'))
}
