import { Link } from '@tanstack/react-router'
import type { Layer } from '@/api/types'
import { actorOf } from '@/pages/runs/RunTable'
import { Facts } from '@/ui/Facts'
import { Time } from '@/ui/Time'
import { checksOf, means, windowOf } from './settings'

/** Settings says where the layer's configuration comes from, and what is done by itself. */
export function Settings({ layer: { name, settings, updated_at: at, updated_by: by } }: { layer: Layer }) {
  const { repository, branch, path, triggers, remediation, max_changes: most, retries, windows, drift, ignore } = settings
  return (
    <>
      <Facts
        facts={[
          ['Repository', <Link to="/layers" search={{ tab: 'repositories' }}>{repository}</Link>],
          ['Branch', <code>{branch}</code>],
          ['Folder', <code>{path}</code>],
          ['Other paths', triggers?.map((pattern) => <code key={pattern}>{pattern} </code>)],
          ['Remediation', <><code>{remediation}</code>: {means[remediation]}</>],
          ['Applied by itself', remediation === 'auto' ? `at most ${String(most ?? 10)} changed resources` : undefined],
          ['Failures', `${String(retries ?? 5)} in a row are too many`],
          ['Checked for drift', checksOf(drift)],
          ['Windows', windows && <ul>{windows.map((window) => <li key={windowOf(window)}>{windowOf(window)}</li>)}</ul>],
          ['Ignored drift', ignore && <ul>{ignore.map((rule) => <li key={`${rule.address} ${rule.attribute}`}><code>{rule.address} {rule.attribute}</code></li>)}</ul>],
          ['Set', <><Time at={at} /> by {actorOf(by)}</>],
        ]}
      />
      <p className="muted"><code>holdfast layer set {name}</code> changes them.</p>
    </>
  )
}
