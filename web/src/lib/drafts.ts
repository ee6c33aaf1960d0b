/** Draft is a text that is saved nowhere yet, and the digest of what it builds on; null for no file. */
export interface Draft {
  text: string
  base: string | null
}

/** Keeper keeps the drafts of one workspace, by path. */
export interface Keeper {
  all: () => Map<string, Draft>
  keep: (path: string, draft: Draft) => void
  drop: (path: string) => void
}

const prefix = 'holdfast.draft'

/** Most characters of all drafts; what is above them, the oldest first, makes room. */
const most = 2_000_000

/**
 * Drafts outlive a session that ends, the way to an issuer and back, and a reload: what was typed is there
 * again when the same one signs in. They are those of one tab, and gone with it. Each is kept under who has
 * typed it, so that nobody else is shown it.
 */
export class Drafts {
  constructor(
    private readonly storage: Storage | undefined,
    private readonly limit = most,
  ) {}

  /** of is the drafts that somebody has of a workspace. */
  of(holder: string, workspace: string): Keeper {
    const begin = beginOf(holder, workspace)
    return {
      all: () => new Map(this.names(begin).map((name) => [decodeURIComponent(name.slice(begin.length)), this.read(name)!])),
      keep: (path, draft) => { this.write(begin + encodeURIComponent(path), draft) },
      drop: (path) => { this.storage?.removeItem(begin + encodeURIComponent(path)) },
    }
  }

  /** count says how many somebody has, in all workspaces. */
  count(holder: string): number {
    return this.names(beginOf(holder)).length
  }

  /** forget drops all that somebody has. */
  forget(holder: string): void {
    for (const name of this.names(beginOf(holder))) this.storage?.removeItem(name)
  }

  private names(begin: string): string[] {
    const { storage } = this
    if (!storage) return []
    const all = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '')
    return all.filter((name) => name.startsWith(begin) && this.read(name) !== undefined)
  }

  private read(name: string): (Draft & { at: number }) | undefined {
    try {
      const { text, base, at } = JSON.parse(this.storage?.getItem(name) ?? '') as Draft & { at: unknown }
      if (typeof text !== 'string' || (base !== null && typeof base !== 'string')) return undefined
      return { text, base, at: Number(at) }
    } catch {
      return undefined
    }
  }

  private write(name: string, draft: Draft): void {
    const { storage } = this
    if (!storage) return
    const kept = JSON.stringify({ ...draft, at: Date.now() })
    const others = this.names(prefix).filter((other) => other !== name)
    others.sort((one, other) => this.read(one)!.at - this.read(other)!.at)
    let held = others.reduce((sum, other) => sum + storage.getItem(other)!.length, 0)
    while (others.length > 0 && held + kept.length > this.limit) {
      const oldest = others.shift()!
      held -= storage.getItem(oldest)!.length
      storage.removeItem(oldest)
    }
    try {
      storage.setItem(name, kept)
    } catch {
      // There is no room: an older text of it would be worse than none.
      storage.removeItem(name)
    }
  }
}

/** beginOf is how the names of somebody's drafts begin. */
function beginOf(...parts: string[]): string {
  return [prefix, ...parts.map(encodeURIComponent), ''].join('/')
}

/** drafts is those of this tab. */
export const drafts = new Drafts(typeof sessionStorage === 'undefined' ? undefined : sessionStorage)
